"""Promise 5: a canary word goes through every refusal and every way to fail; nothing that is told of it shows it."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterator, Sequence

import msgspec
import pytest
import redis
from prometheus_client import generate_latest

from caesura.schemas.codec import encode_event
from caesura.worker.adapters.redis.session_store import partition_key
from caesura.worker.adapters.system_clock import SystemClock
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.errors import EngineError
from caesura.worker.ports.commit_steps import CommitStep, CommitStepReached
from caesura.worker.ports.observer import Event
from caesura.worker.telemetry.health import Health
from caesura.worker.telemetry.log import forward_library_logs, log_uncaught, make_log
from caesura.worker.telemetry.metrics import Metrics
from caesura.worker.telemetry.observer import TelemetryObserver
from tests.harness.bad_events import bad_records
from tests.harness.crashing import Crash
from tests.harness.engines import FaultyEngine
from tests.harness.parts.kafka_part import Kafka
from tests.harness.real_world import UNHURRIED, RealWorker, RealWorld
from tests.harness.speech import event, said
from tests.harness.unsure import Plan, UnsurePublisher

pytestmark = pytest.mark.timeout(400)  # a slow machine is no failure

_CANARY = "zwieselhausen"


class Told:
    """Everything that a worker tells: its log, its metrics, its health."""

    def __init__(self) -> None:
        self.lines = io.StringIO()
        self.metrics = Metrics()
        self.health = Health(SystemClock().monotonic_s)
        self.log = make_log(self.lines, deployment="canary", worker="canary-0")

    def observer(self, crash_at: CommitStep | None = None) -> TelemetryObserver:
        return _Crashing(self, crash_at)

    def everything(self) -> str:
        reasons = (*self.health.why_not_ready(), *self.health.why_not_alive())
        return "\n".join((self.lines.getvalue(), generate_latest(self.metrics.registry).decode(), *reasons))


class _Crashing(TelemetryObserver):
    """Tells as a real one does, and crashes at a step of the commit protocol."""

    def __init__(self, told: Told, crash_at: CommitStep | None) -> None:
        super().__init__(log=told.log, metrics=told.metrics, health=told.health)
        self._crash_at = crash_at

    def note(self, event: Event) -> None:
        super().note(event)
        if isinstance(event, CommitStepReached) and event.step is self._crash_at:
            raise Crash


def fail_and_quote(requests: Sequence[LabelRequest]) -> None:
    """Fail whenever the canary is to be labelled, for a cause that quotes it."""
    if any("fails" in request.session for request in requests):
        raise EngineError("the network failed") from ValueError(str(requests))


@pytest.fixture
def told() -> Iterator[Told]:
    """What is told, libraries' debug lines included; logging is as it was afterwards."""
    told = Told()
    root = logging.getLogger()
    before = root.handlers, root.level, sys.excepthook
    forward_library_logs(told.log, level=logging.DEBUG)
    log_uncaught(told.log)
    yield told
    root.handlers, (root.level, sys.excepthook) = before[0], before[1:]


def test_no_refusal_and_no_failure_tells_what_was_said(
    kafka: Kafka, redis_url: str, deployment: str, told: Told, capfd: pytest.CaptureFixture[str]
) -> None:
    world = RealWorld(kafka, redis_url, deployment, partitions=1, rules=UNHURRIED)
    _refusals(world, told)
    _outcomes_unknown(world, told)
    _crash(world, told)
    _unreadable_state(world, told)
    _foreign_key(world, told)
    _failing_engine(world, told)
    _newer_event(world, told)
    sys.excepthook(ValueError, ValueError(_CANARY), None)
    assert _CANARY in said(world.segments()), "the canary never flew"
    assert "parked" in told.lines.getvalue()
    assert "rebuilt" in told.lines.getvalue()
    assert "failed" in told.lines.getvalue()
    output = capfd.readouterr()
    for told_text in (told.everything(), output.out, output.err):
        assert _CANARY not in told_text.lower()
    for topic in (world.segments_topic, world.dead_topic, world.german_topic, f"{deployment}.ledger"):
        for record in world.records(topic):
            assert _CANARY.encode() not in b"".join(value or b"" for _, value in record.headers)
    for record in world.records(f"{deployment}.ledger"):
        assert _CANARY.encode() not in (record.value or b"")


def _refusals(world: RealWorld, told: Told) -> None:
    for one in bad_records("bad", _CANARY):
        if not one.shift:
            world.send_bytes(one.key, one.value, partition=0)
    world.send(
        event("ann", 0, _CANARY, "and", targets=("de", "elsewhere")),
        event("ann", 2, "on", _CANARY),
        event("ann", 1, _CANARY),
        event("ann", 0, _CANARY, epoch=1, lang="xx"),
        event("ann", 5, _CANARY, epoch=0),
        event("ann", 1, _CANARY, epoch=1, session_end=True),
        event("ann", 2, _CANARY, epoch=1),
    )
    worker = world.worker(observer=told.observer())
    worker.turn_until(lambda: worker.caught_up)
    worker.worker.drain()


def _outcomes_unknown(world: RealWorld, told: Told) -> None:
    plans = [Plan.ABORTS, Plan.NEVER_COMMITS, Plan.COMMITS_UNTOLD]
    worker = world.worker(observer=told.observer(), around=lambda sure: UnsurePublisher(sure, *plans))
    world.send(event("ben", 0, _CANARY, "once"))
    worker.turn_until(lambda: worker.caught_up)
    worker.worker.drain()


def _crash(world: RealWorld, told: Told) -> None:
    worker = world.worker(observer=told.observer(crash_at=CommitStep.OFFSETS_SENT))
    world.send(event("ben", 1, _CANARY, "twice"))
    with pytest.raises(Crash):
        worker.turn_until(lambda: False)
    worker.leave()


def _unreadable_state(world: RealWorld, told: Told) -> None:
    key = partition_key(world.deployment, world.words_topic, 0)
    with redis.Redis.from_url(world.redis_url) as client:
        client.hset(key, "s:ben", _CANARY.encode())
    _works(world.worker(observer=told.observer()))


def _foreign_key(world: RealWorld, told: Told) -> None:
    key = partition_key(world.deployment, world.words_topic, 0)
    with redis.Redis.from_url(world.redis_url) as client:
        client.set(key, _CANARY)
    _works(world.worker(observer=told.observer()))


def _failing_engine(world: RealWorld, told: Told) -> None:
    worker = world.worker(observer=told.observer(), engine=FaultyEngine(fail_and_quote))
    world.send(event("fails", 0, _CANARY, "is", "what", "fails", session_end=True))
    _works(worker)


def _newer_event(world: RealWorld, told: Told) -> None:
    newer = {**msgspec.msgpack.decode(encode_event(event("cy", 0, _CANARY))), "version": "2.0"}
    worker = world.worker(observer=told.observer())
    world.send_bytes(b"cy", msgspec.msgpack.encode(newer), partition=0)
    worker.turn_until(lambda: bool(worker.worker.assignment.parked))
    worker.worker.drain()


def _works(worker: RealWorker) -> None:
    worker.turn_until(lambda: worker.caught_up)
    worker.worker.drain()
