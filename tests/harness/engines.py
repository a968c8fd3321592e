"""The scripted engine in trouble: something happens before it labels a batch, which may be the process's end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from caesura.schemas.labels import Labels
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.errors import EngineError
from caesura.worker.ports.engine import EngineModel

DEADLY = "deadly"


class FaultyEngine(ScriptedEngine):
    """Labels like the scripted one, after ``before`` was called with the batch; what that raises, the engine raises."""

    def __init__(
        self, before: Callable[[Sequence[LabelRequest]], object], models: Sequence[EngineModel] | None = None
    ) -> None:
        super().__init__(models=models)
        self._before = before

    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        self._before(requests)
        return super().label(requests)


class RaisingEngine(FaultyEngine):
    """Raises on the next batches. left: how many; of: only those that hold a session of that name.

    sizes: of the batches that it raised on.
    """

    def __init__(self, left: int = 0, *, of: str | None = None, models: Sequence[EngineModel] | None = None) -> None:
        super().__init__(self._raise, models)
        self.left = left
        self.sizes: list[int] = []
        self._of = of

    def _raise(self, requests: Sequence[LabelRequest]) -> None:
        if self.left and (self._of is None or any(one.session == self._of for one in requests)):
            self.left -= 1
            self.sizes.append(len(requests))
            raise EngineError("told to raise")


class DeadlyEngine(FaultyEngine):
    """One word is too much for it: the engine's process that labels it is gone, as native code may have it."""

    def __init__(self) -> None:
        super().__init__(self._end_over_the_word)

    def _end_over_the_word(self, requests: Sequence[LabelRequest]) -> None:
        if any(DEADLY in request.words for request in requests):
            raise EngineError("its process ended")
