"""Traces of the command on a real Kafka and Redis: read by OpenTelemetry's own types, sent on by its own Collector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from caesura.schemas.events import WordsEvent
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.topic_reader import KafkaReader, Start
from caesura.worker.ports.records import Record
from tests.harness.collector import Collector, collecting
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.opentelemetry_collector import forwarding
from tests.harness.rehearsal import Rehearsal
from tests.harness.speech import speech
from tests.harness.tracing import context, events_of, header, segment_of
from tests.harness.waiting import wait_until
from tests.integration.sessions import send_with_contexts


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


pytestmark = pytest.mark.timeout(300)
_CANARY = "zwieselhausen"
_CONSUMER = 5
"""SpanKind of OTLP."""


@contextmanager
def _receiver(way: str, folder: Path) -> Iterator[tuple[Collector, str]]:
    """Yield what spans end up at, and the endpoint that the worker is told."""
    with collecting() as collector:
        if way == "straight":
            yield collector, collector.endpoint
            return
        with forwarding(collector.endpoint, folder) as endpoint:
            yield collector, endpoint


def _records(rehearsal: Rehearsal) -> list[Record]:
    settings = KafkaSettings(bootstrap_servers=rehearsal.kafka.bootstrap, group_id=f"{rehearsal.deployment}-outside")
    with KafkaReader(settings, rehearsal.topic("asr.segments")) as reader:
        return list(reader.read(Start(), follow=False))


@pytest.mark.parametrize("way", ["straight", "through an OpenTelemetry Collector"])
def test_every_segment_leads_to_its_words_events_across_a_crash(
    kafka: Kafka, redis_url: str, deployment: str, tmp_path: Path, way: str
) -> None:
    rehearsal = Rehearsal(kafka, redis_url, deployment, tmp_path)
    rehearsal.make_topics()
    events = _speech(60)
    half = len(events) // 2
    with _receiver(way, tmp_path) as (collector, endpoint):
        rehearsal.changes = {
            # Words wait for their utterance's end, however long the crash takes.
            "CAESURA_DECODING_FLUSH_AFTER_MS": "240000",
            "CAESURA_DECODING_STALL_AFTER_MS": "240000",
            "CAESURA_WORKER_TRACES": "otlp",
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }
        with rehearsal.worker() as first:
            first.wait_until_ready()
            send_with_contexts(rehearsal, events[:half], baggage=_CANARY)
            wait_until(lambda: rehearsal.committed() == half, first.tail)
            wait_until(lambda: bool(collector.posted), first.tail)
            first.process.kill()
        with rehearsal.worker() as second:
            second.wait_until_ready()
            send_with_contexts(rehearsal, events[half:], start=half, baggage=_CANARY)
            wait_until(lambda: rehearsal.committed() == len(events), second.tail)
        bodies = [body for _, body in collector.posted]
    spans = {span.context: span for span in received(bodies)}
    records = _records(rehearsal)
    assert _numbers(header(one) for one in records) == list(spans)
    links = [list(span.links) for span in spans.values()]
    assert links == [_numbers(events_of(segment_of(one), events)) for one in records]
    both = set(_numbers([context(half - 1), context(half)]))
    assert any(both <= set(one) for one in links), "one has events of before and after the crash"
    for span, record in zip(spans.values(), records, strict=True):
        assert (span.name, span.kind, span.parent) == (f"process {rehearsal.topic('asr.words')}", _CONSUMER, b"")
        assert _messaging(span) == _conventions(rehearsal, record)
    assert _CANARY.encode() not in b"".join(bodies)


def _speech(words: int) -> list[WordsEvent]:
    """Return a session of which name and words hold the canary; every fifth event ends an utterance."""
    spoken = [f"{_CANARY}{number}" if number % 4 == 2 else f"word{number}" for number in range(words)]
    events = speech(f"{_CANARY}-session", spoken)
    return [msgspec.structs.replace(one, utterance_end=number % 5 == 4) for number, one in enumerate(events)]


def _numbers(contexts: Iterable[str]) -> list[str]:
    """Return the trace's and the span's number of each ``traceparent``; exporters do not all send its flags."""
    return ["-".join(one.split("-")[1:3]) for one in contexts]


def _messaging(span: Received) -> dict[str, object]:
    return {name: value for name, value in span.attributes.items() if name.startswith("messaging.")}


def _conventions(rehearsal: Rehearsal, record: Record) -> dict[str, object]:
    """Return what OpenTelemetry's conventions for messaging call what the span is about."""
    return {
        "messaging.system": "kafka",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": rehearsal.topic("asr.words"),
        "messaging.destination.partition.id": str(record.partition),
        "messaging.consumer.group.name": rehearsal.deployment,
        "messaging.client.id": f"{rehearsal.deployment}-0",
    }
