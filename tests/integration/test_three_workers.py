"""Three workers, many sessions, a worker that joins, one that leaves, and one killed in the middle of a transaction."""

from __future__ import annotations

import random
import signal
from collections.abc import Sequence
from itertools import chain, zip_longest
from pathlib import Path

import pytest

from caesura.schemas.codec import encode_segment
from caesura.schemas.events import Emission, WordsEvent
from caesura.schemas.segments import Segment
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.commit_steps import CommitStep
from caesura.worker.ports.engine import Engine
from tests.harness.forked import Forked
from tests.harness.in_memory_world import World
from tests.harness.parts.kafka_part import Kafka
from tests.harness.real_world import Kill, RealWorld
from tests.harness.shipped_models import ENGLISH, one_model
from tests.harness.speech import check_every_word_once, comparable, speech, talk

_SIZES = pytest.mark.parametrize(
    ("group_protocol", "share"), [("classic", 0.25), pytest.param("consumer", 1.0, marks=pytest.mark.long)]
)
"""By day a quarter of all sessions, which is enough for words to be under way at each of the changes."""
_SESSIONS = 200
_TALKS = 40
_PARTITIONS = 6
_RULES: dict[str, object] = {"flush_after_ms": 300_000, "stall_after_ms": 300_000, "idle_after_ms": 400_000}


@pytest.mark.timeout(300)
@_SIZES
def test_all_words_come_out_as_in_an_undisturbed_run(
    kafka: Kafka, redis_url: str, deployment: str, group_protocol: str, share: float, tmp_path: Path
) -> None:
    world = _world(kafka, redis_url, deployment, group_protocol)
    events = _spoken(*[100] * int(_SESSIONS * share))
    segments = _played(world, events, tmp_path / "now")
    check_every_word_once(events, segments)
    expected = comparable(_undisturbed(events))
    assert [encode_segment(one) for one in comparable(segments)] == [encode_segment(one) for one in expected]


@pytest.mark.timeout(600)
@_SIZES
def test_the_shipped_model_labels_as_it_does_undisturbed(
    kafka: Kafka, redis_url: str, deployment: str, group_protocol: str, share: float, tmp_path: Path
) -> None:
    world = _world(kafka, redis_url, deployment, group_protocol)
    drawn = random.Random(7)
    events = _spoken(*(talk(100, drawn) for _ in range(int(_TALKS * share))))
    segments = _played(world, events, tmp_path / "now", engine="shipped")
    check_every_word_once(events, segments)
    assert comparable(segments) == comparable(_undisturbed(events, OnnxEngine(one_model(ENGLISH))))


def _world(kafka: Kafka, redis_url: str, deployment: str, group_protocol: str) -> RealWorld:
    return RealWorld(
        kafka,
        redis_url,
        deployment,
        partitions=_PARTITIONS,
        group_protocol=group_protocol,
        kafka_changes={"session_timeout_ms": 3_000, "transaction_timeout_ms": 4_000},
        rules=_RULES,
    )


def _spoken(*said: int | Sequence[str]) -> list[WordsEvent]:
    """Return all sessions' events, spoken at once: every other session wants its words as soon as they are settled."""
    emissions = (Emission.SENTENCE, Emission.SETTLED)
    sessions = [
        speech(f"s{number:03}", words, a_time=5, emission=emissions[number % 2]) for number, words in enumerate(said)
    ]
    return [one for one in chain.from_iterable(zip_longest(*sessions)) if one is not None]


def _played(world: RealWorld, events: Sequence[WordsEvent], now: Path, *, engine: str = "scripted") -> list[Segment]:
    quarter, speaking = len(events) // 4, len({one.session for one in events})
    kill = Kill(at=CommitStep.OFFSETS_SENT, once=now)
    with world.process(0, engine=engine) as leaves, world.process(1, engine=engine, kill=kill) as killed:
        world.wait_for_members(2)
        world.send(*events[:quarter])
        with world.process(2, engine=engine):
            world.wait_for_members(3)
            world.send(*events[quarter : 2 * quarter])
            now.touch()
            sent = _send_until_it_dies(world, killed, events[2 * quarter : 3 * quarter])
            with world.process(1, engine=engine):
                assert leaves.terminate() == 0
                world.send(*events[2 * quarter + sent :])
                return world.wait_for(
                    lambda segments: sum(one.session_end for one in segments) == speaking, timeout_s=150
                )


def _send_until_it_dies(world: RealWorld, process: Forked, events: Sequence[WordsEvent]) -> int:
    """Send a few events at a time until one of them was the last; return how many that were."""
    at_once = len(events) // 12
    for sent in range(at_once, len(events) + 1, at_once):
        world.send(*events[sent - at_once : sent])
        if process.ends(timeout_s=3.0):
            assert process.wait() == -signal.SIGKILL
            return sent
    raise AssertionError("it was never killed")


def _undisturbed(events: Sequence[WordsEvent], engine: Engine | None = None) -> list[Segment]:
    """Return what one worker makes of it, on the twins."""
    rules = DecodingRules(**_RULES, routes=frozenset({"de"}))  # type: ignore[arg-type]
    world = World(partitions=_PARTITIONS, rules=rules)
    world.send(*events)
    worker = world.worker(engine=engine)
    worker.settle()
    assert sum(one.session_end for one in world.segments()) == len({one.session for one in events})
    return world.segments()
