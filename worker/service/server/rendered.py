"""Segments and unfrozen words with their text, as the server tells them: no client needs to know how to write."""

from __future__ import annotations

from dataclasses import dataclass

from caesura.schemas.segments import Segment
from caesura.schemas.tentative import Tentative
from caesura.worker.core.overlays.rules import OverlayRules
from caesura.worker.core.rendering.cleaning import Cleaning
from caesura.worker.core.rendering.rendering import Style, render_segment, render_tentative
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.service.server.messages import SegmentMessage, TentativeMessage

__all__ = ["ServedTexts", "served_texts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedTexts:
    """Renders what is served. cleaning: what the fluent text leaves out. overlays: what is written otherwise."""

    cleaning: Cleaning
    overlays: OverlayRules

    def segment(self, segment: Segment) -> SegmentMessage:
        """Return a segment with its renderings."""
        marked = render_segment(segment, Style.MARKED, overlays=self.overlays)
        fluent = render_segment(segment, Style.FLUENT, cleaning=self.cleaning, overlays=self.overlays)
        return SegmentMessage(text=fluent.text, marked=marked.text, spans=marked.spans, segment=segment)

    def tentative(self, tentative: Tentative) -> TentativeMessage:
        """Return unfrozen words with their rendering of now."""
        marked = render_tentative(tentative, self.overlays)
        return TentativeMessage(marked=marked.text, spans=marked.spans, tentative=tentative)


def served_texts(worker: RuntimeSettings) -> ServedTexts:
    """Return what renders by an operator's settings."""
    return ServedTexts(cleaning=worker.cleaning(), overlays=worker.overlays())
