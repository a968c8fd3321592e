"""A ledger that lacks what was committed of it: the partition parks and names it, before anything is published."""

from __future__ import annotations

import msgspec
import pytest

from schemas.checkpoint import CheckpointId, OffsetMetadata
from schemas.ledger_sum import LedgerSum
from schemas.state import StateVersion
from tests.harness.speech import by_session, event, said
from tests.harness.struck_ledger import disagreement, strike, write_again
from tests.harness.twin_world import TwinWorker, World
from worker.core.rules import DecodingRules
from worker.errors import BrokerError, FatalError
from worker.ports.records import NextOffset
from worker.runtime.output_records import GIVEN_UP_HEADER, THROUGH_HEADER
from worker.runtime.parking import Parked

_PATIENT = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, idle_after_ms=600_000)


def _world(version: StateVersion = "1.4") -> World:
    """Two sessions have published, one of them twice, and have words that wait; a third has words only."""
    world = World(rules=_PATIENT)
    first = world.worker(state_version=version)
    world.send(event("ann", 0, "one", utterance_end=True), event("ben", 0, "who", utterance_end=True))
    first.settle()
    world.send(event("ann", 1, "two", utterance_end=True))
    first.settle()
    world.send(event("ann", 2, "three"), event("ben", 1, "is"), event("zoe", 0, "not"))
    first.settle()
    first.worker.drain()
    return world


def _rebuilt(world: World, version: StateVersion = "1.4") -> TwinWorker:
    world.redis.lose_everything()
    worker = world.worker(1, state_version=version)
    worker.settle()
    return worker


def _parked(worker: TwinWorker) -> Parked:
    (parked,) = worker.worker.assignment.parked.values()
    assert parked.reason == "ledger_incomplete"
    return parked


def _ends(world: World, worker: TwinWorker) -> None:
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
    world = _world()
    _ends(world, _rebuilt(world))


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
    world = _world()
    before = len(world.segments())
    assert strike(world, session, older=older)
    worker = _rebuilt(world)
    detail = _parked(worker).detail
    assert f"was committed: {named}; " in detail
    worker.store.release(0)
    worker.turn(400)
    assert _parked(worker).detail == detail, "it parks again until it is fixed"
    assert len(world.segments()) == before
    assert write_again(world) == 1
    worker.store.release(0)
    worker.turn(400)
    _ends(world, worker)


def test_of_many_that_are_missing_some_are_named() -> None:
    world = World(rules=_PATIENT)
    first = world.worker(state_version="1.4")
    names = [f"s{number}" for number in range(9)]
    world.send(*(event(name, 0, "so", utterance_end=True) for name in names))
    first.settle()
    first.worker.drain()
    world.broker.delete_before("caesura.ledger", 0, world.broker.log("caesura.ledger", 0).end)
    detail = _parked(_rebuilt(world)).detail
    assert "records of 0 sessions that published, 9 were committed" in detail
    assert detail.count(" since ") == 5
    assert "and 4 more;" in detail


def test_a_session_that_closed_is_named_where_it_alone_is_missing() -> None:
    world = World(rules=_PATIENT)
    first = world.worker(state_version="1.4")
    for name in ("ann", "ben"):
        world.send(event(name, 0, "bye", session_end=True))
    first.settle()
    first.worker.drain()
    strike(world, "ben")
    assert "was committed: 'ben' since 1 (" in _parked(_rebuilt(world)).detail


@pytest.mark.parametrize("fault", [BrokerError("nobody answers"), FatalError("not authorised")])
def test_where_the_segments_cannot_be_read_it_parks_all_the_same(
    fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = _world()
    strike(world, "ann")
    world.redis.lose_everything()
    worker = world.worker(1, state_version="1.4", start=False)
    honest = world.broker.log

    def log(topic: str, partition: int) -> object:
        if topic == "asr.segments":
            raise fault
        return honest(topic, partition)

    monkeypatch.setattr(world.broker, "log", log)
    worker.worker.start()
    worker.settle()
    assert "was committed: 'ann' (a tombstone of no worker's); " in _parked(worker).detail


def _given_up(
    world: World, detail: str, *, through: str | None = None, given_up: str | None = None, name: str = "ann"
) -> None:
    """Do what the detail says."""
    words = dict(word.rstrip(";").split("=") for word in detail.split() if word.startswith("caesura."))
    headers = {THROUGH_HEADER: through or words[THROUGH_HEADER], GIVEN_UP_HEADER: given_up or words[GIVEN_UP_HEADER]}
    coded = tuple((name, value.encode()) for name, value in headers.items())
    world.broker.append("caesura.ledger", 0, None, key=name.encode(), headers=coded)


def test_a_session_that_an_operator_gives_up_begins_anew_after_what_was_committed() -> None:
    world = _world()
    strike(world, "ann")
    worker = _rebuilt(world)
    _given_up(world, _parked(worker).detail)
    worker.store.release(0)
    worker.turn(400)
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
    _rebuilt(world)
    assert len(world.segments()) == sum(map(len, found.values()))


def test_of_two_that_are_missing_both_have_to_be_given_up() -> None:
    world = _world()
    strike(world, "ann")
    strike(world, "ben")
    worker = _rebuilt(world)
    for name, other in (("ann", "ben"), ("ben", None)):
        parked = _parked(worker)
        _given_up(world, parked.detail, name=name)
        worker.store.release(0)
        worker.turn(400)
        assert (f"was committed: {other!r} since" in _parked(worker).detail) if other else not worker.worker.unready()


@pytest.mark.parametrize(("through", "given_up"), [("4", None), ("-1", None), (None, "2.0123456789abcdef")])
def test_a_tombstone_that_gives_up_something_else_helps_nothing(through: str | None, given_up: str | None) -> None:
    world = _world()
    strike(world, "ann")
    worker = _rebuilt(world)
    _given_up(world, _parked(worker).detail, through=through, given_up=given_up)
    worker.store.release(0)
    worker.turn(400)
    _parked(worker)


@pytest.mark.parametrize("version", ["1.4", "1.3"])
def test_a_rebuild_that_was_announced_is_checked_as_well(version: StateVersion) -> None:
    world = _world()
    metadata = _metadata(world)
    announced = CheckpointId(metadata.id.token + 1, 0, "0123456789abcdef")
    _commit(world, msgspec.structs.replace(metadata, id=announced, tries=1))
    _rebuilt_by_dying_owners(world, version)
    assert _metadata(world).id.n == 0
    assert _metadata(world).ledger == metadata.ledger
    strike(world, "ann")
    _parked(_rebuilt(world, version))


def _rebuilt_by_dying_owners(world: World, version: StateVersion) -> None:
    """Have owners announce the rebuild, and vanish before they have done it."""
    for ordinal in range(2):
        owner = world.worker(ordinal, state_version=version)
        tries = _metadata(world).tries
        while _metadata(world).tries == tries:
            owner.turn()
        world.broker.expel("caesura", "asr.words", owner.source.member_id)


def test_what_a_release_before_committed_says_nothing_and_is_not_checked() -> None:
    world = _world("1.3")
    assert _metadata(world).ledger is None
    strike(world, "ann")
    assert _rebuilt(world).worker.assignment.parked == {}


def test_the_sum_is_made_of_the_snapshots_where_a_release_before_committed_and_goes_on_over_both() -> None:
    world = _world("1.3")
    second = world.worker(1, state_version="1.4")
    world.send(event("zoe", 1, "yet"))
    second.settle()
    known = _metadata(world).ledger
    assert known is not None
    assert known.sessions == 2
    assert disagreement(world) is None
    second.worker.drain()
    third = world.worker(0, state_version="1.3")
    third.settle()
    assert _metadata(world).ledger is None, "a release that could not read it may come: it is gone without a word"
    third.worker.drain()
    strike(world, "ann")
    write_again(world)
    fourth = _rebuilt(world)
    assert _metadata(world).ledger == known
    world.send(event("ann", 3, "four", session_end=True))
    fourth.settle()
    assert disagreement(world) is None


def test_a_worker_that_writes_no_sum_checks_the_one_that_is_committed() -> None:
    world = _world()
    strike(world, "ann")
    worker = _rebuilt(world, "1.3")
    _parked(worker)
    write_again(world)
    worker.store.release(0)
    worker.turn(400)
    _ends(world, worker)
    assert _metadata(world).ledger is None


def test_metadata_that_has_the_sum_is_read_back_and_a_release_before_takes_it_for_anothers() -> None:
    with_sum = _metadata(_world())
    assert with_sum.ledger is not None
    assert OffsetMetadata.decode(with_sum.encode()) == with_sum
    for spoilt in (with_sum.encode() + "0", with_sum.encode()[:-1], with_sum.encode().replace(".", ".\u0663")):
        assert OffsetMetadata.decode(spoilt) is None


def test_a_ledger_that_knows_more_than_was_committed_parks_its_partition() -> None:
    world = _world()
    metadata = _metadata(world)
    _commit(world, msgspec.structs.replace(metadata, ledger=LedgerSum()))
    offset = NextOffset(next_offset=0, metadata=_metadata(world).encode())
    world.broker.set_offset("caesura", "asr.words", 0, offset)
    assert "or the offset is older than the ledger" in _parked(_rebuilt(world)).detail
