"""Segments and unfrozen words with their text, as the server tells them: no client needs to know how to write."""

from __future__ import annotations

from schemas.segments import Segment
from schemas.tentative import Tentative
from worker.core.cleaning import Cleaning
from worker.core.rendering import Style, render_segment, render_tentative
from worker.service.messages import SegmentMessage, TentativeMessage

__all__ = ["segment_message", "tentative_message"]


def segment_message(segment: Segment, cleaning: Cleaning) -> SegmentMessage:
    """Return a segment with its renderings. cleaning: what the fluent one leaves out."""
    marked = render_segment(segment, Style.MARKED)
    fluent = render_segment(segment, Style.FLUENT, cleaning=cleaning)
    return SegmentMessage(text=fluent.text, marked=marked.text, spans=marked.spans, segment=segment)


def tentative_message(tentative: Tentative) -> TentativeMessage:
    """Return unfrozen words with their rendering of now."""
    marked = render_tentative(tentative)
    return TentativeMessage(marked=marked.text, spans=marked.spans, tentative=tentative)
