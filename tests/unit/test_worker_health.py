"""A worker's health as its settings make it: what it is allowed to wait for is no reason to restart it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.app import health_of, warm_engine
from caesura.worker.settings.tree import Settings, SettingSources, load_settings
from tests.harness.in_memory_world import ManualClock

_LATEST_BEAT_S = 1.0
"""The engine's process beats once a second while it labels."""


def settings(**variables: str) -> Settings:
    away = {"CAESURA_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9"}
    return load_settings(SettingSources(environ=away | {f"CAESURA_{name}": value for name, value in variables.items()}))


@given(deadline_ms=st.integers(100, 600_000), interval_ms=st.integers(10_000, 3_600_000))
def test_no_inference_within_its_deadline_makes_liveness_fail(deadline_ms: int, interval_ms: int) -> None:
    clock = ManualClock()
    allowed = settings(WORKER_INFERENCE_DEADLINE_MS=str(deadline_ms), KAFKA_MAX_POLL_INTERVAL_MS=str(interval_ms))
    health = health_of(allowed, clock)
    health.loop_moved()
    health.went_on()
    clock.pass_s(deadline_ms / 1000.0 + _LATEST_BEAT_S)
    assert health.why_not_alive() == ()
    clock.pass_s(3600.0)
    assert health.why_not_alive() != ()


def test_a_turn_that_goes_on_is_alive_as_long_as_the_group_waits_for_it() -> None:
    clock = ManualClock()
    health = health_of(settings(KAFKA_MAX_POLL_INTERVAL_MS="300000"), clock)
    health.loop_moved()
    for _ in range(15):
        clock.pass_s(20.0)
        health.went_on()
        assert health.why_not_alive() == ()
    clock.pass_s(1.0)
    assert health.why_not_alive() == ("a turn of the loop has taken 301 s",)


def test_a_workers_inferences_are_told_of_to_whoever_asks_whether_it_lives() -> None:
    told: list[str] = []
    engine = warm_engine(settings().worker, lambda: told.append("alive"))
    engine.label([])
    assert told == ["alive"]
    engine.close()
