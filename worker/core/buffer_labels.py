"""Who labels a session's buffer, and what it is given; ``worker.core.decoding`` says when, and of which words.

A buffer keeps its model until its start has moved: labels of two models never stand in one buffer.
"""

from __future__ import annotations

from collections.abc import Generator

from worker.core.buffer import Buffer
from worker.core.context import DecodingContext
from worker.core.labelling import LabelRequest, Labels
from worker.core.outlook import Outlook
from worker.core.rules import primary_language

__all__ = ["BufferLabels"]


class BufferLabels:
    """model: what labels the buffer; None: nothing does. outlook: labels of its last words that may still change."""

    __slots__ = ("_buffer", "_context", "_session", "model", "outlook")

    def __init__(self, context: DecodingContext, session: str, buffer: Buffer, model: str | None) -> None:
        self._context = context
        self._session = session
        self._buffer = buffer
        self.model = model
        self.outlook: Outlook | None = None

    @property
    def look_ahead(self) -> int:
        """Return L of the model that labels the buffer."""
        return self._context.models.look_ahead_of(self.model)

    @property
    def is_bound(self) -> bool:
        """Tell whether the buffer was labelled since its start moved, and so keeps its model."""
        return self.model is not None and self._buffer.labelled_start == self._buffer.start

    @property
    def is_served(self) -> bool:
        """Tell whether this worker has the model."""
        return self.model in self._context.models.loaded

    def choose(self, lang: str) -> None:
        """Take the model that is active for a language."""
        active = self._context.models.active.get(primary_language(lang))
        chosen = None if active is None else active.name
        if chosen != self.model:
            self._buffer.settled = 0  # what another said, or nobody, is asked again
        self.model = chosen

    def give_up(self) -> None:
        """Have no model: the one that was asked gave no answer."""
        self.model = self.outlook = None

    def ask(self, first: int, end: int, *, punctuation: bool) -> Generator[LabelRequest, Labels | None, Labels | None]:
        """Return the labels of the words from ``first`` to ``end``; where it looks ahead, keep those behind apart."""
        buffer, wanted = self._buffer, range(first, end)
        known = None if self.outlook is None else self.outlook.answer(buffer, self.model, wanted)
        if known is not None:
            return known
        asked_end = len(buffer) if self._context.looks_ahead else end
        if self.model is None:
            none = bytes(asked_end - first)
            labels: Labels | None = Labels(punctuation=none, disfluency=none)
        else:
            labels = yield self._request(self.model, first, asked_end)
            if labels is not None and not punctuation:
                labels = Labels(punctuation=bytes(asked_end - first), disfluency=labels.disfluency)
        if labels is None or not self._context.looks_ahead:
            return labels
        self.outlook = Outlook(
            model=self.model, start=buffer.start, first=buffer.start + first, end=buffer.end, labels=labels
        )
        return labels.part(range(len(wanted)))

    def _request(self, model: str, first: int, end: int) -> LabelRequest:
        return LabelRequest(
            session=self._session,
            model_id=model,
            buffer_start=self._buffer.start,
            words=tuple(self._buffer.views),
            first=first,
            end=end,
        )
