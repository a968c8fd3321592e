"""The worker on twins with traces: every published segment leads back to the events that its words came in."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from opentelemetry.trace import SpanKind

from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from tests.harness.in_memory_world import World
from tests.harness.places import ROOT
from tests.harness.speech import check_every_word_once, event, speech
from tests.harness.tracing import PATIENT, Traced, context, events_of, header, linked, own, segment_of, send
from tests.harness.unsure import Plan, UnsurePublisher

CANARY = "zwieselhausen"


def test_a_segments_span_links_all_events_that_its_words_came_in() -> None:
    traced, events = Traced(), speech("ann", 60)
    traced.send(events)
    traced.world.worker(tracer=traced.tracer()).settle()
    segments = traced.world.segments()
    assert len(segments) > 3
    assert [linked(span) for span in traced.spans] == [events_of(one, events) for one in segments]


def test_the_spans_context_goes_on_in_the_headers_of_segments_and_routes() -> None:
    traced = Traced()
    events = [event("ann", 0, *(f"w{n}" for n in range(40)), targets=("de",)), event("ann", 1, session_end=True)]
    traced.send(events)
    traced.world.worker(tracer=traced.tracer()).settle()
    contexts = [own(span) for span in traced.spans]
    assert [header(one) for one in traced.world.records("asr.segments")] == contexts
    assert [header(one) for one in traced.world.records("translate.de")] == contexts
    assert len(set(contexts)) == len(contexts)


def test_links_of_words_that_wait_survive_hand_overs() -> None:
    traced, events = Traced(), speech("ann", 60)
    for ordinal, start in enumerate(range(0, len(events), 2)):
        traced.send(events[start : start + 2], start=start)
        worker = traced.world.worker(ordinal, tracer=traced.tracer(ordinal))
        worker.settle()
        worker.worker.drain()
    assert [linked(span) for span in traced.spans] == [events_of(one, events) for one in traced.world.segments()]


def test_what_does_not_commit_is_not_exported_and_links_are_found_again() -> None:
    traced, events = Traced(), speech("ann", 60)
    plans = [Plan.ABORTS, Plan.NEVER_COMMITS, Plan.ABORTS]
    worker = traced.world.worker(tracer=traced.tracer(), around=lambda sure: UnsurePublisher(sure, *plans))
    for start in range(0, len(events), 4):
        traced.send(events[start : start + 4], start=start)
        worker.settle()
    worker.settle()
    check_every_word_once(events, traced.world.segments())
    records = traced.world.records("asr.segments")
    assert [own(span) for span in traced.spans] == [header(one) for one in records]
    assert [linked(span) for span in traced.spans] == [events_of(segment_of(one), events) for one in records]


def test_a_loss_of_redis_loses_contexts_of_words_that_waited_and_nothing_else() -> None:
    traced, events = Traced(), speech("ann", 60)
    worker = traced.world.worker(tracer=traced.tracer())
    traced.send(events[:8])
    worker.settle()
    traced.world.redis.lose_everything()
    traced.send(events[8:], start=8)
    worker.settle()
    check_every_word_once(events, traced.world.segments())
    expected = [events_of(one, events) for one in traced.world.segments()]
    found = [linked(span) for span in traced.spans]
    assert all(set(some) <= set(every) for some, every in zip(found, expected, strict=True))
    assert found[-1] == expected[-1]


def test_no_said_word_and_no_sessions_name_is_in_a_span_or_in_a_header() -> None:
    traced, name = Traced(), f"{CANARY}-session"
    said = event(name, 0, *(f"{CANARY}{n}" for n in range(30)), targets=("de",), lang="en-x-zwiesel")
    stray = ("traceparent", f"00-{CANARY}-01".encode())
    send(traced.world, said, ("tracestate", CANARY.encode()), ("baggage", CANARY.encode()), stray)
    traced.send([event(name, 1, CANARY, session_end=True)], start=1)
    traced.world.worker(tracer=traced.tracer()).settle()
    assert traced.spans
    assert "zwiesel" not in "".join(span.to_json() for span in traced.spans)
    records = [*traced.world.records("asr.segments"), *traced.world.records("translate.de")]
    assert all(CANARY.encode() not in (value or b"") for one in records for _, value in one.headers)


def test_a_span_lasts_from_the_poll_of_its_last_word_to_the_commit() -> None:
    traced = Traced()
    traced.send(speech("ann", 30))
    traced.world.worker(tracer=traced.tracer()).settle()
    assert traced.spans
    for span, segment in zip(traced.spans, traced.world.segments(), strict=True):
        assert span.start_time == segment.timing.polled_ms * 1_000_000
        assert [one.timestamp for one in span.events] == [segment.timing.frozen_ms * 1_000_000]
        assert span.end_time is not None
        assert segment.timing.frozen_ms * 1_000_000 <= span.end_time <= traced.world.clock.wall_ms() * 1_000_000


def test_a_span_speaks_the_conventions_for_messaging() -> None:
    traced = Traced()
    traced.send(speech("ann", 30))
    traced.world.worker(tracer=traced.tracer()).settle()
    span = traced.spans[0]
    assert (span.name, span.kind, span.parent) == ("process asr.words", SpanKind.CONSUMER, None)
    attributes = json.loads(span.to_json())["attributes"]
    assert {name: value for name, value in attributes.items() if name.startswith("messaging.")} == {
        "messaging.system": "kafka",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": "asr.words",
        "messaging.destination.partition.id": "0",
        "messaging.consumer.group.name": "caesura",
        "messaging.client.id": "caesura-0",
    }
    assert span.resource.attributes["service.name"] == "caesura"


def _output(world: World) -> dict[str, list[bytes | None]]:
    topics = ("asr.segments", "translate.de", "asr.words.dead")
    return {topic: [one.value for one in world.records(topic)] for topic in topics}


def test_traces_change_no_published_byte() -> None:
    traced, untraced = Traced(), World(rules=PATIENT)
    events = speech("ann", 50)
    for number, one in enumerate(events):
        send(untraced, one, ("traceparent", context(number).encode()))
    traced.send(events)
    traced.world.worker(tracer=traced.tracer()).settle()
    untraced.worker().settle()
    assert _output(traced.world) == _output(untraced)
    assert all(one.headers == () for one in untraced.records("asr.segments"))


def test_a_worker_without_traces_goes_on_with_a_session_that_has_contexts() -> None:
    traced, events = Traced(), speech("ann", 50)
    traced.send(events[:6])
    first = traced.world.worker(0, tracer=traced.tracer())
    first.settle()
    first.worker.drain()
    traced.send(events[6:], start=6)
    traced.world.worker(1).settle()
    check_every_word_once(events, traced.world.segments())


_NOT_INSTALLED = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "opentelemetry":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
from caesura.worker.app import opened_tracer
from caesura.worker.commands import worker
from caesura.worker.errors import FatalError
from caesura.worker.runtime.settings.settings import RuntimeSettings, Traces
from tests.harness.speech import speech
from tests.harness.in_memory_world import World
world = World()
world.send(*speech("ann", 30))
with opened_tracer(RuntimeSettings()) as tracer:
    world.worker(tracer=tracer).settle()
print(len(world.segments()) > 1, "caesura.worker.telemetry.traces" in sys.modules)
try:
    with opened_tracer(RuntimeSettings(traces=Traces.OTLP)):
        pass
except FatalError as error:
    print(error)
"""


@pytest.mark.slow
def test_opentelemetry_is_imported_for_traces_alone_and_named_where_it_is_missing() -> None:
    command = [sys.executable, "-c", _NOT_INSTALLED]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True False\nworker.traces needs the extra traces: no module opentelemetry\n"


@pytest.mark.parametrize(("limit", "links"), [(None, 201), ("5", 5)])
def test_all_events_of_a_long_segment_are_linked_unless_limited(
    monkeypatch: pytest.MonkeyPatch, limit: str | None, links: int
) -> None:
    monkeypatch.delenv("OTEL_SPAN_LINK_COUNT_LIMIT", raising=False)
    if limit is not None:
        monkeypatch.setenv("OTEL_SPAN_LINK_COUNT_LIMIT", limit)
    traced = Traced(World(rules=replace(PATIENT, max_buffer_words=300)))
    traced.send([*(event("ann", number, "word") for number in range(200)), event("ann", 200, session_end=True)])
    traced.world.worker(tracer=traced.tracer(), engine=ScriptedEngine(script=marked_words)).settle()
    assert [len(span.links) for span in traced.spans] == [links]
