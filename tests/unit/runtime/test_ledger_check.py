"""A ledger that lacks what was committed of it: the partition parks and names it, before anything is published."""

from __future__ import annotations

import msgspec
import pytest

from caesura.schemas.checkpoint import CheckpointId, OffsetMetadata
from caesura.schemas.ledger_sum import LedgerSum
from caesura.worker.errors import BrokerError, FatalError
from caesura.worker.ports.records import NextOffset
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.incomplete_ledger import PATIENT, parked_of, rebuilt, world_of_two
from tests.harness.speech import by_session, event, said
from tests.harness.struck_ledger import disagreement, strike, write_again


def _ends(world: World, worker: InMemoryWorker) -> None:
    """Let all speak on and end; then every word has come once."""
    world.send(event("ann", 3, "four", session_end=True), event("ben", 2, "there", session_end=True))
    world.send(event("zoe", 1, "yet", session_end=True))
    worker.turn(400)
    assert worker.worker.unready() == ()
    assert {name: said(found) for name, found in by_session(world.segments()).items()} == {
        "ann": ["one", "two", "three", "four"],
        "ben": ["who", "is", "there"],
        "zoe": ["not", "yet"],
    }
    assert disagreement(world) is None


def _metadata(world: World) -> OffsetMetadata:
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    metadata = OffsetMetadata.decode(committed.metadata) if committed is not None else None
    assert metadata is not None
    return metadata


def _commit(world: World, metadata: OffsetMetadata) -> None:
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    assert committed is not None
    offset = NextOffset(next_offset=committed.next_offset, metadata=metadata.encode())
    world.broker.set_offset("caesura", "asr.words", 0, offset)


def test_a_ledger_that_says_all_is_rebuilt_from() -> None:
    world = world_of_two()
    _ends(world, rebuilt(world))


@pytest.mark.parametrize(
    ("session", "older", "named"),
    [
        ("ann", False, "'ann' since 0 (2 segments, 2 words; ledger: none)"),
        ("ann", True, "'ann' since 0 (2 segments, 2 words; ledger: 1 segments, 1 words)"),
        ("ben", False, "'ben' since 1 (1 segments, 1 words; ledger: none)"),
    ],
)
def test_a_record_that_is_missing_or_too_old_parks_its_partition_and_is_named(
    session: str, older: bool, named: str
) -> None:
    world = world_of_two()
    before = len(world.segments())
    assert strike(world, session, older=older)
    worker = rebuilt(world)
    detail = parked_of(worker).detail
    assert f"was committed: {named}; " in detail
    world.release(0)
    worker.turn(400)
    assert parked_of(worker).detail == detail, "it parks again until it is fixed"
    assert len(world.segments()) == before
    assert write_again(world) == 1
    world.release(0)
    worker.turn(400)
    _ends(world, worker)


def test_of_many_that_are_missing_some_are_named() -> None:
    world = World(rules=PATIENT)
    first = world.worker()
    names = [f"s{number}" for number in range(9)]
    world.send(*(event(name, 0, "so", utterance_end=True) for name in names))
    first.settle()
    first.worker.drain()
    world.broker.delete_before("caesura.ledger", 0, world.broker.log("caesura.ledger", 0).end)
    detail = parked_of(rebuilt(world)).detail
    assert "records of 0 sessions that published, 9 were committed" in detail
    assert detail.count(" since ") == 5
    assert "and 4 more;" in detail


def test_a_session_that_closed_is_named_where_it_alone_is_missing() -> None:
    world = World(rules=PATIENT)
    first = world.worker()
    for name in ("ann", "ben"):
        world.send(event(name, 0, "bye", session_end=True))
    first.settle()
    first.worker.drain()
    strike(world, "ben")
    assert "was committed: 'ben' since 1 (" in parked_of(rebuilt(world)).detail


@pytest.mark.parametrize("fault", [BrokerError("nobody answers"), FatalError("not authorised")])
def test_where_the_segments_cannot_be_read_it_parks_all_the_same(
    fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = world_of_two()
    strike(world, "ann")
    world.redis.lose_everything()
    worker = world.worker(1, start=False)
    honest = world.broker.log

    def log(topic: str, partition: int) -> object:
        if topic == "asr.segments":
            raise fault
        return honest(topic, partition)

    monkeypatch.setattr(world.broker, "log", log)
    worker.worker.start()
    worker.settle()
    assert "was committed: 'ann' (a tombstone of no worker's); " in parked_of(worker).detail


def test_a_rebuild_that_was_announced_is_checked_as_well() -> None:
    world = world_of_two()
    metadata = _metadata(world)
    announced = CheckpointId(metadata.id.token + 1, 0, "0123456789abcdef")
    _commit(world, msgspec.structs.replace(metadata, id=announced, tries=1))
    _rebuilt_by_dying_owners(world)
    assert _metadata(world).id.n == 0
    assert _metadata(world).ledger == metadata.ledger
    strike(world, "ann")
    parked_of(rebuilt(world))


def _rebuilt_by_dying_owners(world: World) -> None:
    """Have owners announce the rebuild, and vanish before they have done it."""
    for ordinal in range(2):
        owner = world.worker(ordinal)
        tries = _metadata(world).tries
        while _metadata(world).tries == tries:
            owner.turn()
        world.broker.expel("caesura", "asr.words", owner.source.member_id)


def test_metadata_is_read_back_and_damaged_metadata_is_not() -> None:
    with_sum = _metadata(world_of_two())
    assert OffsetMetadata.decode(with_sum.encode()) == with_sum
    for spoilt in (with_sum.encode() + "0", with_sum.encode()[:-1], with_sum.encode().replace(".", ".\u0663")):
        assert OffsetMetadata.decode(spoilt) is None


def test_a_ledger_that_knows_more_than_was_committed_parks_its_partition() -> None:
    world = world_of_two()
    metadata = _metadata(world)
    _commit(world, msgspec.structs.replace(metadata, ledger=LedgerSum()))
    metadata = msgspec.structs.replace(_metadata(world), next_offset=0)
    offset = NextOffset(next_offset=0, metadata=metadata.encode())
    world.broker.set_offset("caesura", "asr.words", 0, offset)
    assert "or the offset is older than the ledger" in parked_of(rebuilt(world)).detail
