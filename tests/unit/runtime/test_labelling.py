"""Who is labelled when: a session that floods is served last and told of, a drain ends at its deadline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.workers.speech import check_every_word_once, event, said, speech
from tests.workers.twin import ManualClock, World
from worker.adapters.memory_engine import ScriptedEngine
from worker.core.labelling import LabelRequest, Labels
from worker.core.rules import DecodingRules
from worker.runtime.observer import SilentObserver

_PATIENT = DecodingRules(flush_after_ms=10_000, stall_after_ms=10_000)


class _Floods(SilentObserver):
    def __init__(self) -> None:
        self.told: list[dict[str, int]] = []

    def flooding(self, queued_words: Mapping[str, int]) -> None:
        if queued_words:
            self.told.append(dict(queued_words))


class _SlowEngine(ScriptedEngine):
    """Takes so much of the test's time for a batch, once it is slow."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__()
        self._clock = clock
        self.batch_s = 0.0

    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        self._clock.pass_s(self.batch_s)
        return super().label(requests)


def test_a_session_that_floods_is_told_of_and_nobody_else() -> None:
    world = World(rules=_PATIENT)
    events = [*speech("floods", 400, a_time=10), *speech("talks", 40, a_time=10)]
    world.send(*events)
    heard = _Floods()
    world.worker(observer=heard).settle()
    assert [set(told) for told in heard.told] == [{"floods"}]
    assert heard.told[0]["floods"] > 300
    check_every_word_once(events, world.segments())


def test_a_drain_that_would_take_too_long_ends_and_leaves_the_rest_to_the_next_owner() -> None:
    world = World(rules=_PATIENT)
    engine = _SlowEngine(world.clock)
    first = world.worker(0, engine=engine, drain_deadline_s=20.0, commit_interval_ms=60_000)
    first.turn(5)
    events = speech("ann", 200, a_time=10)
    world.send(*events)
    engine.batch_s = 3.0
    for record in first.source.poll(1000, 0.0):
        first.worker._take(record)
    began_s = world.clock.monotonic_s()
    first.worker.drain()
    assert world.clock.monotonic_s() - began_s < 20.0 + 3.0 + 1.0
    assert world.segments() == []
    second = world.worker(1)
    second.settle()
    check_every_word_once(events, world.segments())


def test_a_drain_in_time_publishes_what_was_read() -> None:
    world = World(rules=_PATIENT)
    first = world.worker(0, commit_interval_ms=60_000)
    first.turn(5)
    world.send(event("ann", 0, "good", "morning", session_end=True))
    first.turn(2)
    assert world.segments() == []
    first.worker.drain()
    assert said(world.segments()) == ["good", "morning"]
