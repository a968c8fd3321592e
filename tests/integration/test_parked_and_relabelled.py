"""Two more sections of the runbook on a real Kafka and Redis: a parked partition, and re-labelling from offset 0."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from confluent_kafka import Producer

from caesura.worker.core.partition.partitioning import murmur2_partition
from tests.harness.rehearsal import Rehearsal
from tests.harness.waiting import wait_until
from tests.integration.sessions import events, wait_for_ends, whole, words_by_session

pytestmark = pytest.mark.timeout(300)
_OF_THE_RUNBOOK = 7
"""The partition that the section's command names."""


def test_a_parked_partition_goes_on_when_its_cause_is_gone(rehearsal: Rehearsal) -> None:
    rehearsal.changes = {"CAESURA_WORKER_DEAD_LETTER_LIMIT": "3", "CAESURA_WORKER_DEAD_LETTER_WINDOW_S": "1"}
    rehearsal.follow("Before the first start", 0)
    session = next(name for n in count() if murmur2_partition((name := f"call-{n}").encode(), 12) == _OF_THE_RUNBOOK)
    with rehearsal.worker() as worker:
        worker.wait_until_ready()
        _send_rubbish(rehearsal, session, 6)
        wait_until(lambda: bool(worker.lines("parked")), worker.log.read_text)
        rehearsal.say(*events([session], first=0, last=12, end=True))
        assert worker.lines("parked")[0]["reason"] == "dead_letter_limit"
        wait_until(lambda: any("dead_letter_limit" in one for one in worker.reasons() or []), worker.log.read_text)
        assert rehearsal.segments() == []
        listed = rehearsal.follow("A parked partition")
        assert "malformed" in listed
        wait_for_ends(rehearsal, 1, worker)
        wait_until(lambda: worker.reasons() == [], worker.log.read_text)
        worker.stop()
    assert words_by_session(rehearsal.segments()) == whole([session], 12)


def _send_rubbish(rehearsal: Rehearsal, session: str, number: int) -> None:
    producer = Producer({"bootstrap.servers": rehearsal.kafka.bootstrap, "partitioner": "murmur2_random"})
    for _ in range(number):
        producer.produce(rehearsal.topic("asr.words"), b"\xc1 rubbish", session.encode())
    assert producer.flush(30) == 0


def test_relabelling_from_offset_0_goes_into_topics_of_its_own_and_changes_nothing_that_was_published(
    rehearsal: Rehearsal, tmp_path: Path
) -> None:
    rehearsal.follow("Before the first start", 0)
    sessions = [f"call-{number}" for number in range(4)]
    with rehearsal.worker() as worker:
        worker.wait_until_ready()
        rehearsal.say(*events(sessions, first=0, last=40, end=True))
        wait_for_ends(rehearsal, len(sessions), worker)
        worker.stop()
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
        worker.stop()
    relabelled = again.segments("asr.segments.again")
    assert words_by_session(relabelled) == words_by_session(published) == whole(sessions, 40)
    assert [one.cause for one in relabelled] != [one.cause for one in published]
    assert rehearsal.segments() == published
