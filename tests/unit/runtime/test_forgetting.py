"""What is forgotten leaves Redis, too, and does not wait for somebody to speak."""

from __future__ import annotations

from caesura.worker.core.language.rules import DecodingRules
from tests.harness.in_memory_world import World
from tests.harness.speech import speech


def test_the_field_of_a_forgotten_session_goes_although_nobody_speaks_any_more() -> None:
    world = World(rules=DecodingRules(forget_after_ms=30_000))
    worker = world.worker()
    world.send(*speech("ann", 12))
    worker.settle()
    assert list(world.redis.partition(0).sessions) == ["ann"]
    world.clock.pass_s(31)
    worker.settle()
    assert world.redis.partition(0).sessions == {}
    committed = world.broker.committed("caesura", "asr.words", 0)
    worker.settle()
    assert world.broker.committed("caesura", "asr.words", 0) == committed
