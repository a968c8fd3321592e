"""A partition that cannot go on is parked: paused, named, and the others go on; an operator releases it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from caesura.schemas.codec import encode_event
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.errors import BrokerError
from caesura.worker.ports.observer import PartitionParked
from caesura.worker.ports.records import NextOffset, PartitionEnd, PartitionStalled, Record
from caesura.worker.runtime.ledger.output_records import REFUSED_HEADER
from tests.harness.heard import Heard
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.speech import event, said


def _other_partition(world: World, name: str) -> str:
    """Return a session's name that is in another partition than ``name``."""
    taken = murmur2_partition(name.encode(), world.partitions)
    names = (f"other-{number}" for number in range(100))
    return next(one for one in names if murmur2_partition(one.encode(), world.partitions) != taken)


def _reasons(worker: InMemoryWorker) -> list[str]:
    return [one.reason for one in worker.worker.assignment.parked.values()]


def test_an_event_of_a_newer_release_parks_its_partition_and_the_others_go_on() -> None:
    world = World(partitions=2)
    other = _other_partition(world, "ann")
    world.send(event("ann", 0, "one", "two", utterance_end=True))
    newer = msgspec.structs.replace(event("ann", 1, "three"), version="2.0")
    partition = murmur2_partition(b"ann", 2)
    world.broker.append("asr.words", partition, encode_event(newer), key=b"ann")
    world.send(event(other, 0, "four", session_end=True))
    worker = world.worker()
    worker.settle()
    assert _reasons(worker) == ["newer_event"]
    assert any("newer_event" in reason for reason in worker.worker.unready())
    assert sorted(said(world.segments())) == ["four", "one", "two"]
    assert world.records("asr.words.dead") == []


def test_a_newer_event_that_is_the_very_first_record_parks_its_partition() -> None:
    world = World()
    newer = msgspec.structs.replace(event("ann", 0, "one"), version="2.0")
    world.broker.append("asr.words", 0, encode_event(newer), key=b"ann")
    worker = world.worker()
    worker.settle()
    assert _reasons(worker) == ["newer_event"]


def test_too_many_malformed_events_park_the_partition_and_those_read_are_dead_letters() -> None:
    world = World()
    for _ in range(8):
        world.broker.append("asr.words", 0, b"\xc1", key=b"ann")
    worker = world.worker(dead_letter_limit=5)
    worker.settle()
    assert _reasons(worker) == ["dead_letter_limit"]
    assert len(world.records("asr.words.dead")) == 6


def test_an_offset_that_retention_has_passed_parks_the_partition_and_the_range_is_told() -> None:
    world = World()
    world.send(event("ann", 0, "one", "two"))
    first = world.worker()
    first.settle()
    first.worker.drain()
    world.send(*(event("ann", seq, "more") for seq in (1, 2, 3)))
    world.broker.delete_before("asr.words", 0, 3)
    heard = Heard(PartitionParked)
    worker = world.worker(1, observer=heard)
    worker.settle()
    (parked,) = heard.events
    assert (parked.partition, parked.reason) == (0, "offset_out_of_range")
    assert "next is 1, there is 3 to 4" in parked.detail
    assert world.records("asr.words.dead") == []


def test_where_a_former_leader_knows_of_no_such_offset_the_partition_goes_on_once_its_successor_answers() -> None:
    world, worker = _told_by_a_former_leader(for_s=1.0)
    assert _reasons(worker) == []
    assert said(world.segments()) == ["one", "two", "three"]


def test_where_no_leader_ever_knows_of_an_offset_in_the_range_the_partition_is_parked_in_the_end() -> None:
    world, worker = _told_by_a_former_leader(for_s=60.0)
    assert _reasons(worker) == ["offset_out_of_range"]
    assert said(world.segments()) == ["one"]


def _told_by_a_former_leader(*, for_s: float) -> tuple[World, InMemoryWorker]:
    """Have whoever leads the input say for so long that there is nothing where the worker reads on."""
    world = World()
    worker = world.worker()
    world.send(event("ann", 0, "one", utterance_end=True))
    worker.settle()
    read, ends_at_s = worker.source.poll, world.clock.monotonic_s() + for_s

    def poll(max_records: int, timeout_s: float) -> list[Record | PartitionEnd | PartitionStalled]:
        items = read(max_records, timeout_s)
        if world.clock.monotonic_s() > ends_at_s or not any(isinstance(one, Record) for one in items):
            return items
        world.clock.pass_s(0.05)  # what the answer takes
        return [PartitionStalled(partition=0, reason="no such offset")]

    worker.source.poll = poll  # type: ignore[method-assign]
    world.send(event("ann", 1, "two", "three", session_end=True))
    worker.turn(400)
    return world, worker


@pytest.mark.parametrize("manifest", [b"somebody else's", msgspec.msgpack.encode(["1.0", "no id", None])])
def test_a_manifest_that_is_nobodys_parks_its_partition(manifest: bytes) -> None:
    world = World()
    world.redis.partition_to_write(0).control["m"] = manifest
    worker = world.worker()
    worker.settle()
    assert _reasons(worker) == ["offset_from_outside"]


def test_a_released_partition_is_claimed_again_and_goes_on() -> None:
    world = World()
    world.send(event("ann", 0, "one", session_end=True))
    world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=0, metadata="by hand"))
    worker = world.worker()
    worker.settle()
    assert _reasons(worker) == ["offset_from_outside"]
    world.broker.set_offset("caesura", "asr.words", 0, None)
    world.release(0)
    worker.turn(400)
    assert _reasons(worker) == []
    assert said(world.segments()) == ["one"]


def test_saves_that_are_refused_without_end_hold_up_no_word() -> None:
    world = World()
    worker = world.worker()
    worker.settle()
    for seq in range(20):
        world.send(event("ann", seq, f"w{seq}", session_end=seq == 19))
        for _ in range(60):
            world.redis.partition_to_write(0).control["i"] = b"1.%d.0123456789abcdef" % (9000 + seq)
            worker.turn()
    worker.turn(400)
    assert _reasons(worker) == []
    assert worker.worker.unready() == ()
    assert said(world.segments()) == [f"w{seq}" for seq in range(20)]


def test_a_committed_token_beyond_what_a_claim_can_count_parks_the_partition() -> None:
    world = World()
    metadata = (
        f"caesura1 asr.words 0 0 {2**53 + 1}.1.0123456789abcdef 0 1 0 0 caesura-0 0.0000000000000000 0123456789abcdef"
    )
    world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=0, metadata=metadata))
    worker = world.worker()
    worker.settle()
    assert _reasons(worker) == ["state_unreadable"]


def test_a_release_is_heard_with_redis_away_and_only_one_that_comes_after_the_parking() -> None:
    world = World()
    world.send(event("ann", 0, "one", session_end=True))
    world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=0, metadata="by hand"))
    worker = world.worker()
    worker.settle()
    world.redis.away = True
    world.broker.set_offset("caesura", "asr.words", 0, None)
    worker.turn(600)
    assert _reasons(worker) == ["offset_from_outside"]
    world.release(0)
    for _ in range(300):
        worker.turn()
        world.clock.pass_s(0.05)
    assert _reasons(worker) == []
    assert said(world.segments()) == ["one"]


def test_a_release_is_heard_while_the_leader_of_another_partition_is_away() -> None:
    world = World(partitions=2)
    newer = msgspec.structs.replace(event("ann", 0, "one"), version="2.0")
    partition = murmur2_partition(b"ann", 2)
    world.broker.append("asr.words", partition, encode_event(newer), key=b"ann")
    heard = Heard(PartitionParked)
    worker = world.worker(observer=heard)
    worker.settle()
    for _ in range(200):
        world.broker.fail("watermarks", BrokerError("its leader is away"))
    world.release(partition)
    worker.turn(400)
    assert [one.reason for one in heard.events] == ["newer_event"] * 2


@pytest.mark.parametrize("wire", [msgspec.msgpack.encode, msgspec.json.encode])
def test_a_record_of_a_far_version_is_a_dead_letter_that_a_rebuild_passes_over(
    wire: Callable[[dict[str, str]], bytes],
) -> None:
    world = World(rules=DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000))
    world.send(event("ann", 0, "these", "wait"))
    world.broker.append("asr.words", 0, wire({"version": "700.1"}), key=b"ann")
    world.send(event("ann", 1, "go", "on"))
    worker = world.worker()
    worker.settle()
    assert worker.worker.unready() == ()
    worker.worker.drain()
    world.redis.lose_everything()
    later = world.worker(1)
    later.settle()
    world.send(event("ann", 2, session_end=True))
    later.settle()
    assert said(world.segments()) == ["these", "wait", "go", "on"]
    (letter,) = world.records("asr.words.dead")
    assert dict(letter.headers)["caesura.reason"] == b"unknown_version"
    assert letter.value == wire({"version": "700.1"})
    assert any(REFUSED_HEADER in dict(one.headers) for one in world.records("caesura.ledger"))
