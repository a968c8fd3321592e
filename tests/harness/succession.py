"""One worker after the other on the twins, each with an engine that one word is too much for, until one lives."""

from __future__ import annotations

from collections.abc import Callable

from tests.harness.crashing import Crash
from tests.harness.engines import DeadlyEngine
from tests.harness.in_memory_world import InMemoryWorker, World

__all__ = ["run_until_one_lives"]


def run_until_one_lives(
    world: World,
    *,
    turns: int,
    most: int = 30,
    ordinals: int = 2,
    meanwhile: Callable[[int], None] = lambda _: None,
) -> tuple[int, InMemoryWorker]:
    """Run workers by turns of the ordinals, as a supervisor would; return how many died, and who lives.

    meanwhile: called before each, with how many have died.
    """
    for died in range(most):
        meanwhile(died)
        worker = world.worker(died % ordinals, engine=DeadlyEngine())
        try:
            worker.turn(turns)
        except Crash:
            world.broker.expel("caesura", "asr.words", worker.source.member_id)
            continue
        return died, worker
    raise AssertionError("they die for ever")
