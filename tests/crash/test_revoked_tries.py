"""What was announced and goes to another member in a rebalance was no try, and taking it back moves nothing.

A worker joins, is given the partition, and the one before it stops: a roll-out, again and again, each time before what
was announced is done.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.errors import AbortableError, OutcomeUnknownError
from caesura.worker.ports.commit_steps import CommitStep, CommitStepReached
from caesura.worker.ports.observer import Event, SilentObserver
from tests.crash.announced import (
    a_worker,
    expel,
    goes_on,
    last_commit,
    sessions_lost,
    steps_isolated,
    until_announced,
)
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.speech import event, said

_MOVED = 1
"""Of two partitions the one that whoever joins is given. Ben speaks there."""


def _join(world: World, ordinal: int, former: InMemoryWorker) -> InMemoryWorker:
    """Have another worker join, and the former one hear of it."""
    joined = a_worker(world, ordinal)
    joined.worker.turn(0.0)
    assert former.worker.assignment.holds(_MOVED)
    former.worker.turn(0.0)
    assert not former.worker.assignment.holds(_MOVED)
    return joined


def _moves_on(world: World, times: int) -> None:
    """Have the partition move as often, each time between an announcement and what it announced."""
    worker = a_worker(world, 0)
    for ordinal in range(1, times + 1):
        until_announced(world, worker, _MOVED)
        former, worker = worker, _join(world, ordinal, worker)
        assert last_commit(world, _MOVED)[1].tries == 0
        former.worker.drain()
    expel(world, worker)


def test_a_rebuild_that_goes_to_another_member_again_and_again_counts_for_no_try_and_stays_where_it_was() -> None:
    world = sessions_lost("ben", partitions=2)
    next_offset, before = last_commit(world, _MOVED)
    _moves_on(world, 9)
    now_at, now = last_commit(world, _MOVED)
    assert (now_at, now.replay_offset, now.ledger) == (next_offset, before.replay_offset, before.ledger)
    goes_on(world, "ben")


def test_a_record_whose_partition_goes_to_another_member_before_it_is_tried_is_not_given_up() -> None:
    world = steps_isolated("ben", partitions=2)
    world.send(event("ben", 1, "c", session_end=True))
    next_offset, before = last_commit(world, _MOVED)
    _moves_on(world, 9)
    now_at, now = last_commit(world, _MOVED)
    assert (now_at, now.replay_offset, now.ledger) == (next_offset, before.replay_offset, before.ledger)
    a_worker(world, 7).turn(400)
    assert said(world.segments()) == ["A", "B", "c"]
    assert world.records("asr.words.dead") == []


def test_timers_whose_partition_goes_to_another_member_before_they_fire_do_not_park_it() -> None:
    world = steps_isolated("ben", partitions=2)
    _moves_on(world, 9)
    goes_on(world, "ben")


_ANNOUNCED = pytest.mark.parametrize(
    "announced", [lambda: sessions_lost("ben", partitions=2), lambda: steps_isolated("ben", partitions=2)]
)


@_ANNOUNCED
@pytest.mark.parametrize("call", ["send_offsets", "commit"])
@pytest.mark.parametrize("happened", [False, True])
@pytest.mark.parametrize("error", [AbortableError("as planned"), OutcomeUnknownError("as planned")])
def test_where_that_does_not_commit_for_sure_the_partition_goes_all_the_same_and_every_word_comes_once(
    announced: Callable[[], World], call: str, error: AbortableError | OutcomeUnknownError, *, happened: bool
) -> None:
    world = announced()
    worker = a_worker(world, 0)
    until_announced(world, worker, _MOVED)
    world.broker.fail(call, error, happened=happened, of="caesura-0")  # type: ignore[arg-type]
    _join(world, 1, worker)
    assert last_commit(world, _MOVED)[1].tries == (0 if happened and call == "commit" else 1)
    worker.worker.drain()
    goes_on(world, "ben")


@_ANNOUNCED
def test_a_member_whose_partitions_are_lost_takes_nothing_back(announced: Callable[[], World]) -> None:
    world = announced()
    worker = a_worker(world, 0)
    until_announced(world, worker, _MOVED)
    expel(world, worker)
    worker.worker.turn(0.0)  # it joins again at once, and may announce it again
    assert last_commit(world, _MOVED)[1].tries >= 1


class _Overtaken(SilentObserver):
    """At a step of the commit that takes an announcement back, the member is expelled, and another one goes on."""

    def __init__(self, step: CommitStep) -> None:
        self._step = step
        self.overtake: list[Callable[[], None]] = []

    def note(self, event: Event) -> None:
        if self.overtake and isinstance(event, CommitStepReached) and event.step is self._step:
            self.overtake.pop()()


@_ANNOUNCED
@pytest.mark.parametrize(
    "step", [CommitStep.BEGUN, CommitStep.PUBLISHED, CommitStep.OFFSETS_SENT, CommitStep.COMMITTED]
)
def test_one_that_is_expelled_in_the_midst_of_taking_it_back_moves_nothing_that_another_one_committed(
    announced: Callable[[], World], step: CommitStep
) -> None:
    world, observer = announced(), _Overtaken(step)
    former = world.worker(0, observer=observer, engine=ScriptedEngine(script=marked_words))
    until_announced(world, former, _MOVED)
    worker = a_worker(world, 1)
    worker.worker.turn(0.0)

    def overtake() -> None:
        expel(world, former)
        world.send(event("ben", 1, "c", session_end=True))
        worker.turn(400)

    observer.overtake.append(overtake)
    former.worker.turn(0.0)
    assert not observer.overtake
    worker.turn(400)
    former.turn(400)
    assert last_commit(world, _MOVED)[0] == 2
    assert said(world.segments()) == ["A", "B", "c"]
