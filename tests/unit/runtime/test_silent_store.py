"""A Redis that does not answer holds a checkpoint up once, not once for every partition that has something to save."""

from __future__ import annotations

import io

import pytest

from tests.harness.speech import check_every_word_once, speech
from tests.harness.twin_world import World
from worker.errors import StoreError
from worker.ports.session_store import StoreWrite
from worker.telemetry.health import Health
from worker.telemetry.log import make_log
from worker.telemetry.metrics import Metrics
from worker.telemetry.observer import TelemetryObserver

_PARTITIONS = 20
_TIMEOUT_S = 2.0


def test_a_store_that_is_silent_leaves_the_turn_short_and_the_worker_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(partitions=_PARTITIONS)
    health = Health(world.clock.monotonic_s)
    observer = TelemetryObserver(log=make_log(io.StringIO()), metrics=Metrics(), health=health)
    worker = world.worker(observer=observer)
    worker.settle()
    events = [one for number in range(160) for one in speech(f"ann-{number}", 8)]
    world.send(*events)

    def unanswered(partition: int, write: StoreWrite) -> bool:
        del write
        world.clock.pass_s(_TIMEOUT_S)
        raise StoreError(f"writing partition {partition}: no answer in time")

    with monkeypatch.context() as patch:
        patch.setattr(worker.store, "write", unanswered)
        for _ in range(40):
            began_s = world.clock.monotonic_s()
            worker.turn()
            assert world.clock.monotonic_s() - began_s < 2 * _TIMEOUT_S
            assert health.why_not_alive() == ()
        assert "checkpoint: save_unanswered" in health.why_not_ready()
    worker.turn(400)
    check_every_word_once(events, world.segments())
    assert health.why_not_ready() == ()
