"""A model as the runtime sees it: buffers in, labels out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from worker.core.labelling import LabelRequest, Labels

__all__ = ["Engine", "EngineModel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineModel:
    """A model that an engine serves: ``id@version`` in ``name``; look_ahead_words is L, the sum over its layers."""

    name: str
    language: str
    active: bool
    look_ahead_words: int


class Engine(Protocol):
    """Labels buffers in batches."""

    @property
    def models(self) -> Sequence[EngineModel]:
        """The models loaded; at most one a language is active."""
        ...

    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        """Label each request, in their order; each answer has one label pair a word. Blocks; EngineError.

        The answer to a request depends on nothing but its words and its model.
        """
        ...

    def forget(self, session: str) -> None:
        """Drop whatever is cached for a session. Does not block."""
        ...

    def warm_up(self) -> None:
        """Run each model once, so that the first session does not pay for it. Blocks; FatalError."""
        ...
