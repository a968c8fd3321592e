"""Traces, from a record to the segments that its words end in."""

from __future__ import annotations

from typing import Protocol

from caesura.worker.core.decoding.segment_writer import OutSegment
from caesura.worker.ports.records import Record


class SegmentSpan(Protocol):
    """The span of a segment that is staged; one that is never ended was never there."""

    @property
    def headers(self) -> tuple[tuple[str, bytes], ...]:
        """Return what the segment's records carry, so that their readers go on with the trace."""
        ...

    def end(self, wall_ms: int) -> None:
        """Note that the segment's checkpoint has committed. Neither blocks nor raises."""
        ...


class Tracer(Protocol):
    """Traces segments back to their events. Neither blocks nor raises: a trace is never worth a segment."""

    def context_of(self, record: Record) -> str:
        """Return a record's trace context, opaque and at most 64 characters long; empty: it has none."""
        ...

    def begin(self, out: OutSegment) -> SegmentSpan:
        """Begin the span of a segment that is staged, linked to its events' contexts."""
        ...
