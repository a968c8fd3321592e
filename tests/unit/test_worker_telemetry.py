"""Spans over the wire: what a collector gets by OTLP, and what becomes of the worker where there is none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.worker.app import health_of, opened_tracer, warm_engine
from caesura.worker.runtime.settings.settings import RuntimeSettings, Traces
from caesura.worker.settings.tree import Settings, SettingSources, load_settings
from tests.harness.collector import collecting
from tests.harness.in_memory_world import ManualClock, World
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


_LATEST_BEAT_S = 1.0
"""The engine's process beats once a second while it labels."""


def worker_settings(**variables: str) -> Settings:
    away = {"CAESURA_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9"}
    return load_settings(SettingSources(environ=away | {f"CAESURA_{name}": value for name, value in variables.items()}))


@settings(max_examples=25)
@given(deadline_ms=st.integers(100, 600_000), interval_ms=st.integers(10_000, 3_600_000))
def test_no_inference_within_its_deadline_makes_liveness_fail(deadline_ms: int, interval_ms: int) -> None:
    clock = ManualClock()
    allowed = worker_settings(
        WORKER_INFERENCE_DEADLINE_MS=str(deadline_ms), KAFKA_MAX_POLL_INTERVAL_MS=str(interval_ms)
    )
    health = health_of(allowed, clock)
    health.loop_moved()
    health.went_on()
    clock.pass_s(deadline_ms / 1000.0 + _LATEST_BEAT_S)
    assert health.why_not_alive() == ()
    clock.pass_s(3600.0)
    assert health.why_not_alive() != ()


def test_a_turn_that_goes_on_is_alive_as_long_as_the_group_waits_for_it() -> None:
    clock = ManualClock()
    health = health_of(worker_settings(KAFKA_MAX_POLL_INTERVAL_MS="300000"), clock)
    health.loop_moved()
    for _ in range(15):
        clock.pass_s(20.0)
        health.went_on()
        assert health.why_not_alive() == ()
    clock.pass_s(1.0)
    assert health.why_not_alive() == ("a turn of the loop has taken 301 s",)


@pytest.mark.slow
def test_the_liveness_probe_knows_of_running_inferences() -> None:
    told: list[str] = []
    engine = warm_engine(worker_settings().worker, lambda: told.append("alive"))
    engine.label([])
    assert told == ["alive"]
    engine.close()
