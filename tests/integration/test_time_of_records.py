"""Silence is counted on the records' time: neither a backlog nor a producer with a fast clock looks like it."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from caesura.schemas.events import WordsEvent
from caesura.schemas.segments import Segment
from caesura.worker.core.language.rules import DecodingRules
from tests.harness.in_memory_world import World
from tests.harness.parts.kafka_part import Kafka
from tests.harness.real_world import RealWorld
from tests.harness.speech import by_session, check_every_word_once, comparable, event, said

pytestmark = pytest.mark.timeout(400)  # a slow machine is no failure

_RULES: dict[str, object] = {"flush_after_ms": 5_000, "stall_after_ms": 5_000, "idle_after_ms": 60_000}
_PAUSE_MS = 600_000
_EVERY_MS = 2_000


@pytest.fixture
def world(kafka: Kafka, redis_url: str, deployment: str) -> RealWorld:
    config = {"message.timestamp.type": "CreateTime"}
    return RealWorld(kafka, redis_url, deployment, partitions=1, rules=_RULES, words_config=config)


def test_a_backlog_read_after_a_pause_fires_what_its_own_times_justify(
    world: RealWorld,
) -> None:
    spoken = _spoken_over_ten_minutes(start_ms=int(time.time() * 1000) - _PAUSE_MS - 60_000)
    for stamp_ms, one in spoken[:20]:
        world.send(one, timestamp_ms=stamp_ms)
    before = world.worker(0)
    before.turn_until(lambda: before.caught_up)
    before.worker.drain()
    for stamp_ms, one in spoken[20:]:
        world.send(one, timestamp_ms=stamp_ms)
    after = world.worker(1)
    after.turn_until(lambda: after.caught_up, timeout_s=60)
    after.worker.drain()
    events = [one for _, one in spoken]
    segments = world.segments()
    check_every_word_once(events, segments)
    assert Counter(one.session for one in segments if one.cause == "silence") == {"pauses": 1}
    assert comparable(segments) == comparable(_read_at_once(spoken))


def test_a_producer_clock_ten_minutes_fast_silences_no_session(world: RealWorld) -> None:
    worker = world.worker()
    worker.turn_until(lambda: len(worker.worker.assignment.loaded) == 1)
    now_ms = int(time.time() * 1000)
    world.send(event("right", 0, "we", "are"), timestamp_ms=now_ms)
    world.send(event("fast", 0, "so", "are", "we"), timestamp_ms=now_ms + _PAUSE_MS)
    world.send(event("right", 1, "talking"), timestamp_ms=now_ms + 10)
    world.send(event("fast", 1, "still", session_end=True), timestamp_ms=now_ms + _PAUSE_MS + 10)
    world.send(event("right", 2, "still", session_end=True), timestamp_ms=now_ms + 20)
    worker.turn_until(lambda: worker.caught_up)
    worker.worker.drain()
    spoken = by_session(world.segments())
    assert {one.cause for found in spoken.values() for one in found} <= {"sentence", "end"}
    assert said(spoken["right"]) == ["we", "are", "talking", "still"]
    assert said(spoken["fast"]) == ["so", "are", "we", "still"]


def test_by_default_a_fast_producer_clock_causes_no_silence() -> None:
    world = World()
    worker = world.worker()
    worker.turn(10)
    now_ms = world.clock.wall_ms()
    world.send(event("right", 0, "we", "are"), timestamp_ms=now_ms)
    world.send(event("fast", 0, "so", "are", "we"), timestamp_ms=now_ms + _PAUSE_MS)
    world.send(event("right", 1, "talking", session_end=True), timestamp_ms=now_ms + 10)
    worker.turn(10)
    assert [(one.session, one.cause, said([one])) for one in world.segments()] == [
        ("right", "end", ["we", "are", "talking"])
    ]


def _spoken_over_ten_minutes(*, start_ms: int) -> list[tuple[int, WordsEvent]]:
    """Return events with their stamps: one session talks on, the other pauses once for longer than a silence."""
    count = _PAUSE_MS // _EVERY_MS
    spoken = []
    for number in range(count):
        last = number == count - 1
        at_ms = start_ms + number * _EVERY_MS
        spoken.append((at_ms, event("talks", number, f"word{number}", session_end=last)))
        pause_ms = 0 if number < count // 2 else 20_000
        spoken.append((at_ms + 1 + pause_ms, event("pauses", number, f"word{number}", session_end=last)))
    return sorted(spoken, key=lambda one: one[0])


def _read_at_once(spoken: list[tuple[int, WordsEvent]]) -> list[Segment]:
    world = World(rules=DecodingRules(**_RULES, routes=frozenset({"de"})))  # type: ignore[arg-type]
    world.clock.wall_offset_ms = spoken[-1][0]
    for stamp_ms, one in spoken:
        world.send(one, timestamp_ms=stamp_ms)
    worker = world.worker()
    worker.settle()
    return world.segments()
