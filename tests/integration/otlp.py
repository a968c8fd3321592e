"""What was posted to a receiver of OTLP, read with OpenTelemetry's own protobuf types."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

__all__ = ["Received", "received"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One span as it arrived; contexts are written as in ``traceparent``, its two numbers alone."""

    name: str
    kind: int
    parent: bytes
    context: str
    links: tuple[str, ...]
    attributes: dict[str, str | int | bool]
    resource: dict[str, str | int | bool]
    events: tuple[str, ...]
    lasted_ns: int


def received(bodies: Iterable[bytes]) -> list[Received]:
    """Return the spans of all export requests, in the order in which they were posted."""
    found = []
    for body in bodies:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            about = _values(resource.resource.attributes)
            found += [_read(span, about) for scope in resource.scope_spans for span in scope.spans]
    return found


def _read(span: Span, resource: dict[str, str | int | bool]) -> Received:
    return Received(
        name=span.name,
        kind=span.kind,
        parent=span.parent_span_id,
        context=_context(span),
        links=tuple(_context(link) for link in span.links),
        attributes=_values(span.attributes),
        resource=resource,
        events=tuple(event.name for event in span.events),
        lasted_ns=span.end_time_unix_nano - span.start_time_unix_nano,
    )


def _context(one: Span | Span.Link) -> str:
    return f"{one.trace_id.hex()}-{one.span_id.hex()}"


def _values(attributes: Iterable[KeyValue]) -> dict[str, str | int | bool]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value") or "string_value") for one in attributes}
