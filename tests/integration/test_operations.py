"""The runbook's sections, rehearsed on a real Kafka and Redis with the blocks that stand in docs/operations.md."""

from __future__ import annotations

import json
import shutil
from itertools import count
from pathlib import Path

import pytest
from confluent_kafka.cimpl import NewPartitions

from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.embedded.embedded_redis import EmbeddedRedis, find_redis_server
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.lookup import missing
from tests.harness.places import SHIPPED
from tests.harness.rehearsal import Rehearsal, RunningWorker
from tests.harness.speech import event
from tests.harness.waiting import wait_until
from tests.integration.sessions import events, stored, wait_for_ends, whole, words_by_session

pytestmark = pytest.mark.timeout(300)
_ENGLISH = SHIPPED / "en"


def two_versions(folder: Path, *, active: str) -> Path:
    """Make a models folder with the shipped model under two versions, one of them active."""
    for version in ("1.0.0", "2.0.0"):
        made = folder / f"en-{version}"
        shutil.copytree(_ENGLISH, made)
        manifest = json.loads((made / "manifest.json").read_text())
        manifest |= {"version": version, "active": version == active}
        (made / "manifest.json").write_text(json.dumps(manifest))
    return folder


def test_the_first_start_commands_make_topics_and_pass_the_check(rehearsal: Rehearsal) -> None:
    assert "made" in rehearsal.follow("Before the first start", 0)
    assert "BAD" not in rehearsal.follow("Before the first start", 1)


def test_a_model_is_upgraded_and_rolled_back_in_mid_stream(rehearsal: Rehearsal, tmp_path: Path) -> None:
    rehearsal.make_topics()
    old = {"CAESURA_WORKER_MODELS_DIR": str(two_versions(tmp_path / "old", active="1.0.0"))}
    new = {"CAESURA_WORKER_MODELS_DIR": str(two_versions(tmp_path / "new", active="2.0.0"))}
    sessions = [f"call-{number}" for number in range(6)]
    for phase, (first, last) in zip((old, new, old), ((0, 30), (30, 60), (60, 90)), strict=True):
        with rehearsal.worker(settings=phase) as worker:
            worker.wait_until_ready()
            rehearsal.say(*events(sessions, first=first, last=last, end=last == 90))
            rehearsal.say(*events([f"short-{last}"], first=0, last=20, end=True))
            wait_for_ends(rehearsal, {30: 1, 60: 2, 90: 3 + len(sessions)}[last], worker)
    segments = rehearsal.segments()
    spoken = words_by_session(segments)
    assert {session: spoken[session] for session in sessions} == whole(sessions, 90)
    began_under = {"short-30": "1.0.0", "short-60": "2.0.0", "short-90": "1.0.0"}
    labelled_by = {(one.session, one.model.version) for one in segments if one.model and one.session in began_under}
    assert labelled_by == set(began_under.items())


def test_replay_of_dead_letters(rehearsal: Rehearsal) -> None:
    rehearsal.make_topics()
    sessions = [f"call-{number}" for number in range(4)]
    # The producers choose by CRC32 and the deployment expects Java's way.
    rehearsal.say(*events(sessions, first=0, last=12, end=True), partitioner="consistent_random")
    with rehearsal.worker() as worker:
        worker.wait_until_ready()
        wait_until(lambda: len(worker.lines("dead_letter")) > 0, worker.tail)
        settled = words_by_session(rehearsal.segments())
        assert len(settled) < len(sessions)
        wait_until(lambda: _all_refused(rehearsal, worker, sessions), worker.tail)
        said = rehearsal.follow("Replay of dead letters")
        assert "wrong_partition" in said
        wait_for_ends(rehearsal, len(sessions), worker)
    assert words_by_session(rehearsal.segments()) == whole(sessions, 12)


def _all_refused(rehearsal: Rehearsal, worker: RunningWorker, sessions: list[str]) -> bool:
    """Tell whether every event was either applied or refused."""
    ended = sum(segment.session_end for segment in rehearsal.segments())
    return len(worker.lines("dead_letter")) == 13 * (len(sessions) - ended)


def test_blue_green_labels_the_same_input_into_topics_of_its_own(rehearsal: Rehearsal, tmp_path: Path) -> None:
    rehearsal.make_topics()
    sessions = [f"call-{number}" for number in range(4)]
    with rehearsal.worker() as blue:
        blue.wait_until_ready()
        rehearsal.say(*events(sessions, first=0, last=20))
        rehearsal.follow("Blue-green")
        green = Rehearsal(rehearsal.kafka, rehearsal.redis_url, rehearsal.deployment, tmp_path / "green")
        green.changes = {
            "CAESURA_WORKER_DEPLOYMENT": f"{rehearsal.deployment}-green",
            "CAESURA_WORKER_SEGMENT_TOPIC": rehearsal.topic("asr.segments.green"),
            "CAESURA_WORKER_DEAD_LETTER_TOPIC": rehearsal.topic("asr.words.dead.green"),
        }
        with green.worker() as other:
            other.wait_until_ready()
            rehearsal.say(*events(sessions, first=20, last=40, end=True))
            wait_for_ends(rehearsal, len(sessions), blue)
            wait_for_ends(rehearsal, len(sessions), other, "asr.segments.green")
    assert words_by_session(rehearsal.segments()) == whole(sessions, 40)
    assert words_by_session(rehearsal.segments("asr.segments.green")) == whole(sessions, 40)


def test_a_grown_topic_parks_and_a_second_deployment_takes_new_sessions(rehearsal: Rehearsal, tmp_path: Path) -> None:
    rehearsal.make_topics()
    with rehearsal.worker() as worker:
        worker.wait_until_ready()
        rehearsal.say(*events(["old"], first=0, last=12, end=True))
        wait_for_ends(rehearsal, 1, worker)
        grown = rehearsal.kafka.admin.create_partitions([NewPartitions(rehearsal.topic("asr.words"), 24)])
        for future in grown.values():
            future.result(30)
        wait_until(
            lambda: any("partition_count_changed" in reason for reason in worker.reasons() or []),
            lambda: f"{worker.reasons()}",
        )
        worker.process.kill()  # drained or not: the second deployment has topics of its own
    rehearsal.follow("More partitions")
    second = Rehearsal(rehearsal.kafka, rehearsal.redis_url, rehearsal.deployment, tmp_path / "second")
    second.changes = {
        "CAESURA_WORKER_DEPLOYMENT": f"{rehearsal.deployment}-speech2",
        "CAESURA_WORKER_INPUT_TOPIC": rehearsal.topic("asr.words.2"),
        "CAESURA_WORKER_SEGMENT_TOPIC": rehearsal.topic("asr.segments.2"),
        "CAESURA_WORKER_DEAD_LETTER_TOPIC": rehearsal.topic("asr.words.dead.2"),
    }
    with second.worker() as other:
        other.wait_until_ready()
        second.say(*events(["new"], first=0, last=12, end=True))
        wait_for_ends(second, 1, other, "asr.segments.2")
    assert words_by_session(second.segments("asr.segments.2")) == whole(["new"], 12)


def test_workers_restarted_on_another_redis_lose_no_word(kafka: Kafka, deployment: str, tmp_path: Path) -> None:
    if find_redis_server() is None:
        missing("no redis-server on this machine to start two of")
    sessions = [f"call-{number}" for number in range(6)]
    with EmbeddedRedis() as here, EmbeddedRedis() as there:
        rehearsal = Rehearsal(kafka, here.url, deployment, tmp_path)
        rehearsal.make_topics()
        with rehearsal.worker() as worker:
            worker.wait_until_ready()
            rehearsal.say(*events(sessions, first=0, last=20))
            wait_until(lambda: bool(worker.lines("checkpoint")), worker.tail)
        rehearsal.redis_url = there.url
        with rehearsal.worker() as worker:
            worker.wait_until_ready()
            rehearsal.say(*events(sessions, first=20, last=40, end=True))
            wait_for_ends(rehearsal, len(sessions), worker)
            assert worker.lines("rebuilt")
    assert words_by_session(rehearsal.segments()) == whole(sessions, 40)


def test_erasing_a_session(rehearsal: Rehearsal) -> None:
    rehearsal.changes = {"CAESURA_DECODING_FORGET_AFTER_MS": "1000"}
    rehearsal.make_topics()
    said = "unmistakable"
    with rehearsal.worker() as worker:
        worker.wait_until_ready()
        rehearsal.say(event("call-17", 0, "it", "was", said), event("call-18", 0, "this", "stays"))
        wait_until(lambda: said.encode() in stored(rehearsal), lambda: "never stored")
        rehearsal.follow("Erasing a session")
        wait_until(lambda: said.encode() not in stored(rehearsal), lambda: "still stored")
        assert b"stays" in stored(rehearsal)
    assert words_by_session(rehearsal.segments())["call-17"] == ["it", "was", said]


_OF_THE_RUNBOOK = 7
"""The partition that the section's command names."""


def test_a_parked_partition_goes_on_when_its_cause_is_gone(rehearsal: Rehearsal) -> None:
    rehearsal.changes = {"CAESURA_WORKER_DEAD_LETTER_LIMIT": "3", "CAESURA_WORKER_DEAD_LETTER_WINDOW_S": "1"}
    rehearsal.make_topics()
    session = next(name for n in count() if murmur2_partition((name := f"call-{n}").encode(), 12) == _OF_THE_RUNBOOK)
    with rehearsal.worker() as worker:
        worker.wait_until_ready()
        rehearsal.send(*[(b"\xc1 rubbish", session.encode())] * 6)
        wait_until(lambda: bool(worker.lines("parked")), worker.tail)
        rehearsal.say(*events([session], first=0, last=12, end=True))
        assert worker.lines("parked")[0]["reason"] == "dead_letter_limit"
        wait_until(lambda: any("dead_letter_limit" in one for one in worker.reasons() or []), worker.tail)
        assert rehearsal.segments() == []
        listed = rehearsal.follow("A parked partition")
        assert "malformed" in listed
        wait_for_ends(rehearsal, 1, worker)
        wait_until(lambda: worker.reasons() == [], worker.tail)
    assert words_by_session(rehearsal.segments()) == whole([session], 12)


def test_relabelling_from_offset_0_uses_topics_of_its_own(rehearsal: Rehearsal, tmp_path: Path) -> None:
    rehearsal.make_topics()
    sessions = [f"call-{number}" for number in range(4)]
    with rehearsal.worker() as worker:
        worker.wait_until_ready()
        rehearsal.say(*events(sessions, first=0, last=40, end=True))
        wait_for_ends(rehearsal, len(sessions), worker)
    published = rehearsal.segments()
    rehearsal.follow("Re-labelling from offset 0")
    again = Rehearsal(rehearsal.kafka, rehearsal.redis_url, rehearsal.deployment, tmp_path / "again")
    again.changes = {
        "CAESURA_WORKER_DEPLOYMENT": f"{rehearsal.deployment}-again",
        "CAESURA_WORKER_SEGMENT_TOPIC": rehearsal.topic("asr.segments.again"),
        "CAESURA_WORKER_DEAD_LETTER_TOPIC": rehearsal.topic("asr.words.dead.again"),
        "CAESURA_DECODING_EMISSION": "settled",
    }
    with again.worker() as worker:
        worker.wait_until_ready()
        wait_for_ends(again, len(sessions), worker, "asr.segments.again")
    relabelled = again.segments("asr.segments.again")
    assert words_by_session(relabelled) == words_by_session(published) == whole(sessions, 40)
    assert [one.cause for one in relabelled] != [one.cause for one in published]
    assert rehearsal.segments() == published
