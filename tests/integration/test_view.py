"""``caesura view`` on a real Kafka: grey words, then segments; no group, no offsets; who comes late is told too."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer
from websockets.sync.client import connect

from caesura.schemas.codec import encode_segment, encode_tentative
from caesura.schemas.dead_letters import DeadLetterHeader
from caesura.schemas.segments import ModelRef, SegmentWord
from caesura.schemas.tentative import Tentative
from caesura.schemas.versions import TENTATIVE_VERSION
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.tentative_publisher import KafkaTentativePublisher
from caesura.worker.errors import FatalError
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.service.watch.watch_service import readable_topics
from caesura.worker.settings.serving import ServeSettings
from caesura.worker.settings.tree import BrokerSettings
from tests.harness.command import left_running, web_demo
from tests.harness.parts.chromium import chromium, find_chromium
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.lookup import missing
from tests.harness.real_world import RealWorld
from tests.harness.speech import event
from tests.harness.terminal import HOSTILE, MOVES, hostile_segment, in_a_terminal
from tests.harness.waiting import comes, wait_until
from tests.harness.watching import ANSWER_WITHIN_S, messages, watching


def settings_of(world: RealWorld) -> BrokerSettings:
    return BrokerSettings(
        worker=RuntimeSettings(input_topic=world.words_topic, segment_topic=world.segments_topic),
        kafka=KafkaSettings(bootstrap_servers=world.kafka.bootstrap, group_id=f"{world.deployment}-watcher"),
        serve=ServeSettings(port=0),
    )


def test_words_are_shown_before_and_after_they_freeze_without_a_group(
    kafka: Kafka, redis_url: str, deployment: str
) -> None:
    world = RealWorld(kafka, redis_url, deployment)
    settings = settings_of(world)
    with watching(settings) as address:
        first: list[dict[str, Any]] = []
        page = threading.Thread(
            target=lambda: messages(address, lambda one: bool(one.get("segment", {}).get("session_end")), first)
        )
        page.start()
        wait_until(lambda: first, "the page is told nothing", within_s=ANSWER_WITHIN_S)
        world.send(event("ann", 0, "good", "morning"))
        wait_until(lambda: len(first) > 1, "words are not shown", within_s=ANSWER_WITHIN_S)
        world.send(event("ann", 1, "everybody", session_end=True))
        worker = world.worker()
        worker.turn_until(lambda: any(one.session_end for one in world.segments()))
        worker.worker.drain()
        page.join(ANSWER_WITHIN_S)
        late = messages(address, lambda one: one["type"] == "segment")

    grey = [[word["text"] for word in one["tentative"]["words"]] for one in first if one["type"] == "tentative"]
    frozen = [word["text"] for one in first if one["type"] == "segment" for word in one["segment"]["words"]]
    assert first[0]["type"] == "ready"
    assert ["good", "morning"] in grey
    assert frozen == ["good", "morning", "everybody"]
    assert late[-1]["segment"]["session"] == "ann"
    group = f"{deployment}-watcher"
    listed = kafka.admin.list_consumer_groups().result()
    assert group not in {one.group_id for one in listed.valid}
    (asked,) = kafka.admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]).values()
    assert not [one for one in asked.result().topic_partitions if one.offset >= 0]


def test_labels_of_unfrozen_words_are_shown_where_the_cluster_has_them(
    kafka: Kafka, redis_url: str, deployment: str
) -> None:
    world = RealWorld(kafka, redis_url, deployment)
    topic = f"{deployment}.tentative"
    kafka.create_topics_named({topic: {}}, world.partitions)
    settings = settings_of(world)
    settings = replace(settings, worker=replace(settings.worker, tentative_topic=topic))
    assert readable_topics(settings).tentative == topic
    look = Tentative(
        version=TENTATIVE_VERSION,
        revisable=True,
        session="ann",
        since=0,
        first_word=0,
        sentence_start=True,
        lang="en",
        words=(SegmentWord(text="uh", punctuation="comma", disfluency="B-IM"),),
        labelled_words=1,
        through_offset=0,
        at_ms=0,
        model=ModelRef(id="en", version="1"),
    )
    with watching(settings) as address, connect(address, proxy=None) as page:
        page.send("{}")
        assert json.loads(page.recv(timeout=ANSWER_WITHIN_S))["type"] == "ready"
        publisher = KafkaTentativePublisher(settings.kafka, topic)
        publisher.offer(world.partition_of("ann"), b"ann", encode_tentative(look))
        shown = json.loads(page.recv(timeout=ANSWER_WITHIN_S))
        publisher.close()
    assert shown["marked"] == "{Uh},"


def hostile_topics(world: RealWorld, dead: str) -> dict[str, str]:
    """Write hostile segments, words and dead letters; return what makes a command read them."""
    producer = Producer({"bootstrap.servers": world.kafka.bootstrap})
    spoken = {"version": "1.0", "session": HOSTILE, "speaker": HOSTILE, "seq": 0, "lang": "en", "words": [HOSTILE]}
    headers: list[tuple[str, str | bytes | None]] = [(name.value, HOSTILE.encode()) for name in DeadLetterHeader]
    for topic, value in (
        (world.segments_topic, encode_segment(hostile_segment())),
        (world.segments_topic, HOSTILE.encode()),
        (world.words_topic, json.dumps(spoken).encode()),
        (dead, HOSTILE.encode()),
    ):
        producer.produce(topic, value, HOSTILE.encode(), 0, headers=headers)
    assert producer.flush(60) == 0
    return {
        "CAESURA_KAFKA_BOOTSTRAP_SERVERS": world.kafka.bootstrap,
        "CAESURA_WORKER_INPUT_TOPIC": world.words_topic,
        "CAESURA_WORKER_SEGMENT_TOPIC": world.segments_topic,
        "CAESURA_WORKER_DEAD_LETTER_TOPIC": dead,
    }


@pytest.mark.timeout(240)
def test_hostile_names_in_live_topics_reach_no_terminal(kafka: Kafka, redis_url: str, deployment: str) -> None:
    world = RealWorld(kafka, redis_url, deployment)
    dead = world.dead_topic
    variables = hostile_topics(world, dead)
    watched: list[dict[str, Any]] = []

    def has_watched(told: str) -> bool:
        """Watch as a page does, once the address is told; the command is let go then."""
        address = re.search(r"on http(://\S+/)\r?\n", told)
        if address is not None:
            watched.extend(messages(f"ws{address[1]}v1/watch", lambda one: one["type"] == "segment"))
        return address is not None

    ran: list[tuple[tuple[str, ...], Callable[[str], bool] | None]] = [
        (("view", "--from-start", "--port", "0"), has_watched),
        (("tail", "--from-start"), lambda shown: "all is well" in shown),
        (("tail", "--from-start", "--no-follow", "--conversation", HOSTILE), None),
        (("dead-letters", "list"), None),
        (("dead-letters", "show", "0:0", "--content"), None),
    ]
    told = [in_a_terminal(*arguments, until=until, **variables) for arguments, until in ran]
    (segment,) = (one["segment"] for one in watched if one["type"] == "segment")
    assert segment["session"] == HOSTILE, "a page gets it as JSON, as it was said"
    for written in told:
        assert written.strip()
        assert "Traceback" not in written
        assert not MOVES.search(written.replace("\r\n", "\n"))
        assert not [line for line in written.splitlines() if line.startswith("reason:            all is well")]


def test_a_topic_that_is_not_there_is_said(kafka: Kafka, redis_url: str, deployment: str) -> None:
    world = RealWorld(kafka, redis_url, deployment)
    settings = settings_of(world)
    without_words = BrokerSettings(
        worker=RuntimeSettings(input_topic=f"{deployment}.nothing", segment_topic=world.segments_topic),
        kafka=settings.kafka,
        serve=settings.serve,
    )
    assert readable_topics(without_words).words is None
    nothing = BrokerSettings(
        worker=RuntimeSettings(segment_topic=f"{deployment}.nothing"), kafka=settings.kafka, serve=settings.serve
    )
    with pytest.raises(FatalError, match="nothing"):
        readable_topics(nothing)


@pytest.mark.timeout(180)
def test_the_demos_words_freeze_on_a_page_and_a_stop_leaves_nothing_behind(tmp_path: Path) -> None:
    path = find_chromium()
    if path is None:
        missing("no Chromium on the PATH to open the page in (Debian: apt-get install chromium)")
    with web_demo(tmp_path) as (demo, address):
        told = messages(f"ws{address.removeprefix('http')}v1/watch", lambda one: one["type"] == "segment")
        with chromium(path) as browser, browser.page() as page:
            page.open(address)
            page.wait_for("document.querySelectorAll('main .w.frozen').length", 60)
            assert page.value("document.getElementById('speak').hidden")
            assert page.value("getComputedStyle(document.getElementById('speak')).display") == "none"
            assert page.value("document.getElementById('state').classList.contains('on')")
            page.wait_for("document.querySelectorAll('#log p').length", 60)
            assert page.value("document.querySelectorAll('article h2').length") > 0
            assert page.complaints == []
        demo.terminate()
        _, errors = demo.communicate(timeout=120)
    assert told[-1]["text"] == "Good morning, everybody."
    assert (demo.returncode, "Traceback" in errors) == (0, False), errors
    assert comes(lambda: left_running(tmp_path) == [], within_s=60), left_running(tmp_path)
