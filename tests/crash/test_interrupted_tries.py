"""What was announced and only interrupted was no try, however often: a stop, a log that cannot be read.

A process that dies counts as it ever did, and one that is stopped because it stood still.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from typing_extensions import override

from caesura.schemas.labels import Labels
from caesura.schemas.segments import Cause
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.adapters.memory.log import Writer
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.errors import AbortableError, OutcomeUnknownError
from caesura.worker.ports.records import OutMessage
from tests.crash.announced import (
    a_worker,
    expel,
    goes_on,
    last_commit,
    sessions_lost,
    steps_isolated,
    until_announced,
)
from tests.harness.crashing import Crash
from tests.harness.engines import DEADLY, DeadlyEngine
from tests.harness.in_memory_world import World
from tests.harness.speech import event, said


def _blocked(world: World) -> Writer:
    """Leave somebody's transaction open on the ledger: nobody reads past it."""
    hanging = world.broker.init_producer("somebody")
    message = OutMessage(topic="caesura.ledger", partition=0, key=b"ben", value=None)
    world.broker.write(hanging, message)
    return hanging


def test_a_rebuild_that_drained_workers_hand_over_counts_for_no_try_and_stays_where_it_was() -> None:
    world = sessions_lost()
    next_offset, before = last_commit(world)
    for ordinal in range(9):
        worker = a_worker(world, ordinal % 2)
        until_announced(world, worker)
        worker.worker.drain()
        now_at, now = last_commit(world)
        assert (now_at, now.tries, now.replay_offset, now.ledger) == (
            next_offset,
            0,
            before.replay_offset,
            before.ledger,
        )
    goes_on(world)


def test_an_announced_rebuild_commits_in_the_turn_that_loads_it_whatever_the_commit_interval() -> None:
    world = sessions_lost()
    worker = world.worker(0, engine=ScriptedEngine(script=marked_words), commit_interval_ms=5000)
    until_announced(world, worker)
    while not worker.worker.assignment.loaded:
        worker.worker.turn(0.0)
    assert last_commit(world)[1].id.n > 0
    assert last_commit(world)[1].tries == 0


def test_a_quiet_partition_that_was_handed_over_before_it_lost_a_session_counts_no_try_either() -> None:
    world = World(rules=DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000))
    world.send(event("ann", 0, "A", "B"))
    for ordinal in range(4):
        worker = a_worker(world, ordinal)
        worker.settle()
        worker.worker.drain()
    world.redis.partition(0).sessions.popitem()
    for ordinal in range(9):
        worker = a_worker(world, ordinal % 2)
        until_announced(world, worker)
        worker.worker.drain()
    goes_on(world)


@pytest.mark.parametrize("turns", [3, 4, 400])
def test_a_ledger_that_is_blocked_while_workers_restart_counts_for_no_try(turns: int) -> None:
    world = sessions_lost()
    hanging = _blocked(world)
    for ordinal in range(9):
        worker = a_worker(world, ordinal % 2)
        worker.turn(turns)
        worker.worker.drain()
        assert last_commit(world)[1].tries == 0
    world.broker.end_transaction(hanging, commit=False)
    goes_on(world)


def test_a_log_that_cannot_be_read_is_no_try_for_the_next_owner_either() -> None:
    world = sessions_lost()
    hanging = _blocked(world)
    worker = a_worker(world, 0)
    until_announced(world, worker)
    worker.turn()  # it waits in vain
    assert last_commit(world)[1].tries == 0
    expel(world, worker)
    world.broker.end_transaction(hanging, commit=False)
    goes_on(world)


def test_announcements_that_committed_without_an_answer_count_for_no_try() -> None:
    world = sessions_lost()
    for _ in range(9):
        world.broker.fail("commit", OutcomeUnknownError("as planned"), happened=True, of="caesura-0")
    worker = a_worker(world, 0)
    worker.turn(2000)
    worker.worker.drain()
    goes_on(world)


def test_a_rebuild_that_stands_still_for_so_long_that_its_worker_is_stopped_counts() -> None:
    world = sessions_lost(*(f"ann-{number}" for number in range(450)), words="a b c d e f g h i j k l")
    tries = []
    for ordinal in range(3):
        worker = world.worker(ordinal % 2, engine=_SlowEngine(world))
        until_announced(world, worker)
        before_s = world.clock.now_s
        while world.clock.now_s - before_s < 40.0:
            worker.turn()
        worker.worker.drain()
        tries.append(last_commit(world)[1].tries)
    assert tries == [1, 2, 3]


class _SlowEngine(ScriptedEngine):
    """Takes longer than whoever asks for signs of life has patience."""

    def __init__(self, world: World) -> None:
        super().__init__(script=marked_words)
        self._world = world

    @override
    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        self._world.clock.pass_s(40.0)
        return super().label(requests)


def test_a_rebuild_whose_owners_die_is_parked_as_ever() -> None:
    world = sessions_lost()
    for ordinal in range(6):
        worker = a_worker(world, ordinal % 2)
        until_announced(world, worker)
        assert last_commit(world)[1].tries == ordinal + 1
        expel(world, worker)
    worker = a_worker(world, 0)
    worker.turn(40)
    assert {one.reason for one in worker.worker.assignment.parked.values()} == {"rebuild_fails"}


def test_an_owner_that_another_one_replaced_takes_nothing_back() -> None:
    world = sessions_lost()
    former, worker = a_worker(world, 0), a_worker(world, 1)
    until_announced(world, former)
    expel(world, former)
    until_announced(world, worker)
    announced = last_commit(world)
    former.worker.drain()
    assert last_commit(world) == announced
    assert announced[1].tries == 2


@pytest.mark.parametrize("call", ["send_offsets", "commit"])
@pytest.mark.parametrize("error", [AbortableError("as planned"), OutcomeUnknownError("as planned")])
def test_where_it_cannot_be_committed_the_try_counts_and_the_worker_stops_all_the_same(
    call: str, error: AbortableError | OutcomeUnknownError
) -> None:
    world = sessions_lost()
    worker = a_worker(world, 0)
    until_announced(world, worker)
    world.broker.fail(call, error, of="caesura-0")  # type: ignore[arg-type]
    worker.worker.drain()
    assert last_commit(world)[1].tries == 1
    goes_on(world)


def test_a_record_that_is_announced_by_workers_that_stop_before_they_try_it_is_not_given_up() -> None:
    world = steps_isolated()
    world.send(event("ann", 1, "c", session_end=True))
    for ordinal in range(9):
        worker = a_worker(world, ordinal % 2)
        until_announced(world, worker)
        worker.worker.drain()
        assert last_commit(world)[1].tries == 0
    a_worker(world, 7).turn(400)
    assert said(world.segments()) == ["A", "B", "c"]
    assert Cause.FALLBACK not in {one.cause for one in world.segments()}
    assert world.records("asr.words.dead") == []


def test_a_record_whose_owners_die_is_given_up_as_ever() -> None:
    world = steps_isolated()
    world.send(event("ann", 1, "c", session_end=True))
    for ordinal in range(4):
        worker = a_worker(world, ordinal % 2)
        until_announced(world, worker)
        assert last_commit(world)[1].tries == ordinal + 1
        expel(world, worker)
    a_worker(world, 7).settle()
    assert [dict(one.headers)["caesura.reason"] for one in world.records("asr.words.dead")] == [b"poison"]


def test_timers_that_are_announced_by_workers_that_stop_before_they_fire_are_not_given_up() -> None:
    world = steps_isolated()
    for ordinal in range(9):
        worker = a_worker(world, ordinal % 2)
        until_announced(world, worker)
        worker.worker.drain()
        assert last_commit(world)[1].tries == 0
    worker = a_worker(world, 7)
    worker.turn(400)
    assert worker.worker.unready() == ()
    assert said(world.segments()) == ["A", "B"]
    assert Cause.FALLBACK not in {one.cause for one in world.segments()}


def test_timers_that_kill_are_found_though_a_worker_stopped_before_it_fired_them() -> None:
    world = World(rules=DecodingRules(flush_after_ms=500, stall_after_ms=500))
    world.send(event("ann", 0, "a", DEADLY))
    died, stopped = 0, False
    for ordinal in range(20):
        worker = world.worker(ordinal % 2, engine=DeadlyEngine())
        try:
            if died == 4 and not stopped:  # it is isolated, and has killed its owner once since
                until_announced(world, worker)
                worker.worker.drain()
                stopped = True
                continue
            worker.turn(300)
        except Crash:
            died += 1
            expel(world, worker)
        else:
            break
    assert stopped
    assert 4 < died <= 9
    assert said(world.segments()) == ["a", DEADLY]
    assert {one.cause for one in world.segments()} == {Cause.FALLBACK}
