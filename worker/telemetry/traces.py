"""Spans of published segments, by OpenTelemetry: one for each segment, with links to the events of its words.

Rules:

1. A span starts when the record of the segment's last word is polled, and ends when its checkpoint has committed. If
   the checkpoint does not commit, nothing is exported.
2. The segment's records carry the span's context in the header ``traceparent``.
3. No attribute has text from an event, or the session's name: ``since`` and ``index`` identify the segment.
4. Attributes follow the semantic conventions for messaging (1.37 and later) where they have one.

A thread of the SDK exports spans. If it cannot keep up, spans are dropped and words do not wait. This module is
imported only if traces are on.
"""

from __future__ import annotations

import os
import re

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.environment_variables import OTEL_SPAN_LINK_COUNT_LIMIT
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, TraceFlags
from opentelemetry.util.types import AttributeValue
from typing_extensions import override

from caesura.schemas.segments import Segment
from caesura.worker.core.decoding.segment_writer import OutSegment
from caesura.worker.ports.records import Record
from caesura.worker.ports.tracer import SegmentSpan, Tracer

TRACE_HEADER = "traceparent"
"""The record header that carries a W3C trace context, in and out."""

_MOST_LINKS = 1024
_NS_A_MS = 1_000_000
_CONTEXT = re.compile(
    rb"(?!ff)(?P<version>[0-9a-f]{2})(?P<rest>-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(?P<more>-.*)?",
    re.DOTALL,
)


def otlp_processor() -> SpanProcessor:
    """Return what exports spans by OTLP over HTTP; the variables of OpenTelemetry (``OTEL_...``) say where to."""
    return BatchSpanProcessor(OTLPSpanExporter())


class SegmentTracer(Tracer):
    """Traces the segments of one worker (``caesura.worker.ports.tracer.Tracer``).

    instance: the worker's name among those of its deployment, which is ``group``.
    """

    def __init__(self, processor: SpanProcessor, *, topic: str, group: str, instance: str) -> None:
        own = {"service.name": "caesura", "service.namespace": group, "service.instance.id": instance}
        resource = Resource.create({**own, **OTELResourceDetector().detect().attributes})
        # A segment has more events than the SDK's own limit of links where events are short; all of them are wanted.
        limits = SpanLimits(max_links=None if OTEL_SPAN_LINK_COUNT_LIMIT in os.environ else _MOST_LINKS)
        self._provider = TracerProvider(resource=resource, span_limits=limits, shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("caesura")
        self._name = f"process {topic}"
        self._fixed: dict[str, AttributeValue] = {
            "messaging.system": "kafka",
            "messaging.operation.name": "process",
            "messaging.operation.type": "process",
            "messaging.destination.name": topic,
            "messaging.consumer.group.name": group,
            "messaging.client.id": instance,
        }

    @override
    def context_of(self, record: Record) -> str:
        """Return a record's trace context as ``traceparent`` of version 00; empty where it has not exactly one."""
        given = [value for name, value in record.headers if name.lower() == TRACE_HEADER]
        match = _CONTEXT.fullmatch(given[0] or b"") if len(given) == 1 else None
        if match is None or (match["version"] == b"00" and match["more"] is not None):
            return ""
        return "00" + match["rest"].decode()

    @override
    def begin(self, out: OutSegment) -> _TracedSegment:
        segment = out.segment
        span = self._tracer.start_span(
            self._name,
            kind=SpanKind.CONSUMER,
            attributes={**self._fixed, **_attributes(segment)},
            links=[Link(_span_context(trace)) for trace in dict.fromkeys(out.traces)],
            start_time=_start_ms(segment) * _NS_A_MS,
        )
        span.add_event("frozen", timestamp=segment.timing.frozen_ms * _NS_A_MS)
        return _TracedSegment(span)

    def close(self) -> None:
        """Export what is left, and stop; blocks at most about the exporter's time-out."""
        self._provider.shutdown()


class _TracedSegment(SegmentSpan):
    """A segment's span between staging and commit."""

    def __init__(self, span: Span) -> None:
        self._span = span
        context = span.get_span_context()
        self._headers = ((TRACE_HEADER, _as_header(context)),) if context.is_valid else ()

    @property
    @override
    def headers(self) -> tuple[tuple[str, bytes], ...]:
        return self._headers

    @override
    def end(self, wall_ms: int) -> None:
        self._span.end(end_time=wall_ms * _NS_A_MS)


def _start_ms(segment: Segment) -> int:
    """Return when the last word was polled; a rebuild knows when it was appended, and not even that of every topic."""
    timing = segment.timing
    return timing.polled_ms if timing.polled_ms > 0 else timing.frozen_ms


def _attributes(segment: Segment) -> dict[str, AttributeValue]:
    found: dict[str, AttributeValue] = {
        "messaging.destination.partition.id": str(segment.source.partition),
        "caesura.source.first_offset": segment.source.first_offset,
        "caesura.source.last_offset": segment.source.last_offset,
        "caesura.segment.since": segment.since,
        "caesura.segment.index": segment.index,
        "caesura.segment.words": len(segment.words),
        "caesura.segment.cause": str(segment.cause),
        "caesura.segment.session_end": segment.session_end,
    }
    if segment.model is not None:
        found["caesura.model.id"] = segment.model.id
        found["caesura.model.version"] = segment.model.version
    return found


def _span_context(trace: str) -> SpanContext:
    _, trace_id, span_id, flags = trace.split("-")
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=TraceFlags(int(flags, 16)))


def _as_header(context: SpanContext) -> bytes:
    return b"00-%032x-%016x-%02x" % (context.trace_id, context.span_id, context.trace_flags)
