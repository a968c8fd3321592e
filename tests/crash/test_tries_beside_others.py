"""An announced rebuild whose worker loses its producer over another partition's words was not tried."""

from __future__ import annotations

import pytest

from caesura.schemas.segments import Cause
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.ports.publisher import Publisher
from caesura.worker.runtime.retries.rebuild_isolation import is_announcement
from tests.crash.announced import last_commit, sessions_lost, until_announced
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.speech import by_session, event, said
from tests.harness.unsure import Plan, UnsurePublisher

_REBUILT = 1
"""Of two partitions the one in which Ben speaks. Ann speaks in the other."""


def _unsure(world: World) -> tuple[InMemoryWorker, UnsurePublisher]:
    made: list[UnsurePublisher] = []

    def around(publisher: Publisher) -> Publisher:
        made.append(UnsurePublisher(publisher))
        return made[-1]

    return world.worker(0, engine=ScriptedEngine(script=marked_words), around=around), made[-1]


@pytest.mark.parametrize("plan", [Plan.COMMITS_UNTOLD, Plan.NEVER_COMMITS])
def test_a_producer_lost_over_another_partitions_words_is_no_try_of_a_rebuild_that_was_just_loaded(plan: Plan) -> None:
    world = sessions_lost("ben", partitions=2)
    worker, publisher = _unsure(world)
    until_announced(world, worker, _REBUILT)
    for seq in range(9):
        world.send(event("ann", seq, "D"))
        publisher.plans = [plan]
        while publisher.plans:
            worker.turn()
        assert is_announcement(last_commit(world, _REBUILT)[1])
        token = last_commit(world, _REBUILT)[1].id.token
        while last_commit(world, _REBUILT)[1].id.token == token:
            worker.turn()
        assert last_commit(world, _REBUILT)[1].tries == 1
    worker.turn(100)
    assert worker.worker.unready() == ()
    world.send(event("ben", 1, "c", session_end=True), event("ann", 9, "d", session_end=True))
    worker.turn(400)
    found = by_session(world.segments())
    assert {name: said(found[name]) for name in found} == {"ann": [*"DDDDDDDDD", "d"], "ben": ["A", "B", "c"]}
    assert Cause.FALLBACK not in {one.cause for one in found["ben"]}
