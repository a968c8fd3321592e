"""The tracer of a worker without traces: it reads, stores and writes no trace context."""

from __future__ import annotations

from typing_extensions import override

from caesura.worker.core.decoding.segment_writer import OutSegment
from caesura.worker.ports.records import Record
from caesura.worker.ports.tracer import SegmentSpan, Tracer


class Untraced(Tracer):
    """Traces nothing."""

    @override
    def context_of(self, record: Record) -> str:
        """Return no context."""
        del record
        return ""

    @override
    def begin(self, out: OutSegment) -> SegmentSpan:
        """Do nothing."""
        del out
        return _NO_SPAN


class _NoSpan(SegmentSpan):
    """The span of a segment that is not traced."""

    @property
    @override
    def headers(self) -> tuple[tuple[str, bytes], ...]:
        """Return no headers."""
        return ()

    @override
    def end(self, wall_ms: int) -> None:
        """Do nothing."""


_NO_SPAN = _NoSpan()
