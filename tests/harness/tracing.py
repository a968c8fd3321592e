"""Twins whose segments are traced, and what was exported of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from caesura.schemas.codec import decode_segment, encode_event
from caesura.schemas.events import WordsEvent
from caesura.schemas.segments import Segment
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.records import Record
from caesura.worker.telemetry.traces import TRACE_HEADER, SegmentTracer
from tests.harness.in_memory_world import World

PATIENT = DecodingRules(flush_after_ms=10_000, stall_after_ms=10_000, routes=frozenset({"de"}))


def context(number: int) -> str:
    """Return the trace context that a producer gave its event of this number."""
    return f"00-{number + 1:032x}-{number + 0x100:016x}-01"


@dataclass
class Traced:
    """A world and the spans of its workers."""

    world: World = field(default_factory=lambda: World(rules=PATIENT))
    exporter: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    def tracer(self, ordinal: int = 0) -> SegmentTracer:
        return SegmentTracer(
            SimpleSpanProcessor(self.exporter), topic="asr.words", group="caesura", instance=f"caesura-{ordinal}"
        )

    def send(self, events: Iterable[WordsEvent], *, start: int = 0) -> None:
        """Append events, each with a context of its own, numbered from ``start``."""
        for number, one in enumerate(events, start=start):
            send(self.world, one, (TRACE_HEADER, context(number).encode()))


def send(world: World, event: WordsEvent, *headers: tuple[str, bytes | None]) -> None:
    """Append an event with headers to a world of one partition."""
    key = event.session.encode()
    world.broker.append("asr.words", 0, encode_event(event), key=key, headers=headers)


def linked(span: ReadableSpan) -> list[str]:
    """Return the contexts that a span links, as headers."""
    return [
        f"00-{link.context.trace_id:032x}-{link.context.span_id:016x}-{link.context.trace_flags:02x}"
        for link in span.links
    ]


def own(span: ReadableSpan) -> str:
    """Return a span's own context, as a header."""
    found = span.get_span_context()
    assert found is not None
    return f"00-{found.trace_id:032x}-{found.span_id:016x}-{found.trace_flags:02x}"


def header(record: Record) -> str:
    """Return the context that a record hands on."""
    (value,) = [value for name, value in record.headers if name == TRACE_HEADER]
    assert value is not None
    return value.decode()


def segment_of(record: Record) -> Segment:
    """Return the segment that a record holds."""
    return decode_segment(record.value or b"")


def events_of(segment: Segment, events: Sequence[WordsEvent]) -> list[str]:
    """Return the contexts of the events that a segment's words came in, and of the one that ended the session."""
    ends = list(accumulate(len(one.words) for one in events))
    first, end = segment.first_word, segment.first_word + len(segment.words)
    found = [
        number
        for number, (one, its_end) in enumerate(zip(events, ends, strict=True))
        if one.words and its_end - len(one.words) < end and its_end > first
    ]
    if segment.session_end:
        found.append(len(events) - 1)
    return [context(number) for number in found]
