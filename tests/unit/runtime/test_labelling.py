"""Who is labelled when: a session that floods is served last and told of, a drain ends at its deadline.

And who is not: the session that an inference fails on, again and again, alone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest
from typing_extensions import override

from caesura.schemas.labels import Labels
from caesura.schemas.segments import Cause
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.observer import EngineFailed, Event, SessionsFlooding, SilentObserver
from tests.harness.engines import FaultyEngine, RaisingEngine
from tests.harness.in_memory_world import World
from tests.harness.speech import by_session, check_every_word_once, comparable, event, said, speech

_PATIENT = DecodingRules(flush_after_ms=10_000, stall_after_ms=10_000)


class _Floods(SilentObserver):
    def __init__(self) -> None:
        self.told: list[dict[str, int]] = []

    def note(self, event: Event) -> None:
        if isinstance(event, SessionsFlooding) and event.queued_words:
            self.told.append(dict(event.queued_words))


_TALKS = {name: speech(name, 40) for name in ("ann", "ben", "cy", "dee")}
_TOGETHER = [one for together in zip(*_TALKS.values(), strict=True) for one in together]
"""Events of four sessions by turns, so that they are labelled in one batch."""


def _spoken(engine: ScriptedEngine) -> World:
    world = World(rules=_PATIENT)
    world.send(*_TOGETHER, timestamp_ms=world.clock.wall_ms())
    world.worker(engine=engine).settle()
    check_every_word_once(_TOGETHER, world.segments())
    return world


def test_the_session_that_every_inference_fails_on_goes_out_unlabelled_and_the_rest_of_its_batch_undisturbed() -> None:
    engine = RaisingEngine(sys.maxsize, of="ben")
    disturbed, undisturbed = by_session(_spoken(engine).segments()), by_session(_spoken(ScriptedEngine()).segments())
    assert engine.sizes[:3] == [4, 1, 1]
    unlabelled = disturbed.pop("ben")
    assert {one.cause for one in unlabelled} == {Cause.FALLBACK, Cause.END}
    assert {(word.punctuation, word.disfluency) for one in unlabelled for word in one.words} == {("none", "O")}
    assert [one.cause for one in unlabelled if one.words] == [Cause.FALLBACK] * (len(unlabelled) - 1)
    for name, segments in disturbed.items():
        assert comparable(segments) == comparable(undisturbed[name]), name


def test_of_an_inference_that_fails_it_is_told_why() -> None:
    told: list[str] = []

    class Listener(SilentObserver):
        @override
        def note(self, event: Event) -> None:
            if isinstance(event, EngineFailed):
                told.append(event.detail)

    world = World(rules=_PATIENT)
    world.send(*_TOGETHER)
    world.worker(engine=RaisingEngine(2, of="ben"), observer=Listener()).settle()
    assert told == ["told to raise", "told to raise"]


@pytest.mark.parametrize("times", [1, 2])
def test_an_inference_that_fails_in_the_batch_and_once_alone_costs_nobody_a_label(times: int) -> None:
    engine = RaisingEngine(times, of="ben")
    assert comparable(_spoken(engine).segments()) == comparable(_spoken(ScriptedEngine()).segments())
    assert engine.sizes == [4, 1][:times]


def test_nothing_that_a_failed_batch_was_computed_with_is_held_while_its_sessions_are_labelled_alone() -> None:
    held: list[bool] = []

    class Watched(RaisingEngine):
        @override
        def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
            held.append(sys.exc_info()[1] is not None)
            return super().label(requests)

    _spoken(Watched(1, of="ben"))
    assert not any(held)


def test_a_session_that_fails_twice_alone_goes_on_unlabelled_once_and_labelled_from_then_on() -> None:
    segments = by_session(_spoken(RaisingEngine(3, of="ben")).segments())["ben"]
    assert [one.cause == Cause.FALLBACK for one in segments] == [True] + [False] * (len(segments) - 1)
    assert {word.punctuation for one in segments[1:] for word in one.words} > {"none"}


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
    batch_s = 0.0
    engine = FaultyEngine(lambda _: world.clock.pass_s(batch_s))
    first = world.worker(0, engine=engine, drain_deadline_s=20.0, commit_interval_ms=60_000)
    first.turn(5)
    events = speech("ann", 200, a_time=10)
    world.send(*events)
    batch_s = 3.0
    for record in first.source.poll(1000, 0.0):
        first.worker._polling._take(record, 1000)
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
