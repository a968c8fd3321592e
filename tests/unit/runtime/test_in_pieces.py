"""Claims and rebuilds of many sessions: a bounded piece a turn, the others going on, and the protocol's rules hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from caesura.schemas.events import WordsEvent
from caesura.worker.adapters.memory.session_store import StoreFault
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.ports.observer import ClaimWaits, Event, PartitionClaimed, SilentObserver
from caesura.worker.ports.session_store import StoreWrite
from caesura.worker.runtime.checkpoint.redis_sessions import PIECE_SESSIONS
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.rebuilds import Rebuilds
from tests.harness.speech import by_session, event, said

_PATIENT = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, idle_after_ms=600_000)
_SESSIONS = 2 * PIECE_SESSIONS + 100


@dataclass
class _Watched(SilentObserver):
    claimed: list[PartitionClaimed] = field(default_factory=list)
    waits: list[str] = field(default_factory=list)

    def note(self, event: Event) -> None:
        if isinstance(event, PartitionClaimed):
            self.claimed.append(event)
        elif isinstance(event, ClaimWaits):
            self.waits.append(event.reason)


def _many(partition: int, partitions: int, count: int, *, open_ones: int) -> list[WordsEvent]:
    """Return the events of ``count`` sessions of one partition, all but a few of them ended."""
    names = (f"s{number}" for number in range(1_000_000))
    chosen = [next(one for one in names if _place(one, partitions) == partition) for _ in range(count)]
    return [event(name, 0, "so", "it", session_end=place >= open_ones) for place, name in enumerate(chosen)]


def _place(name: str, partitions: int) -> int:
    return murmur2_partition(name.encode(), partitions)


def _filled(world: World, events: list[WordsEvent]) -> None:
    first = world.worker()
    world.send(*events)
    while len(by_session(world.segments())) < sum(one.session_end for one in events):
        first.turn(20)
    first.settle()
    first.worker.drain()


def _pieces(worker: InMemoryWorker) -> list[int]:
    """Note how many sessions each piece of a full write holds, the last one with its manifest."""
    seen: list[int] = []
    prepare, honest_write = worker.store.prepare, worker.store.write

    def noted_prepare(partition: int, name: str, put: Mapping[str, bytes]) -> None:
        seen.append(len(put))
        prepare(partition, name, put)

    def noted_write(partition: int, write: StoreWrite) -> bool:
        if write.prepared is not None:
            seen.append(len(write.put))
        return honest_write(partition, write)

    worker.store.prepare = noted_prepare  # type: ignore[method-assign]
    worker.store.write = noted_write  # type: ignore[method-assign]
    return seen


def _last_words(events: list[WordsEvent], open_ones: int) -> list[WordsEvent]:
    return [event(one.session, 1, "there", session_end=True) for one in events[:open_ones]]


def test_a_claim_takes_a_piece_a_turn_and_another_partition_goes_on_meanwhile() -> None:
    world = World(partitions=2, rules=_PATIENT)
    events = _many(0, 2, _SESSIONS, open_ones=3)
    _filled(world, events)
    other = next(one for one in (f"t{number}" for number in range(99)) if _place(one, 2) == 1)
    watched = _Watched()
    second = world.worker(1, observer=watched)
    world.send(event(other, 0, "we", "go", "on", session_end=True))
    turns = 0
    while not any(one.partition == 0 for one in watched.claimed):
        second.turn()
        turns += 1
        assert turns < 200
    assert [one.sessions for one in watched.claimed if one.partition == 0] == [_SESSIONS]
    assert turns > 2 * (_SESSIONS // PIECE_SESSIONS)  # read, then made
    second.settle()
    assert said(by_session(world.segments())[other]) == ["we", "go", "on"]
    loaded = second.worker.assignment.loaded[0]
    assert len(loaded.sessions) == _SESSIONS
    assert len(loaded.sessions.awake) == 3  # of those that ended only what is stored is kept
    world.send(*_last_words(events, 3))
    second.settle()
    found = by_session(world.segments())
    assert [said(found[one.session]) for one in events[:3]] == [["so", "it", "there"]] * 3


def test_a_claim_that_redis_interrupts_begins_again_and_finds_all() -> None:
    world = World(rules=_PATIENT)
    events = _many(0, 1, _SESSIONS, open_ones=3)
    _filled(world, events)
    watched = _Watched()
    second = world.worker(1, observer=watched)
    second.store.fail_next("load", StoreFault.NEVER)
    world.send(*_last_words(events, 3))
    second.settle()
    assert watched.waits == ["StoreError"]
    assert [one.sessions for one in watched.claimed] == [_SESSIONS]
    assert {name: said(one)[-1] for name, one in by_session(world.segments()).items()} == {
        one.session: "there" if place < 3 else "it" for place, one in enumerate(events)
    }


def _lost(world: World) -> list[WordsEvent]:
    events = _many(0, 1, _SESSIONS, open_ones=3)
    _filled(world, events)
    world.redis.lose_everything()
    return events


def _all_is_there(world: World, worker: InMemoryWorker, events: list[WordsEvent]) -> None:
    world.send(*_last_words(events, 3))
    worker.turn(150)
    assert worker.worker.unready() == ()
    assert {name: " ".join(said(one)) for name, one in by_session(world.segments()).items()} == {
        one.session: "so it there" if place < 3 else "so it" for place, one in enumerate(events)
    }
    assert len(world.redis.partition(0).sessions) == _SESSIONS


def test_a_rebuild_is_saved_in_pieces_and_the_next_owner_loads_it() -> None:
    world = World(rules=_PATIENT)
    events = _lost(world)
    heard = Rebuilds()
    second = world.worker(1, observer=heard)
    pieces = _pieces(second)
    second.turn(60)
    assert pieces == [*[PIECE_SESSIONS] * (_SESSIONS // PIECE_SESSIONS), _SESSIONS % PIECE_SESSIONS]
    third_heard = Rebuilds()
    _all_is_there(world, second, events)
    second.worker.drain()
    third = world.worker(2, observer=third_heard)
    third.settle()
    assert (len(heard.summaries), third_heard.summaries) == (1, [])
    assert len(third.worker.assignment.loaded[0].sessions) == _SESSIONS


def test_words_that_are_committed_between_two_pieces_are_saved_with_the_last_one() -> None:
    world = World(rules=_PATIENT)
    events = _lost(world)
    second = world.worker(1)
    pieces = _pieces(second)
    while len(pieces) < 1:
        second.turn()
    late = [event(f"late-{number}", 0, "we", "came", "late", session_end=True) for number in range(3)]
    world.send(*_last_words(events, 3), *late)
    second.settle()
    second.worker.drain()
    heard = Rebuilds()
    third = world.worker(2, observer=heard)
    third.settle()
    assert heard.summaries == []
    assert len(third.worker.assignment.loaded[0].sessions) == _SESSIONS + 3
    published = by_session(world.segments())
    assert [said(published[one.session]) for one in late] == [["we", "came", "late"]] * 3


@pytest.mark.parametrize("pieces", [1, 2])
def test_an_owner_that_dies_between_two_pieces_leaves_a_partition_that_is_rebuilt_again(pieces: int) -> None:
    world = World(rules=_PATIENT)
    events = _lost(world)
    dying = world.worker(1)
    seen = _pieces(dying)
    while len(seen) < pieces:
        dying.turn()
    assert world.redis.partition(0).sessions == {}
    world.broker.expel("caesura", "asr.words", dying.source.member_id)  # it vanishes
    heard = Rebuilds()
    heir = world.worker(2, observer=heard)
    heir.turn(100)
    assert len(heard.summaries) == 1
    _all_is_there(world, heir, events)


@pytest.mark.parametrize("fault", StoreFault)
@pytest.mark.parametrize("call", ["prepare", "write"])
def test_a_piece_that_is_not_answered_is_never_built_upon(fault: StoreFault, call: str) -> None:
    world = World(rules=_PATIENT)
    events = _lost(world)
    second = world.worker(1)
    second.store.fail_next(call, fault)
    for _ in range(100):
        second.turn()
        world.clock.pass_s(0.02)
    world.redis.land_late()  # what was on its way lands after the next try
    _all_is_there(world, second, events)
    second.worker.drain()
    heard = Rebuilds()
    world.worker(2, observer=heard).settle()
    assert heard.summaries == []


def test_redis_lost_between_two_pieces_is_noticed_at_the_last_one() -> None:
    world = World(rules=_PATIENT)
    events = _lost(world)
    second = world.worker(1)
    pieces = _pieces(second)
    while not pieces:
        second.turn()
    world.redis.lose_everything()
    for _ in range(100):
        second.turn()
        world.clock.pass_s(0.02)
    _all_is_there(world, second, events)
    assert len(pieces) > _SESSIONS // PIECE_SESSIONS + 1


def test_a_fail_over_that_loses_one_piece_is_noticed_at_the_last_one() -> None:
    world = World(rules=_PATIENT)
    events = _lost(world)
    second = world.worker(1)
    pieces = _pieces(second)
    while not pieces:
        second.turn()
    older = world.redis.copy()
    while len(pieces) < 2:
        second.turn()
    world.redis.fail_over_to(older)
    for _ in range(100):
        second.turn()
        world.clock.pass_s(0.02)
    second.worker.drain()
    heard = Rebuilds()
    third = world.worker(2, observer=heard)
    third.turn(100)
    assert heard.summaries == []
    _all_is_there(world, third, events)


def test_fields_that_are_worth_nothing_are_gone_after_a_rebuild() -> None:
    world = World(rules=_PATIENT)
    events = _many(0, 1, 10, open_ones=3)
    _filled(world, events)
    world.redis.spoil(0, lambda fields: fields.update({f"s:old-{number}": b"?" for number in range(_SESSIONS)}))
    second = world.worker(1)
    world.send(*_last_words(events, 3))
    second.turn(150)
    assert sorted(world.redis.partition(0).sessions) == sorted(one.session for one in events)
