"""A Redis that does not answer holds up no word, and the worker stays ready: only the next claim is slower."""

from __future__ import annotations

import io

from caesura.worker.telemetry.health import Health
from caesura.worker.telemetry.log import make_log
from caesura.worker.telemetry.metrics import Metrics
from caesura.worker.telemetry.observer import TelemetryObserver
from tests.harness.in_memory_world import World
from tests.harness.rebuilds import Rebuilds
from tests.harness.speech import check_every_word_once, event, speech

_PARTITIONS = 20


def _watched() -> tuple[World, Health, TelemetryObserver, Metrics]:
    world = World(partitions=_PARTITIONS)
    health, metrics = Health(world.clock.monotonic_s), Metrics()
    return world, health, TelemetryObserver(log=make_log(io.StringIO()), metrics=metrics, health=health), metrics


def _longest_unsaved_s(metrics: Metrics) -> float:
    known = (
        metrics.registry.get_sample_value("caesura_unsaved_seconds", {"partition": str(n)}) for n in range(_PARTITIONS)
    )
    return max(one or 0.0 for one in known)


def test_with_redis_away_words_come_out_and_the_worker_is_ready_and_says_so_in_a_metric() -> None:
    world, health, observer, metrics = _watched()
    worker = world.worker(observer=observer)
    worker.settle()
    world.redis.away = True
    events = [one for number in range(40) for one in speech(f"ann-{number}", 8)]
    for start in range(0, len(events), 5):
        world.send(*events[start : start + 5])
        worker.turn(20)
        world.clock.pass_s(1.0)
        assert health.why_not_alive() == ()
        assert health.why_not_ready() == ()
    worker.settle()
    check_every_word_once(events, world.segments())
    assert _longest_unsaved_s(metrics) > 10.0
    world.redis.away = False
    for _ in range(60):
        worker.turn()
        world.clock.pass_s(0.5)
    assert _longest_unsaved_s(metrics) == 0.0
    heard = Rebuilds()
    worker.worker.drain()
    world.worker(1, observer=heard).turn(100)
    assert heard.summaries == []


def test_a_worker_starts_and_takes_partitions_over_with_redis_away() -> None:
    world, health, observer, _ = _watched()
    events = [one for number in range(40) for one in speech(f"ann-{number}", 8)]
    first = world.worker()
    world.send(*events[: len(events) // 2])
    first.settle()
    first.worker.drain()
    world.redis.away = True
    world.send(*events[len(events) // 2 :])
    second = world.worker(1, observer=observer)
    for _ in range(300):
        second.turn()
        world.clock.pass_s(0.05)
    assert health.why_not_ready() == ()
    check_every_word_once(events, world.segments())


def test_a_revoke_waits_for_a_save_that_is_under_way() -> None:
    world = World()
    first = world.worker()
    world.send(*speech("ann", 8))
    first.settle()
    heard = Rebuilds()
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    world.send(event("ben", 0, "so"))
    while world.broker.last_committed("caesura", "asr.words", 0) == committed:
        first.turn()
    first.worker.drain()
    world.worker(1, observer=heard).settle()
    assert heard.summaries == []
