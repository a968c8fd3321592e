"""A worker that is stopped past its session's time-out and then goes on: it changes nothing and publishes nothing."""

from __future__ import annotations

import os
import signal
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from caesura.worker.adapters.redis.session_store import partition_key
from caesura.worker.ports.commit_steps import CommitStep
from tests.harness.forked import Forked
from tests.harness.parts.kafka_part import Kafka
from tests.harness.real_world import UNHURRIED, Kill, RealWorker, RealWorld
from tests.harness.rehearsal import Rehearsal
from tests.harness.speech import check_every_word_once, speech
from tests.harness.waiting import wait_until
from tests.integration.sessions import events, wait_for_ends, whole, words_by_session

pytestmark = pytest.mark.timeout(400)  # a slow machine is no failure

_EVENTS = [one for name in ("ann", "ben", "cy") for one in speech(name, 40, a_time=2)]
_SOON: dict[str, object] = {"session_timeout_ms": 2_000, "transaction_timeout_ms": 3_000}


_STEPS = [CommitStep.STAGED, CommitStep.PUBLISHED, CommitStep.OFFSETS_SENT, CommitStep.COMMITTED]


@pytest.mark.parametrize(
    ("group_protocol", "step"),
    [
        *(("classic", step) for step in (*_STEPS, CommitStep.CLAIM_OFFSET_READ)),
        *(pytest.param("consumer", step, marks=pytest.mark.long) for step in _STEPS),
    ],
)
def test_a_worker_stopped_past_its_session_changes_and_publishes_nothing(
    kafka: Kafka, redis_url: str, deployment: str, group_protocol: str, step: CommitStep
) -> None:
    world = _world(kafka, redis_url, deployment, group_protocol)
    with world.process(1, kill=Kill(at=step, number=signal.SIGSTOP)) as zombie:
        successor = _succeeded(world, zombie)
        stored, published = _stored(world), world.segments()
        _goes_on(zombie, successor)
        assert _stored(world) == stored
        assert len(world.segments()) == len(published)
    _finish(world, successor)


def _world(kafka: Kafka, redis_url: str, deployment: str, group_protocol: str) -> RealWorld:
    world = RealWorld(
        kafka, redis_url, deployment, partitions=1, group_protocol=group_protocol, kafka_changes=_SOON, rules=UNHURRIED
    )
    world.send(*_EVENTS[:17])
    first = world.worker(0)
    first.turn_until(lambda: first.caught_up, timeout_s=120)
    first.worker.drain()
    world.send(*_EVENTS[17:41])
    return world


def _succeeded(world: RealWorld, zombie: Forked) -> RealWorker:
    _wait(lambda: zombie.is_stopped, lambda: None)
    successor = world.worker(2)
    successor.turn_until(lambda: successor.caught_up, timeout_s=120)
    successor.worker.assignment.finish_saves([0], within_s=30)  # they run beside the loop
    return successor


def _goes_on(zombie: Forked, successor: RealWorker) -> None:
    """Let it go on until it has heard that its partition is another's, and a while longer."""
    zombie.send_signal(signal.SIGCONT)
    _wait(lambda: "lost" in zombie.stderr.partition("signal")[2], successor.worker.turn)
    for _ in range(20):
        successor.worker.turn()


def _finish(world: RealWorld, successor: RealWorker) -> None:
    world.send(*_EVENTS[41:])
    successor.turn_until(lambda: successor.caught_up, timeout_s=120)
    successor.worker.drain()
    check_every_word_once(_EVENTS, world.segments())


def _stored(world: RealWorld) -> dict[bytes, int]:
    """Return a digest of each field of the partition's hash."""
    with redis.Redis.from_url(world.redis_url) as client:
        fields = client.hgetall(partition_key(world.deployment, world.words_topic, 0))
    return {name: zlib.crc32(value) for name, value in fields.items()}


def _wait(done: Callable[[], bool], meanwhile: Callable[[], None]) -> None:
    wait_until(done, within_s=120, every_s=0.02, meanwhile=meanwhile)


def engine_of(worker: int) -> int:
    """Return the number of the engine's process, the worker's only child."""
    (child,) = Path(f"/proc/{worker}/task/{worker}/children").read_text(encoding="ascii").split()
    return int(child)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL])
def test_a_worker_whose_engine_dies_labels_every_word_once(rehearsal: Rehearsal, number: signal.Signals) -> None:
    rehearsal.make_topics()
    with rehearsal.worker(settings={"CAESURA_WORKER_INFERENCE_DEADLINE_MS": "2000"}) as worker:
        rehearsal.say(*events(["call-0"], first=0, last=12, end=True))
        wait_for_ends(rehearsal, 1, worker)
        os.kill(engine_of(worker.process.pid), number)
        rehearsal.say(*events(["call-1"], first=0, last=12, end=True))
        wait_for_ends(rehearsal, 2, worker)
        worker.stop()
        assert worker.lines("failed") == []
    assert words_by_session(rehearsal.segments()) == whole(["call-0", "call-1"], 12)
    assert "fallback" not in {segment.cause for segment in rehearsal.segments()}
