"""Segments and unfrozen words with their text, as the server tells them: no client needs to know how to write."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from caesura.schemas.segments import Segment
from caesura.schemas.tentative import Tentative
from caesura.worker.core.overlays.beside import NOTHING_BESIDE, Beside
from caesura.worker.core.overlays.redaction import NO_REDACTION, Redaction, without_own_words
from caesura.worker.core.overlays.rules import OverlayRules
from caesura.worker.core.rendering.cleaning import Cleaning
from caesura.worker.core.rendering.rendering import Style, render_segment, render_tentative
from caesura.worker.service.server.messages import SegmentMessage, TentativeMessage
from caesura.worker.settings.tree import LocalSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedTexts:
    """Renders what is served.

    cleaning: what the fluent text leaves out. overlays: what is written otherwise. redaction: what no message carries.
    """

    cleaning: Cleaning
    overlays: OverlayRules
    redaction: Redaction = NO_REDACTION

    def redacting(self, redaction: Redaction) -> ServedTexts:
        """Return these texts with another redaction."""
        return replace(self, redaction=redaction)

    def segment(self, segment: Segment, beside: Beside = NOTHING_BESIDE) -> SegmentMessage:
        """Return a segment with its renderings. beside: the words around its own, as far as they are known."""
        shown: Collection[int] = ()
        if self.redaction:
            segment, shown = self.redaction.segment(segment, beside)
        marked = render_segment(segment, Style.MARKED, overlays=self.overlays, redacted=shown)
        fluent = render_segment(segment, Style.FLUENT, cleaning=self.cleaning, overlays=self.overlays, redacted=shown)
        if self.redaction:
            segment = without_own_words(segment)
        return SegmentMessage(text=fluent.text, marked=marked.text, spans=marked.spans, segment=segment)

    def tentative(self, tentative: Tentative, before: tuple[str, ...] = ()) -> TentativeMessage:
        """Return unfrozen words with their rendering of now. before: the model's view of frozen words before them."""
        shown: Collection[int] = ()
        if self.redaction:
            tentative, shown = self.redaction.tentative(tentative, before)
        marked = render_tentative(tentative, self.overlays, shown)
        return TentativeMessage(marked=marked.text, spans=marked.spans, tentative=tentative)


def served_texts(settings: LocalSettings) -> ServedTexts:
    """Return what renders by an operator's settings."""
    worker = settings.worker
    redaction = worker.redaction(settings.serve.redact)
    return ServedTexts(cleaning=worker.cleaning(), overlays=worker.overlays(), redaction=redaction)
