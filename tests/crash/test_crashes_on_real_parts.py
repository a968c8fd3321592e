"""A process kills itself at each step of the commit protocol, on a real Kafka and Redis; another one goes on."""

from __future__ import annotations

import signal
from collections.abc import Sequence

import pytest

from caesura.schemas.segments import Segment
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.commit_steps import CommitStep
from tests.crash.rows import ROWS, Fall
from tests.harness.in_memory_world import World
from tests.harness.parts.kafka_part import Kafka
from tests.harness.real_world import UNHURRIED, Kill, RealWorld
from tests.harness.speech import check_every_word_once, comparable, speech

pytestmark = pytest.mark.timeout(400)  # a slow machine is no failure

_EVENTS = [one for name in ("ann", "ben", "cy") for one in speech(name, 40, a_time=2)]
_FIRST = 17
"""So many events are committed by a worker that ends in good order, in the midst of a sentence."""
_SOON: dict[str, object] = {"session_timeout_ms": 2_000, "transaction_timeout_ms": 2_500}
_STEPS = list(ROWS)
_TELLING = (CommitStep.OFFSETS_SENT, CommitStep.COMMITTED, CommitStep.SAVED)


@pytest.mark.parametrize("step", _STEPS)
def test_the_same_ordinal_continues_after_a_crash(
    kafka: Kafka, redis_url: str, deployment: str, step: CommitStep
) -> None:
    world = _world(kafka, redis_url, deployment, "classic")
    _fall_one_after_another(world, ROWS[step], ordinals=[0] * len(ROWS[step]))
    _finish(world, ordinal=0)


@pytest.mark.parametrize(
    ("group_protocol", "step"),
    [
        *(pytest.param("classic", step, marks=() if step in _TELLING else pytest.mark.long) for step in _STEPS),
        *(("consumer", step) for step in _TELLING),
    ],
)
def test_another_ordinal_continues_after_a_crash(
    kafka: Kafka, redis_url: str, deployment: str, group_protocol: str, step: CommitStep
) -> None:
    world = _world(kafka, redis_url, deployment, group_protocol)
    _fall_one_after_another(world, ROWS[step], ordinals=list(range(len(ROWS[step]))))
    _finish(world, ordinal=7)


def _world(kafka: Kafka, redis_url: str, deployment: str, group_protocol: str) -> RealWorld:
    world = RealWorld(
        kafka, redis_url, deployment, partitions=1, group_protocol=group_protocol, kafka_changes=_SOON, rules=UNHURRIED
    )
    world.send(*_EVENTS[:_FIRST])
    first = world.worker(9)
    first.turn_until(lambda: first.caught_up, timeout_s=120)
    first.worker.drain()
    world.send(*_EVENTS[_FIRST:])
    return world


def _fall_one_after_another(world: RealWorld, falls: Sequence[Fall], ordinals: Sequence[int]) -> None:
    for fall, ordinal in zip(falls, ordinals, strict=True):
        with world.process(ordinal, kill=Kill(at=fall.at)) as fallen:
            assert fallen.wait(timeout_s=120) == -signal.SIGKILL


def _finish(world: RealWorld, ordinal: int) -> None:
    last = world.worker(ordinal)
    last.turn_until(lambda: last.caught_up, timeout_s=120)
    last.worker.drain()
    segments = world.segments()
    check_every_word_once(_EVENTS, segments)
    assert comparable(segments) == comparable(_undisturbed())


def _undisturbed() -> list[Segment]:
    world = World(rules=DecodingRules(**UNHURRIED, routes=frozenset({"de"})))  # type: ignore[arg-type]
    world.send(*_EVENTS)
    world.worker().settle()
    return world.segments()
