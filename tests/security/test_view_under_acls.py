"""``caesura view`` under Kafka's ACLs: it shows what its user may read, no more, and needs and leaves no group."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer
from confluent_kafka.admin import AclBinding, AclBindingFilter, AclOperation, AclPermissionType
from confluent_kafka.admin import ResourcePatternType as Pattern
from confluent_kafka.admin import ResourceType as Kind

from caesura.schemas.codec import encode_event, encode_segment
from caesura.schemas.segments import Cause, Segment, SegmentWord, Source, Timing
from caesura.schemas.versions import SEGMENT_VERSION
from caesura.worker.errors import FatalError
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.service.watch.watch_service import readable_topics
from caesura.worker.settings.serving import ServeSettings
from caesura.worker.settings.tree import BrokerSettings
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.secured_parts import SecuredKafka
from tests.harness.speech import event
from tests.harness.waiting import comes, wait_until
from tests.harness.watching import ANSWER_WITHIN_S, messages, watching

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(400)]
USER = "watcher"


@pytest.fixture
def settings(guarded_kafka: SecuredKafka, deployment: str) -> BrokerSettings:
    worker = RuntimeSettings(input_topic=f"{deployment}.words", segment_topic=f"{deployment}.segments")
    guarded_kafka.plain.create_topics_named({worker.input_topic: {}, worker.segment_topic: {}}, 2)
    guarded_kafka.add_user(USER)
    kafka = guarded_kafka.settings(USER)
    kafka = replace(kafka, group_id=f"{deployment}-watcher", request_timeout_ms=10_000)
    return BrokerSettings(worker=worker, kafka=kafka, serve=ServeSettings(port=0))


def may_read(kafka: Kafka, *topics: str) -> None:
    """Let the user read these topics, and nothing else of any kind; wait until the broker knows."""
    anything: Any = None
    of_user = (Kind.ANY, anything, Pattern.ANY, f"User:{USER}", anything, AclOperation.ANY, AclPermissionType.ANY)
    everything = AclBindingFilter(*of_user)
    for future in kafka.admin.delete_acls([everything]).values():
        future.result(30)
    wanted = [
        AclBinding(Kind.TOPIC, topic, Pattern.LITERAL, f"User:{USER}", "*", operation, AclPermissionType.ALLOW)
        for topic in topics
        for operation in (AclOperation.READ, AclOperation.DESCRIBE)
    ]
    for made in kafka.admin.create_acls(wanted).values() if wanted else ():
        made.result(30)
    wait_until(
        lambda: len(kafka.admin.describe_acls(everything).result(30)) == len(wanted),
        "the broker does not take the ACLs",
        within_s=60,
    )


def frozen(session: str, *words: str) -> bytes:
    said = tuple(SegmentWord(text=word, punctuation="none", disfluency="O") for word in words)
    return encode_segment(
        Segment(
            version=SEGMENT_VERSION,
            session=session,
            since=0,
            index=0,
            first_word=0,
            sentence=0,
            sentence_start=True,
            sentence_end=False,
            cause=Cause.END,
            lang="en",
            words=said,
            source=Source(topic="words", partition=0, first_offset=0, last_offset=0),
            timing=Timing(appended_ms=0, polled_ms=0, frozen_ms=0),
            session_end=True,
        )
    )


def shown(settings: BrokerSettings, kafka: Kafka) -> list[dict[str, Any]]:
    """Send words to the one topic and then a segment to the other; return what a page is told of them."""
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    told: list[dict[str, Any]] = []
    with watching(settings) as address:
        page = threading.Thread(target=lambda: messages(address, lambda one: one["type"] == "segment", told))
        page.start()
        wait_until(lambda: told, "the page is told nothing", within_s=ANSWER_WITHIN_S)
        producer.produce(settings.worker.input_topic, encode_event(event("ann", 0, "not", "yet")), b"ann", 0)
        assert producer.flush(30) == 0
        comes(lambda: words(told, "tentative"), within_s=4)  # never, where the words are closed
        producer.produce(settings.worker.segment_topic, frozen("ann", "for", "all"), b"ann", 0)
        assert producer.flush(30) == 0
        page.join(ANSWER_WITHIN_S)
    return told


def words(told: list[dict[str, Any]], kind: str) -> list[str]:
    return [word["text"] for one in told for word in one.get(kind, {}).get("words", ())]


def test_view_without_access_to_words_shows_segments_only(
    guarded_kafka: SecuredKafka, settings: BrokerSettings
) -> None:
    kafka, worker = guarded_kafka.plain, settings.worker
    may_read(kafka, worker.segment_topic)
    assert readable_topics(settings).words is None
    told = shown(settings, kafka)
    assert words(told, "segment") == ["for", "all"]
    assert words(told, "tentative") == []

    may_read(kafka, worker.segment_topic, worker.input_topic)
    assert readable_topics(settings).words == worker.input_topic
    told = shown(settings, kafka)
    assert words(told, "tentative")[:2] == ["not", "yet"]

    group = settings.kafka.group_id
    assert group not in {one.group_id for one in kafka.admin.list_consumer_groups().result().valid}
    (asked,) = kafka.admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]).values()
    assert not [one for one in asked.result().topic_partitions if one.offset >= 0]


def test_view_without_access_to_segments_is_refused(guarded_kafka: SecuredKafka, settings: BrokerSettings) -> None:
    may_read(guarded_kafka.plain, settings.worker.input_topic)
    with pytest.raises(FatalError, match=settings.worker.segment_topic):
        readable_topics(settings)
