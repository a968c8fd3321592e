"""An engine that passes everything on to another: what is looked at, timed or compared overrides ``label``."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from caesura.schemas.labels import Labels
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.ports.engine import Engine, EngineModel, EngineWork


class PassingEngine(Engine):
    """A ``caesura.worker.ports.engine.Engine`` before another one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    @override
    def models(self) -> Sequence[EngineModel]:
        return self._engine.models

    @property
    @override
    def work(self) -> EngineWork:
        return self._engine.work

    @override
    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        return self._engine.label(requests)

    @override
    def forget(self, session: str) -> None:
        self._engine.forget(session)

    @override
    def warm_up(self) -> None:
        self._engine.warm_up()
