"""Labels of a buffer's last words that may still change, for those who show words before they freeze (ADR 0031).

They stand beside the buffer and are never stored: a session with them has the same state, byte for byte, as without.
"""

from __future__ import annotations

from dataclasses import dataclass

from caesura.schemas.labels import Labels
from caesura.worker.core.decoding.buffer import Buffer

__all__ = ["ProvisionalLabels"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvisionalLabels:
    """What one labelling said of a buffer from a word on to its end.

    start, first, end: the session's counts of model words before the buffer, the first labelled word, and its end as of
    that labelling. model: what labelled it.
    """

    model: str | None
    start: int
    first: int
    end: int
    labels: Labels

    def answer(self, buffer: Buffer, model: str | None, wanted: range) -> Labels | None:
        """Return the labels of the buffer's words ``wanted``, where the same buffer was labelled; else None."""
        here = (self.model, self.start, self.end) == (model, buffer.start, buffer.end)
        skipped = buffer.start + wanted.start - self.first
        return self.labels.part(skipped, skipped + len(wanted)) if here and skipped >= 0 else None

    def over(self, buffer: Buffer) -> Labels:
        """Return the labels of now of the buffer's words: these, and the buffer's own before them."""
        seam = max(self.first - buffer.start, buffer.frozen)
        return buffer.labels.continued(seam, self.labels.part(buffer.start + seam - self.first))
