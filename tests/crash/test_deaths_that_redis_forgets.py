"""What kills its process again and again is found though Redis loses at each death what it knew of the ones before.

Where both stand on one machine, what uses up its memory ends both: Redis comes back empty, or from an old dump.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import pytest
from typing_extensions import override

from caesura.schemas.events import WordsEvent
from caesura.schemas.segments import Cause
from caesura.worker.adapters.memory.session_store import StoredPartition
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.ports.records import OutMessage
from tests.crash.announced import expel, last_commit
from tests.harness.crashing import Crash
from tests.harness.engines import DEADLY
from tests.harness.in_memory_world import World
from tests.harness.speech import by_session, event, said
from tests.harness.succession import run_until_one_lives
from tests.harness.unsure import UnsurePublisher

_PATIENT = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, idle_after_ms=600_000)
_SOON = DecodingRules(flush_after_ms=500, stall_after_ms=500)
_MOST_DEATHS = 16

_FATES = pytest.mark.parametrize(
    "fates",
    ["lost", "dump", "old dump", "spoilt", "lost, kept", "lost, dump", "dump, lost, old dump", "spoilt, kept, lost"],
)
"""What becomes of Redis at one death after the other, over and over again."""


class _Redis:
    """A Redis that forgets at each death, as ``fates`` say. dump: good as of the last commit; old_dump: of before."""

    def __init__(self, world: World, fates: str) -> None:
        self._world = world
        self._fates = cycle(fates.split(", "))
        self.old_dump: dict[int, StoredPartition] = {}
        self.dump: dict[int, StoredPartition] = {}

    def after(self, died: int) -> None:
        fate = next(self._fates) if died else "kept"
        redis = self._world.redis
        if fate == "lost":
            redis.lose_everything()
        elif fate == "dump":
            redis.fail_over_to(self.dump)
        elif fate == "old dump":
            redis.fail_over_to(self.old_dump)
        elif fate == "spoilt":
            for partition in range(self._world.partitions):
                redis.partition_to_write(partition).sessions.clear()


class _KillingPublisher(UnsurePublisher):
    """The process that publishes the deadly word is gone."""

    @override
    def publish(self, message: OutMessage) -> None:
        if DEADLY.encode() in (message.value or b""):
            raise Crash
        super().publish(message)


def _spoken_before(world: World, fates: str, *events: WordsEvent) -> _Redis:
    """Have some words committed, and dump Redis before the last of them and after it."""
    redis = _Redis(world, fates)
    worker = world.worker(0)
    for one in events:
        redis.old_dump = world.redis.copy()
        world.send(one)
        worker.settle()
    worker.worker.drain()
    redis.dump = world.redis.copy()
    return redis


def _deaths(world: World, redis: _Redis, *, meanwhile: Callable[[], object] = lambda: None) -> int:
    """Let workers die until one lives; return how many died."""

    def after(died: int) -> None:
        redis.after(died)
        meanwhile()

    return run_until_one_lives(world, turns=900, meanwhile=after)[0]


def _said(world: World) -> dict[str, list[str]]:
    return {name: said(found) for name, found in by_session(world.segments()).items()}


@_FATES
@pytest.mark.parametrize("before", [0, 1, 6])
def test_a_record_that_kills_goes_out_unlabelled_and_everybody_else_is_labelled(before: int, fates: str) -> None:
    world = World(rules=_PATIENT)
    redis = _spoken_before(world, fates, event("ann", 0, "one"), event("ann", 1, "two"))
    names = [f"ben-{number}" for number in range(before)]
    world.send(*(event(name, 0, "we", "speak", session_end=True) for name in names))
    world.send(event("ann", 2, DEADLY, utterance_end=True), event("ann", 3, "three", session_end=True))
    assert _deaths(world, redis) <= _MOST_DEATHS
    assert _said(world) == {"ann": ["one", "two", DEADLY, "three"], **{name: ["we", "speak"] for name in names}}
    unlabelled = [one for one in world.segments() if one.cause == Cause.FALLBACK]
    assert [said([one]) for one in unlabelled] == [["one", "two", DEADLY]]
    assert world.records("asr.words.dead") == []


@_FATES
def test_a_record_that_kills_before_anything_was_ever_committed_is_found_as_well(fates: str) -> None:
    world = World(rules=_PATIENT)
    world.send(event("ann", 0, "one", DEADLY, utterance_end=True), event("ann", 1, "two", session_end=True))
    assert _deaths(world, _Redis(world, fates)) <= _MOST_DEATHS
    assert _said(world) == {"ann": ["one", DEADLY, "two"]}


@_FATES
def test_a_silence_that_kills_goes_out_unlabelled_and_everybody_else_is_labelled(fates: str) -> None:
    world = World(rules=_SOON)
    redis = _spoken_before(world, fates, event("ann", 0, "one", utterance_end=True))
    world.send(event("ben", 0, "a", DEADLY), *(event(name, 0, "we", "wait") for name in ("cy", "dee")))
    assert _deaths(world, redis) <= _MOST_DEATHS
    assert _said(world) == {"ann": ["one"], "ben": ["a", DEADLY], "cy": ["we", "wait"], "dee": ["we", "wait"]}
    assert {one.session for one in world.segments() if one.cause == Cause.FALLBACK} == {"ben"}


@_FATES
@pytest.mark.parametrize("deadly", range(4))
def test_it_costs_no_label_in_other_partitions(deadly: int, fates: str) -> None:
    world = World(partitions=4, rules=_PATIENT)
    names = [f"ann-{number}" for number in range(99)]
    one_each = [next(name for name in names if murmur2_partition(name.encode(), 4) == number) for number in range(4)]
    long = ("we", "say", "words", "that", "are", "long", "enough", "for", "a", "step", "of", "it")
    redis = _spoken_before(world, fates, *(event(name, 0, *long) for name in one_each))
    world.send(*(event(name, 1, DEADLY if number == deadly else "too") for number, name in enumerate(one_each)))
    world.send(*(event(name, 2, "on", session_end=True) for name in one_each))
    assert _deaths(world, redis) <= _MOST_DEATHS
    found = by_session(world.segments())
    assert {name: said(found[name]) for name in found} == {
        name: [*long, DEADLY if number == deadly else "too", "on"] for number, name in enumerate(one_each)
    }
    assert {name for name in found if Cause.FALLBACK in {one.cause for one in found[name]}} == {one_each[deadly]}


@_FATES
def test_a_record_that_kills_with_and_without_the_engine_is_given_up(fates: str) -> None:
    world = World(rules=_PATIENT)
    redis = _spoken_before(world, fates, event("ann", 0, "one"), event("ann", 1, "two"))
    world.send(event("ann", 2, DEADLY, utterance_end=True), event("ann", 3, "three", session_end=True))
    died = 0
    for died in range(30):
        redis.after(died)
        worker = world.worker(died % 2, around=_KillingPublisher)
        try:
            worker.turn(900)
        except Crash:
            expel(world, worker)
            world.broker.expire_transaction(worker.publisher.transactional_id)
        else:
            break
    assert died <= _MOST_DEATHS
    assert _said(world) == {"ann": ["one", "two", "three"]}
    assert [dict(one.headers)["caesura.reason"] for one in world.records("asr.words.dead")] == [b"poison"]


def test_two_losses_of_redis_with_words_between_them_make_nobody_go_with_care() -> None:
    world = World(rules=_PATIENT)
    worker = world.worker(0)
    for number in range(4):
        world.send(event("ann", number, "one"))
        worker.settle()
        next_offset, said_of_it = last_commit(world)
        assert (next_offset, said_of_it.tries) == (number + 1, 0)
        assert said_of_it.isolated_until_offset <= next_offset  # no record is isolated
        world.redis.lose_everything()
