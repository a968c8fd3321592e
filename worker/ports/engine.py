"""A model as the runtime sees it: buffers in, labels out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from caesura.schemas.labels import Labels
from caesura.worker.core.language.labelling import LabelRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineModel:
    """A model that an engine serves: ``id@version`` in ``name``; look_ahead_words is L, the sum over its layers."""

    name: str
    language: str
    active: bool
    look_ahead_words: int


def served_languages(models: Iterable[EngineModel]) -> list[str]:
    """Return the languages that there is an active model for."""
    return [model.language for model in models if model.active]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineWork:
    """What an engine has done since it began, and what it keeps now; all zero where it counts nothing.

    layer_rows: words computed, once a layer each. begun_buffers: buffers that were computed from their first word on.
    evicted_sessions: whose rows went because there were too many bytes. kept_sessions, kept_bytes: of rows kept.
    restarts, cpu_s, resident_bytes: of the process that it runs in, where that is one of its own.
    """

    layer_rows: int = 0
    begun_buffers: int = 0
    evicted_sessions: int = 0
    kept_sessions: int = 0
    kept_bytes: int = 0
    restarts: int = 0
    cpu_s: float = 0.0
    resident_bytes: int = 0


class Engine(Protocol):
    """Labels buffers in batches.

    It may keep what it has computed of a session's words, and use it for a buffer that begins with the same words.
    """

    @property
    def models(self) -> Sequence[EngineModel]:
        """The models loaded, one of several languages once each; at most one a language is active."""
        ...

    @property
    def work(self) -> EngineWork:
        """What it has done so far. Does not block."""
        ...

    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        """Label each request, in their order; an answer has one label of each kind a wanted word. Blocks; EngineError.

        The answer to a request depends on nothing but its words, those that are wanted, its model and its offsets.
        """
        ...

    def forget(self, session: str) -> None:
        """Drop whatever is cached for a session. Does not block."""
        ...

    def warm_up(self) -> None:
        """Run each model once, so that the first session does not pay for it. Blocks; FatalError."""
        ...
