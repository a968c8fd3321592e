"""Sessions whose ledger records are gone, and that an operator gives up: the rest goes on, and no word comes twice."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from caesura.schemas.codec import encode_event
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.errors import BrokerError, FatalError
from caesura.worker.ports.observer import PartitionParked
from caesura.worker.ports.records import NextOffset, PartitionEnd, PartitionStalled, Record
from caesura.worker.runtime.ledger import ledger_check
from caesura.worker.runtime.ledger.output_records import REFUSED_HEADER
from tests.harness.executors import DeferredExecutor
from tests.harness.heard import Heard
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.incomplete_ledger import PATIENT, disagreement, give_up, parked_of, rebuilt, strike, world_of_two
from tests.harness.speech import by_session, event, said


def _give_up_and_go_on(world: World, worker: InMemoryWorker, detail: str, *, key: bytes = b"ann") -> None:
    """Give up what a parked partition's detail says, release it, and let its worker go on."""
    give_up(world, detail, key=key)
    world.release(0)
    worker.turn(400)


def test_a_session_that_an_operator_gives_up_begins_anew() -> None:
    world = world_of_two()
    strike(world, "ann")
    worker = rebuilt(world)
    _give_up_and_go_on(world, worker, parked_of(worker).detail)
    assert worker.worker.unready() == ()
    world.send(event("ann", 3, "four", session_end=True), event("ben", 2, "there", session_end=True))
    worker.turn(200)
    found = by_session(world.segments())
    assert [(one.since, one.index, said([one])) for one in found["ann"]] == [
        (0, 0, ["one"]),
        (0, 1, ["two"]),
        (6, 0, ["four"]),
    ]
    assert said(found["ben"]) == ["who", "is", "there"]
    assert disagreement(world) is None
    rebuilt(world)
    assert len(world.segments()) == sum(map(len, found.values()))


def test_each_missing_session_has_to_be_given_up() -> None:
    world = world_of_two()
    strike(world, "ann")
    strike(world, "ben")
    worker = rebuilt(world)
    for name, other in (("ann", "ben"), ("ben", None)):
        parked = parked_of(worker)
        _give_up_and_go_on(world, worker, parked.detail, key=name.encode())
        assert (f"was committed: {other!r} since" in parked_of(worker).detail) if other else not worker.worker.unready()


def _came(world: World) -> dict[str, list[str]]:
    return {name: said(found) for name, found in by_session(world.segments()).items()}


def test_sessions_that_closed_and_are_given_up_without_being_named_come_once() -> None:
    """Each may have been forgotten long ago; where what they said is read again it stays what was published."""
    world = World(rules=PATIENT)
    first = world.worker()
    world.send(event("zoe", 0, "not"))
    world.send(*(event(name, 0, "good", "bye", session_end=True) for name in ("ann", "ben")))
    first.settle()
    first.worker.drain()
    for name in ("ann", "ben"):
        strike(world, name)
    worker = rebuilt(world)
    detail = parked_of(worker).detail
    assert "no session that can be named" in detail
    _give_up_and_go_on(world, worker, detail, key=b"anybody")
    assert worker.worker.unready() == ()
    worker.worker.drain()
    worker = rebuilt(world)
    assert disagreement(world) is None
    world.send(event("zoe", 1, "yet", session_end=True))
    worker.turn(200)
    assert _came(world) == {"ann": ["good", "bye"], "ben": ["good", "bye"], "zoe": ["not", "yet"]}


def test_a_segment_too_far_back_to_be_named_comes_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = world_of_two()
    monkeypatch.setattr(ledger_check, "_MOST_SEGMENTS", 1)
    world.broker.delete_before("caesura.ledger", 0, world.broker.log("caesura.ledger", 0).end - 2)
    worker = rebuilt(world)
    detail = parked_of(worker).detail
    assert "no session that can be named" in detail
    _give_up_and_go_on(world, worker, detail, key=b"anybody")
    assert worker.worker.unready() == ()
    worker.worker.drain()
    worker = rebuilt(world)
    world.send(event("ben", 2, "there", session_end=True))
    worker.turn(200)
    assert _came(world)["ben"] == ["who", "is", "there"]


def test_a_record_older_than_the_far_segment_has_to_be_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = world_of_two()
    worker = world.worker(1)
    world.send(event("zoe", 1, "yet", utterance_end=True))
    worker.settle()
    worker.worker.drain()
    monkeypatch.setattr(ledger_check, "_MOST_SEGMENTS", 1)
    strike(world, "ann", older=True)
    worker = rebuilt(world)
    detail = parked_of(worker).detail
    assert "no session that can be named" in detail
    _give_up_and_go_on(world, worker, detail, key=b"anybody")
    assert "committed: 'ann' since 0 (2 segments, 2 words; ledger: 1 segments, 1 words); " in parked_of(worker).detail
    _give_up_and_go_on(world, worker, detail, key=b"ann")
    assert worker.worker.unready() == ()
    world.send(event("ann", 3, "four", session_end=True))
    worker.turn(200)
    assert _came(world)["ann"] == ["one", "two", "four"]


def test_unreadable_segments_give_up_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    world = world_of_two()
    world.broker.delete_before("caesura.ledger", 0, world.broker.log("caesura.ledger", 0).end)
    worker = rebuilt(world)
    give_up(world, parked_of(worker).detail)
    honest = world.broker.log

    def log(topic: str, partition: int) -> object:
        if topic == "asr.segments":
            raise FatalError("not authorised")
        return honest(topic, partition)

    with monkeypatch.context() as patch:
        patch.setattr(world.broker, "log", log)
        world.release(0)
        worker.settle()
        worker.turn(400)
        assert "unknown, because the segments topic could not be read" in parked_of(worker).detail
    world.release(0)
    worker.turn(400)
    assert "was committed: 'ben' since 1" in parked_of(worker).detail


@pytest.mark.parametrize(
    ("through", "given_up"), [("4", None), ("99", None), ("-1", None), (None, "2.0123456789abcdef")]
)
def test_a_tombstone_that_gives_up_something_else_helps_nothing(through: str | None, given_up: str | None) -> None:
    world = world_of_two()
    strike(world, "ann")
    worker = rebuilt(world)
    give_up(world, parked_of(worker).detail, through=through, given_up=given_up)
    world.release(0)
    worker.turn(400)
    parked_of(worker)


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


def test_too_many_malformed_events_park_the_partition() -> None:
    world = World()
    for _ in range(8):
        world.broker.append("asr.words", 0, b"\xc1", key=b"ann")
    worker = world.worker(dead_letter_limit=5)
    worker.settle()
    assert _reasons(worker) == ["dead_letter_limit"]
    assert len(world.records("asr.words.dead")) == 6


def test_an_offset_passed_by_retention_parks_and_the_range_is_told() -> None:
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


def test_a_partition_continues_when_the_new_leader_answers() -> None:
    world, worker = _told_by_a_former_leader(for_s=1.0)
    assert _reasons(worker) == []
    assert said(world.segments()) == ["one", "two", "three"]


def test_an_offset_unknown_to_every_leader_parks_the_partition() -> None:
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
def test_a_foreign_manifest_parks_its_partition(manifest: bytes) -> None:
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
        f"caesura1 asr.words 0 0 {2**53 + 1}.1.0123456789abcdef 0 1 caesura-0 0.0000000000000000 0123456789abcdef"
    )
    world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=0, metadata=metadata))
    worker = world.worker()
    worker.settle()
    assert _reasons(worker) == ["state_unreadable"]


def test_only_a_release_after_the_parking_is_heard_with_redis_away() -> None:
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


def test_a_release_counts_once_where_the_cause_remains() -> None:
    world, heard = World(), Heard(PartitionParked)
    world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=0, metadata="by hand"))
    worker = world.worker(observer=heard)
    worker.settle()
    world.release(0)
    for _ in range(300):
        worker.turn()
        world.clock.pass_s(0.1)
    assert len(heard.events) == 2


def test_a_release_from_before_a_partition_was_parked_again_does_not_count() -> None:
    world, asking, heard = World(), DeferredExecutor(), Heard(PartitionParked)
    world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=0, metadata="by hand"))
    worker = world.worker(observer=heard, asking=asking)
    worker.settle()
    asking.run_all()  # the first parking's answer, which the loop has not taken yet
    world.release(0)
    world.broker.expel("caesura", "asr.words", worker.source.member_id)
    _pass_s(10, worker, asking)
    assert len(heard.events) == 2
    world.release(0)
    _pass_s(10, worker, asking)
    assert len(heard.events) == 3


def _pass_s(seconds: int, worker: InMemoryWorker, asking: DeferredExecutor) -> None:
    for _ in range(10 * seconds):
        worker.turn()
        asking.run_all()
        worker.world.clock.pass_s(0.1)


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
