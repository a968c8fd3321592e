"""Words that come as their session or their connection ends: each goes out, or is refused by name."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from caesura.schemas.events import SessionOptions, Word, WordsEvent
from caesura.schemas.segments import Segment
from caesura.schemas.tentative import Tentative
from caesura.schemas.versions import EVENT_VERSION
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.service.clients.client_event import ClientEvent
from caesura.worker.service.clients.decoding_thread import DecodingThread
from caesura.worker.service.clients.session_pool import SessionPool
from caesura.worker.service.server.messages import ServeReason
from caesura.worker.settings.serving import ServeSettings
from tests.harness.engines import FaultyEngine
from tests.harness.in_memory_world import ManualClock
from tests.harness.service import ANSWER_WITHIN_S, opened, received, serving, texts

IDLE = DecodingRules(flush_after_ms=800, idle_after_ms=10_000)


def event(seq: int, text: str = "", *, end: bool = False) -> WordsEvent:
    words = tuple(Word(text=one) for one in text.split())
    return WordsEvent(version=EVENT_VERSION, session="a", seq=seq, lang="en", words=words, session_end=end)


def words_of(segments: Sequence[Segment]) -> list[str]:
    return [word.text for segment in segments for word in segment.words]


@pytest.mark.parametrize("forget_after_ms", [86_400_000, 0])
def test_a_word_that_comes_as_its_session_is_closed_for_its_silence_goes_out(forget_after_ms: int) -> None:
    clock = ManualClock()
    rules = DecodingRules(flush_after_ms=800, idle_after_ms=10_000, forget_after_ms=forget_after_ms)
    pool = SessionPool(ScriptedEngine(), clock=clock, rules=rules)
    pool.offer(event(0, "one"))
    found = pool.turn(10).segments
    clock.pass_s(10.001)
    pool.offer(event(1, "two"))
    turn = pool.turn(10)
    assert turn.ended == set()
    pool.offer(event(2, end=True))
    assert words_of([*found, *turn.segments, *pool.turn(10).segments]) == ["one", "two"]


def test_a_drain_sends_what_a_recogniser_has_said_for_good() -> None:
    tokens = [
        {"text": text, "is_final": True, "start_ms": 100 * place, "end_ms": 100 * place + 100}
        for place, text in enumerate(("Hel", "lo", " there"))
    ]
    with serving() as served, opened(served, {"format": "soniox"}) as client:
        client.send(json.dumps({"tokens": tokens, "total_audio_proc_ms": 400}))
        client.send("no message")
        received(client, "error")  # so the message before it was read
        served.stop()
        told = received(client, "closing")
    assert texts(told) == ["Hello", "there"]


def test_who_is_let_go_for_what_was_refused_gets_the_words_that_were_taken() -> None:
    settings = ServeSettings(port=0, drain_timeout_s=5, max_refused_messages=2)
    with serving(settings) as served, opened(served) as client:
        client.send(json.dumps({"words": "one two"}))
        for _ in range(3):
            client.send("no message")
        told = received(client, "closing")
    assert told[-1]["reason"] == "too_many_refused"
    assert texts(told) == ["one", "two"]


def test_who_says_nothing_for_long_gets_the_words_that_were_taken() -> None:
    settings = ServeSettings(port=0, drain_timeout_s=5, idle_timeout_s=1)
    with serving(settings) as served, opened(served) as client:
        client.send(json.dumps({"words": "one two"}))
        told = received(client, "closing")
    assert told[-1]["reason"] == "idle"
    assert texts(told) == ["one", "two"]


def test_what_is_sent_behind_its_sessions_end_is_refused_until_ended_has_come() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def before(requests: Sequence[LabelRequest]) -> None:
        begun.set()
        assert go_on.wait(ANSWER_WITHIN_S), requests

    with serving(engine=FaultyEngine(before)) as served, opened(served, {"options": {"punctuation": False}}) as client:
        client.send(json.dumps({"words": "a b c", "session_end": True}))
        assert begun.wait(ANSWER_WITHIN_S)
        client.send(json.dumps({"words": "two", "session_end": True}))
        assert received(client, "error")[-1]["reason"] == "session_ended"
        go_on.set()
        assert texts(received(client, "ended")) == ["a", "b", "c"]
        client.send(json.dumps({"words": "three", "session_end": True}))
        again = received(client, "ended")
    segments = [one["segment"] for one in again if one["type"] == "segment"]
    assert texts(again) == ["three"]
    assert not any("gaps" in one for one in segments)
    assert {one["punctuated"] for one in segments} == {False}


@pytest.mark.parametrize("how", ["drain", "idle", "refused"])
def test_a_late_event_of_a_former_epoch_costs_the_end_of_a_connection_no_word(how: str) -> None:
    idle_s = 1 if how == "idle" else 600
    settings = ServeSettings(port=0, drain_timeout_s=5, idle_timeout_s=idle_s, max_refused_messages=3)
    with serving(settings) as served, opened(served) as client:
        client.send(json.dumps({"words": "one two", "epoch": 5}))
        client.send(json.dumps({"words": "late", "epoch": 4}))
        assert received(client, "error")[-1]["reason"] == "stale_epoch"
        if how == "drain":
            served.stop()
        if how == "refused":
            for _ in range(3):
                client.send("no message")
        told = received(client, "closing")
    assert texts(told) == ["one", "two"]


def test_an_end_that_its_session_refuses_ends_nothing() -> None:
    with serving() as served, opened(served) as client:
        client.send(json.dumps({"words": "one", "seq": 0}))
        client.send(json.dumps({"words": "two", "seq": 1}))
        client.send(json.dumps({"session_end": True, "seq": 1}))
        assert received(client, "error")[-1]["reason"] == "repeat"
        client.send(json.dumps({"words": "three", "seq": 2}))
        client.send(json.dumps({"session_end": True, "seq": 3}))
        told = received(client, "ended")
    assert [one for one in told if one["type"] == "error"] == []
    assert texts(told) == ["one", "two", "three"]


def test_words_before_an_end_that_was_refused_are_sent_by_a_drain() -> None:
    with serving() as served, opened(served) as client:
        client.send(json.dumps({"words": "one two", "epoch": 5}))
        client.send(json.dumps({"session_end": True, "epoch": 4}))
        assert received(client, "error")[-1]["reason"] == "stale_epoch"
        served.stop()
        told = received(client, "closing")
    assert texts(told) == ["one", "two"]


def test_last_words_that_there_is_no_room_for_are_refused_by_name() -> None:
    tokens = [
        {"text": text, "is_final": True, "start_ms": 100 * place, "end_ms": 100 * place + 100, "speaker": speaker}
        for place, (text, speaker) in enumerate(((" one", "1"), (" two", "1"), (" three", "2")))
    ]
    settings = ServeSettings(port=0, drain_timeout_s=5, max_sessions_per_connection=1)
    with serving(settings) as served, opened(served, {"format": "soniox"}) as client:
        client.send(json.dumps({"tokens": tokens, "total_audio_proc_ms": 400}))
        client.send("no message")
        before = received(client, "error")
        served.stop()
        told = [*before, *received(client, "closing")]
    assert "too_many_sessions" in [one["reason"] for one in told if one["type"] == "error"]


@dataclass(kw_only=True)
class Listening:
    """An outlet that keeps what it is told."""

    options: SessionOptions | None = None
    tentative_interval_ms: int | None = None
    segments: list[Segment] = field(default_factory=list)
    refusals: list[ServeReason] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    rested: threading.Event = field(default_factory=threading.Event)

    def frozen(self, segment: Segment) -> None:
        self.segments.append(segment)

    def revisable(self, tentative: Tentative) -> None:
        raise AssertionError(tentative)

    def refused(self, number: int, said: ClientEvent, reason: ServeReason) -> None:
        del number, said
        self.refusals.append(reason)

    def at_rest(self, session: str) -> None:
        del session
        self.rested.set()

    def ended(self, last: ClientEvent) -> None:
        del last
        self.over.set()

    def failed(self) -> None:
        raise AssertionError


@contextmanager
def decoding(clock: ManualClock, outlet: Listening) -> Iterator[DecodingThread]:
    pool = SessionPool(ScriptedEngine(), clock=clock, rules=IDLE)
    faults: list[Exception] = []
    thread = DecodingThread(pool, clock=clock, on_fault=faults.append)
    thread.connect(7, outlet)
    thread.start()
    try:
        yield thread
    finally:
        thread.stop()
    assert faults == []


def test_what_comes_right_behind_a_close_for_silence_begins_the_session_anew() -> None:
    """Whoever reads the client's messages does not know yet that the session is over."""
    clock, outlet = ManualClock(), Listening(options=SessionOptions(punctuation=False))
    with decoding(clock, outlet) as thread:
        thread.offer(7, 1, ClientEvent(event=event(0, "one")))
        assert outlet.rested.wait(ANSWER_WITHIN_S)
        outlet.rested.clear()
        thread.offer(7, 2, ClientEvent(event=event(0, "two")))
        assert outlet.rested.wait(ANSWER_WITHIN_S)
        clock.pass_s(30.0)
        assert outlet.over.wait(ANSWER_WITHIN_S)
        outlet.over.clear()
        thread.offer(7, 3, ClientEvent(event=event(0, "three")))
        thread.offer(7, 4, ClientEvent(event=event(0, "four", end=True)))
        assert outlet.over.wait(ANSWER_WITHIN_S)
    assert (words_of(outlet.segments), outlet.refusals) == (["one", "two", "three", "four"], [])
    assert [one.gaps for one in outlet.segments if one.gaps] == []
    assert {one.punctuated for one in outlet.segments} == {False}


@pytest.mark.parametrize(
    ("said", "last", "seq"),
    [
        (ClientEvent(event=event(0)), None, 0),
        (ClientEvent(event=event(0)), event(6), 7),
        (ClientEvent(event=event(4), numbered=True), event(6), 4),
        (ClientEvent(event=event(4), numbered=True), None, 4),
    ],
)
def test_an_event_without_a_number_goes_behind_the_last_one(
    said: ClientEvent, last: WordsEvent | None, seq: int
) -> None:
    asked = SessionOptions(punctuation=False)
    placed = said.behind(last, asked)
    assert (placed.seq, placed.options) == (seq, None if last else asked)
