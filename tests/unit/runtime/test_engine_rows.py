"""What the engine keeps of sessions goes with their partition, in whatever phase it is let go."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from caesura.schemas.events import Emission
from caesura.schemas.labels import Labels
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules
from tests.harness.in_memory_world import World
from tests.harness.speech import speech

_WORDS = 15
_SESSIONS = 300
"""More than a chunk of a rebuild reads."""


class _Keeping(ScriptedEngine):
    """kept: of whom it would keep rows."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: set[str] = set()

    @override
    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        self.kept |= {one.session for one in requests}
        return super().label(requests)

    @override
    def forget(self, session: str) -> None:
        self.kept.discard(session)


def test_a_partition_that_is_let_go_in_the_midst_of_its_rebuild_leaves_nothing_in_the_engine() -> None:
    patient = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, idle_after_ms=600_000)
    world = World(rules=patient)
    for number in range(_SESSIONS):
        world.send(*speech(f"s{number}", _WORDS, a_time=_WORDS, end=False, emission=Emission.SENTENCE))
    first = world.worker()
    first.settle()
    first.worker.drain()
    world.redis.lose_everything()
    engine = _Keeping()
    second = world.worker(1, engine=engine)
    while not engine.kept:
        second.turn()
    assert second.worker.assignment.rebuilding
    second.worker.assignment.on_lost([0])
    assert engine.kept == set()
