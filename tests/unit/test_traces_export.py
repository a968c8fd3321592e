"""Spans over the wire: what a collector gets by OTLP, and what becomes of the worker where there is none."""

from __future__ import annotations

import pytest

from caesura.worker.app import opened_tracer
from caesura.worker.runtime.settings.settings import RuntimeSettings, Traces
from tests.harness.collector import collecting
from tests.harness.in_memory_world import World
from tests.harness.speech import check_every_word_once, speech
from tests.harness.tracing import PATIENT

CANARY = "zwieselhausen"
SETTINGS = RuntimeSettings(deployment="blue", traces=Traces.OTLP)


def test_spans_arrive_at_the_collector_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(rules=PATIENT)
    events = speech(CANARY, 40)
    world.send(*events)
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint)
        with opened_tracer(SETTINGS) as tracer:
            world.worker(tracer=tracer).settle()
    assert {path for path, _ in collector.posted} == {"/v1/traces"}
    body = b"".join(body for _, body in collector.posted)
    assert body.count(b"process asr.words") == len(world.segments())
    assert b"blue-0" in body
    assert CANARY.encode() not in body


def test_a_collector_that_is_away_costs_spans_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(rules=PATIENT)
    events = speech("ann", 40)
    world.send(*events)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with opened_tracer(SETTINGS) as tracer:
        world.worker(tracer=tracer).settle()
    check_every_word_once(events, world.segments())


def test_opentelemetrys_own_names_win_over_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(rules=PATIENT)
    world.send(*speech("ann", 40))
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint)
        monkeypatch.setenv("OTEL_SERVICE_NAME", "captions-of-the-hall")
        with opened_tracer(SETTINGS) as tracer:
            world.worker(tracer=tracer).settle()
    assert b"captions-of-the-hall" in b"".join(body for _, body in collector.posted)
