"""What all sessions of a partition share, and where an event came from."""

from __future__ import annotations

from dataclasses import dataclass, field

from worker.core.rules import DecodingRules, ModelTable
from worker.core.tally import Tally
from worker.core.words import SegmenterFactory, whitespace_segmenters

__all__ = ["DecodingContext", "Origin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingContext:
    """Rules, models and segmenters of a worker, the input partition, and where its sessions count what they do."""

    topic: str
    partition: int
    rules: DecodingRules = field(default_factory=DecodingRules)
    models: ModelTable = field(default_factory=ModelTable)
    segmenters: SegmenterFactory = whitespace_segmenters
    tally: Tally = field(default_factory=Tally)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where an event stood in the input. appended_ms, polled_ms: wall clock. time_ms: partition time it brought."""

    offset: int
    appended_ms: int
    polled_ms: int
    time_ms: int
