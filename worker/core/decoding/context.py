"""What all sessions of a partition share, and where an event came from."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from caesura.schemas.events import Word
from caesura.schemas.state import ModelWordPiece
from caesura.worker.core.decoding.decoding_counts import DecodingCounts
from caesura.worker.core.language.rules import DecodingRules, ModelTable
from caesura.worker.core.language.words import SegmenterFactory, whitespace_segmenters

NO_LIMIT = 2**62


@dataclass(slots=True)
class SegmentLimit:
    """How many words a segment may have now: fewer where a broker refused a longer one."""

    words: int = NO_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingContext:
    """Rules, models and segmenters of a worker, the input partition, and where its sessions count what they do.

    looks_ahead: whether a step asks for labels that it cannot use yet, for those who show unfrozen words
    (``tentative``); it changes no frozen label. limit: of a segment's words.
    """

    topic: str
    partition: int
    rules: DecodingRules = field(default_factory=DecodingRules)
    models: ModelTable = field(default_factory=ModelTable)
    segmenters: SegmenterFactory = whitespace_segmenters
    counts: DecodingCounts = field(default_factory=DecodingCounts)
    looks_ahead: bool = False
    limit: SegmentLimit = field(default_factory=SegmentLimit)


class Origin(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where an event stood in the input. appended_ms, polled_ms: wall clock. time_ms: partition time it brought.

    trace: the event's trace context, opaque here; empty where it has none, or traces are off.
    """

    offset: int
    appended_ms: int
    polled_ms: int
    time_ms: int
    trace: str = ""

    def unit(self, word: Word, position: int) -> ModelWordPiece:
        """Return the event's word at ``position`` as a unit that knows where it came from: a piece that is whole."""
        return ModelWordPiece(
            text=word.text,
            start_ms=word.start_ms,
            end_ms=word.end_ms,
            confidence=word.confidence,
            offset=self.offset,
            position=position,
            appended_ms=self.appended_ms,
            polled_ms=self.polled_ms,
            unit_start=0,
            unit_length=len(word.text),
        )
