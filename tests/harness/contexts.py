"""A tracer that finds a context in every event and traces nothing: what a session stores is then not empty."""

from __future__ import annotations

from caesura.worker.core.decoding.segment_writer import OutSegment
from caesura.worker.ports.records import Record
from caesura.worker.ports.tracer import SegmentSpan
from caesura.worker.runtime.settings.untraced import Untraced


class ContextsOnly:
    """Makes an event's context of its offset, in the shape of a ``traceparent``; no segment gets a header."""

    def context_of(self, record: Record) -> str:
        """Return the context that the event did not bring."""
        return f"00-{record.offset + 1:032x}-{record.partition + 1:016x}-01"

    def begin(self, out: OutSegment) -> SegmentSpan:
        """Begin nothing."""
        return Untraced().begin(out)
