"""When a worker counts as ready: a member of the group, perhaps with nothing to do, its parts answering, not going."""

from __future__ import annotations

import io

from caesura.worker.errors import AbortableError, BrokerError
from caesura.worker.telemetry.health import Health
from caesura.worker.telemetry.log import make_log
from caesura.worker.telemetry.metrics import Metrics
from caesura.worker.telemetry.observer import TelemetryObserver
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.speech import event

_LONGER_THAN_A_PROBE_S = 6.0


def watched(world: World, ordinal: int = 0) -> tuple[InMemoryWorker, Health]:
    """Return a worker and what its readiness path would answer."""
    health = Health(world.clock.monotonic_s)
    observer = TelemetryObserver(log=make_log(io.StringIO()), metrics=Metrics(), health=health)
    return world.worker(ordinal, observer=observer), health


def test_a_worker_is_not_ready_before_it_is_a_member_and_is_once_it_is() -> None:
    worker, health = watched(World())
    assert health.why_not_ready() != ()
    worker.turn(3)
    assert health.why_not_ready() == ()


def test_a_member_with_nothing_assigned_is_ready() -> None:
    world = World(partitions=1)
    first, _ = watched(world, 0)
    first.turn(3)
    second, health = watched(world, 1)
    for _ in range(5):
        first.turn()
        second.turn()
    assert sorted(len(one.worker.assignment.loaded) for one in (first, second)) == [0, 1]
    assert health.why_not_ready() == ()


def test_a_worker_that_is_going_is_not_ready_although_its_last_words_still_go_out() -> None:
    world = World()
    worker, health = watched(world)
    worker.turn(3)
    world.send(event("ann", 0, "one", session_end=True))
    worker.turn()
    worker.worker.drain()
    assert "draining" in health.why_not_ready()
    assert len(world.segments()) == 1


def test_a_checkpoint_that_failed_is_held_against_nobody_whose_partitions_are_anothers_now() -> None:
    world = World()
    first, health = watched(world, 0)
    first.settle()
    world.send(event("ann", 0, "one", session_end=True))
    world.broker.fail("commit", AbortableError("as planned"), of="caesura-0")
    while health.why_not_ready() == ():
        first.turn()
    assert health.why_not_ready() == ("checkpoint: commit_aborted",)
    world.broker.expel("caesura", "asr.words", first.source.member_id)
    second, other = watched(world, 1)
    for _ in range(100):
        second.turn()
        first.turn()
    assert len(world.segments()) == 1
    assert (health.why_not_ready(), other.why_not_ready()) == ((), ())


def test_brokers_that_do_not_answer_are_named_where_there_is_nothing_to_do_and_redis_is_not() -> None:
    world = World()
    worker, health = watched(world)
    worker.settle()
    world.redis.away = True
    world.broker.fail("partition_count", BrokerError("nobody answers"))
    world.clock.pass_s(_LONGER_THAN_A_PROBE_S)
    worker.turn()
    assert set(health.why_not_ready()) == {"probe: BrokerError"}
    world.redis.away = False
    world.clock.pass_s(_LONGER_THAN_A_PROBE_S)
    worker.turn()
    assert health.why_not_ready() == ()
