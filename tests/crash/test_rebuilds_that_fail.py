"""A rebuild that fails again and again: what was given up stays given up, and nobody else is held up."""

from __future__ import annotations

import pytest

from caesura.schemas.segments import Cause
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.errors import AbortableError
from caesura.worker.ports.publisher import Publisher
from tests.harness.engines import DEADLY
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.incomplete_ledger import strike, write_again
from tests.harness.speech import by_session, event, said
from tests.harness.unsure import ChokingPublisher

_PATIENT = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, idle_after_ms=600_000)
_NAMES = [f"ann-{number}" for number in range(99)]
_FIRST, *_OTHERS = (
    next(name for name in _NAMES if murmur2_partition(name.encode(), 4) == partition) for partition in range(4)
)


def _poisoned(world: World, *, first: str = "one") -> InMemoryWorker:
    """Have a record given up in the midst of two sessions' words that wait."""
    worker = world.worker(around=ChokingPublisher)
    world.send(event("ann", 0, first), event("ben", 0, "who"))
    worker.settle()
    world.send(event("ann", 1, DEADLY, "two", utterance_end=True), event("ben", 1, "is"))
    worker.turn(3000)
    assert [dict(one.headers)["caesura.reason"] for one in world.records("asr.words.dead")] == [b"poison"]
    return worker


@pytest.mark.parametrize("then", ["lost", "lost twice"])
def test_what_was_given_up_as_poison_stays_given_up_where_redis_is_lost(then: str) -> None:
    world = World(rules=_PATIENT)
    worker = _poisoned(world)
    world.redis.lose_everything()
    world.send(event("ann", 2, "three"))
    worker.turn(400)
    if then == "lost twice":
        world.redis.lose_everything()
    world.send(event("ann", 3, "four", session_end=True), event("ben", 2, "there", session_end=True))
    worker.turn(400)
    assert worker.worker.unready() == ()
    assert {name: said(found) for name, found in by_session(world.segments()).items()} == {
        "ann": ["one", "three", "four"],
        "ben": ["who", "is", "there"],
    }
    assert len(world.records("asr.words.dead")) == 1


def test_a_healthy_worker_rebuilds_and_could_publish_the_letter_too() -> None:
    world = World(rules=_PATIENT)
    _poisoned(world).worker.drain()
    world.redis.lose_everything()
    world.send(event("ann", 2, "three", session_end=True), event("ben", 2, "there", session_end=True))
    world.worker(1).turn(400)
    assert {name: said(found) for name, found in by_session(world.segments()).items()} == {
        "ann": ["one", "three"],
        "ben": ["who", "is", "there"],
    }


def _four_partitions(*more: str) -> World:
    world = World(partitions=4, rules=_PATIENT)
    world.send(event(_FIRST, 0, DEADLY, "words", *more), *(event(name, 0, "we", "wait") for name in _OTHERS))
    return world


def test_a_rebuild_beyond_any_transaction_parks_its_partition_alone() -> None:
    world = _four_partitions()
    first = world.worker(0)
    first.settle()
    first.worker.drain()
    world.redis.lose_everything()
    world.send(*(event(name, 1, "here", session_end=True) for name in _OTHERS))
    sure: list[ChokingPublisher] = []

    def choking(publisher: Publisher) -> Publisher:
        sure.append(ChokingPublisher(publisher))
        return sure[0]

    # With a shorter buffer the rebuild cuts at once: its first checkpoint holds the word.
    world.rules = DecodingRules(
        flush_after_ms=60_000,
        stall_after_ms=60_000,
        idle_after_ms=600_000,
        max_buffer_words=2,
        step_words=1,
        look_ahead_words=0,
    )
    worker = world.worker(1, around=choking)
    worker.turn(3000)
    assert {one.partition: one.reason for one in worker.worker.assignment.parked.values()} == {0: "rebuild_fails"}
    assert {name: said(found) for name, found in by_session(world.segments()).items()} == {
        name: ["we", "wait", "here"] for name in _OTHERS
    }
    world.send(event(_FIRST, 1, "too", session_end=True))
    sure[0].choking = False
    world.release(0)
    worker.turn(1000)
    assert worker.worker.unready() == ()
    assert said(by_session(world.segments())[_FIRST]) == [DEADLY, "words", "too"]


def test_an_outage_of_the_brokers_stops_no_rebuild() -> None:
    world = World(rules=_PATIENT)
    world.send(event("ann", 0, "one"))
    first = world.worker(0)
    first.settle()
    first.worker.drain()
    world.redis.lose_everything()
    for _ in range(20):
        world.broker.fail("send_offsets", AbortableError("the brokers are restarting"))
    worker = world.worker(0)
    worker.turn(4000)
    assert worker.worker.unready() == ()
    world.send(event("ann", 1, "two", session_end=True))
    worker.settle()
    assert said(world.segments()) == ["one", "two"]


def _waiting_without(session: str) -> World:
    """Have two sessions' words wait, one of which the ledger misses once Redis is lost."""
    world = World(rules=_PATIENT)
    first = world.worker()
    world.send(event("ann", 0, "one", utterance_end=True), event("ben", 0, "oh", utterance_end=True))
    first.settle()
    world.send(event("ann", 1, "two"), event("ben", 1, "who", "is"))
    first.settle()
    first.worker.drain()
    assert strike(world, session)
    world.redis.lose_everything()
    return world


@pytest.mark.parametrize("ways", ["drain", "die"])
def test_a_parked_rebuild_goes_on_once_the_log_is_mended(ways: str) -> None:
    """Its partition may have many owners before somebody looks: it parks for the same reason each time."""
    world = _waiting_without("ann")
    for ordinal in range(12):
        worker = world.worker(ordinal % 2)
        worker.settle()
        assert {str(one.reason) for one in worker.worker.assignment.parked.values()} == {"ledger_incomplete"}
        if ways == "drain":
            worker.worker.drain()
        else:
            world.broker.expel("caesura", "asr.words", worker.source.member_id)
    assert write_again(world) == 1
    world.send(event("ann", 2, "three", session_end=True), event("ben", 2, "there", session_end=True))
    worker = world.worker(0)
    worker.turn(400)
    assert worker.worker.unready() == ()
    found = by_session(world.segments())
    assert {name: said(found[name]) for name in found} == {
        "ann": ["one", "two", "three"],
        "ben": ["oh", "who", "is", "there"],
    }
    assert Cause.FALLBACK not in {one.cause for one in world.segments()}
