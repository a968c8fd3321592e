"""Words that come as their session or their connection ends: each goes out, or is refused by name."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket
from typing_extensions import override
from uvicorn.server import ServerState
from websockets.client import ClientProtocol
from websockets.uri import parse_uri

from caesura.schemas.events import SessionOptions, Word, WordsEvent
from caesura.schemas.labels import Labels
from caesura.schemas.segments import Cause, Segment
from caesura.schemas.tentative import Tentative
from caesura.schemas.versions import EVENT_VERSION
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.decoding.admission import AdmissionDecision
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.overlays.beside import Beside
from caesura.worker.core.session.session import Session
from caesura.worker.core.session.stream import StreamingLabeller
from caesura.worker.service.clients.client_event import ClientEvent
from caesura.worker.service.clients.decoding_thread import DecodingThread
from caesura.worker.service.clients.session_pool import PoolTurn, SessionPool
from caesura.worker.service.server.messages import ServeReason
from caesura.worker.service.server.server import _configured, _WebSocketProtocol
from caesura.worker.settings.serving import ServeSettings
from caesura.worker.telemetry.connection_limits import ConnectionLimits
from tests.harness.engines import FaultyEngine
from tests.harness.in_memory_world import ManualClock
from tests.harness.service import ANSWER_WITHIN_S, opened, received, serving, texts

IDLE = DecodingRules(flush_after_ms=800, idle_after_ms=10_000)


def event(seq: int, text: str = "", *, end: bool = False, session: str = "a") -> WordsEvent:
    words = tuple(Word(text=one) for one in text.split())
    return WordsEvent(version=EVENT_VERSION, session=session, seq=seq, lang="en", words=words, session_end=end)


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


@pytest.mark.parametrize(("reason", "refused"), [("too_many_refused", 3), ("idle", 0)])
def test_a_client_that_is_closed_gets_its_accepted_words(reason: str, refused: int) -> None:
    settings = ServeSettings(port=0, drain_timeout_s=5, max_refused_messages=2, idle_timeout_s=600 if refused else 1)
    with serving(settings) as served, opened(served) as client:
        client.send(json.dumps({"words": "one two"}))
        for _ in range(refused):
            client.send("no message")
        told = received(client, "closing")
    assert told[-1]["reason"] == reason
    assert texts(told) == ["one", "two"]


def test_events_after_session_end_are_refused_until_ended() -> None:
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


@pytest.mark.parametrize("last", ["ended", "closing"])
def test_an_end_that_its_session_refuses_ends_nothing(last: str) -> None:
    with serving() as served, opened(served) as client:
        client.send(json.dumps({"words": "one", "epoch": 5, "seq": 0}))
        client.send(json.dumps({"words": "two", "epoch": 5, "seq": 1}))
        for epoch, reason in ((5, "repeat"), (4, "stale_epoch")):
            client.send(json.dumps({"session_end": True, "epoch": epoch, "seq": 1}))
            assert received(client, "error")[-1]["reason"] == reason
        client.send(json.dumps({"words": "three", "epoch": 5, "seq": 2}))
        if last == "ended":
            client.send(json.dumps({"session_end": True, "epoch": 5, "seq": 3}))
        else:
            client.send(json.dumps({"session_end": True, "epoch": 4, "seq": 3}))
            assert received(client, "error")[-1]["reason"] == "stale_epoch"
            served.stop()
        told = received(client, last)
    assert [one for one in told if one["type"] == "error"] == []
    assert texts(told) == ["one", "two", "three"]


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

    def frozen(self, segment: Segment, beside: Beside) -> None:
        del beside
        self.segments.append(segment)

    def revisable(self, tentative: Tentative, before: tuple[str, ...]) -> None:
        raise AssertionError(tentative, before)

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


class TickingClock(ManualClock):
    """Each look at it takes a millisecond: what looks at it as it works ends in time."""

    @override
    def monotonic_s(self) -> float:
        self.pass_s(0.001)
        return self.now_s


def new_sessions(count: int) -> list[WordsEvent]:
    return [event(0, "so be it", session=str(number), end=True) for number in range(count)]


def test_a_turn_ends_in_time_however_many_sessions_are_new(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, labelled, asked = ManualClock(), list[int](), Session.request

    def asked_slowly(session: Session, now_ms: int) -> LabelRequest | None:
        clock.pass_s(0.001)
        return asked(session, now_ms)

    monkeypatch.setattr(Session, "request", asked_slowly)

    class Counting(ScriptedEngine):
        @override
        def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
            labelled.append(len(requests))
            return super().label(requests)

    pool = SessionPool(Counting(), clock=clock, rules=IDLE)
    said = new_sessions(1000)
    for one in said:
        pool.offer(one)
    began_s = clock.now_s
    turns = [pool.turn(0.1)]
    assert clock.now_s - began_s < 0.2
    assert labelled, "it looked at a few and labelled them"
    while pool.is_busy:
        turns.append(pool.turn(0.1))
    assert sorted(words_of([one for turn in turns for one in turn.segments])) == sorted(["so", "be", "it"] * len(said))


def test_a_turn_runs_however_many_events_wait() -> None:
    clock, outlet, taken = TickingClock(), Listening(), [0]

    class Counting(SessionPool):
        @override
        def offer(self, event: WordsEvent) -> AdmissionDecision:
            taken[-1] += 1
            return super().offer(event)

        @override
        def turn(self, budget_s: float) -> PoolTurn:
            taken.append(0)
            return super().turn(budget_s)

    thread = DecodingThread(Counting(ScriptedEngine(), clock=clock, rules=IDLE), clock=clock, on_fault=print)
    thread.connect(7, outlet)
    for number, one in enumerate(new_sessions(1000)):
        thread.offer(7, number, ClientEvent(event=one))
    thread.start()
    while sum(taken) < 1000:
        assert outlet.over.wait(ANSWER_WITHIN_S)
        outlet.over.clear()
    thread.stop()
    assert max(taken) <= 100


def test_words_after_an_idle_close_start_the_session_anew() -> None:
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


_CLOSE_FRAME = b"\x88"


class Narrow(asyncio.Transport):
    """A transport whose buffer is over its limit from the close frame on, and no client reads."""

    def __init__(self) -> None:
        super().__init__()
        self.protocol: _WebSocketProtocol | None = None
        self.done: list[str] = []

    @override
    def write(self, data: bytes | bytearray | memoryview) -> None:
        if bytes(data).startswith(_CLOSE_FRAME):
            assert self.protocol is not None
            self.protocol.pause_writing()

    @override
    def abort(self) -> None:
        self.done.append("aborted")

    @override
    def close(self) -> None:
        self.done.append("closed")

    @override
    def pause_reading(self) -> None:
        """No client sends anything."""

    @override
    def resume_reading(self) -> None:
        """No client sends anything."""

    @override
    def is_closing(self) -> bool:
        return False


async def _say_goodbye(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("a segment")
    await socket.close(1012)


async def _left(transport: Narrow, ended: Callable[[_WebSocketProtocol], bool]) -> list[str]:
    """Return what became of the transport by the time that it ended, or after a minute."""
    doorway = ConnectionLimits(most=16, within_s=10)
    config = _configured(Starlette(routes=[WebSocketRoute("/", _say_goodbye)]), ServeSettings(), doorway)
    protocol = transport.protocol = _WebSocketProtocol(doorway, config=config, server_state=ServerState(), app_state={})
    client = ClientProtocol(parse_uri("ws://localhost/"))
    client.send_request(client.connect())
    protocol.connection_made(transport)
    protocol.data_received(b"".join(client.data_to_send()))
    for _ in range(6000):
        if ended(protocol):
            break
        await asyncio.sleep(0.01)
    await asyncio.gather(*protocol.tasks)
    return transport.done


def test_a_goodbye_that_fills_the_buffer_does_not_cut_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caesura.worker.service.server.server._GOODBYE_S", 60.0)
    assert asyncio.run(_left(Narrow(), lambda protocol: protocol.close_sent)) == []


def test_an_unread_goodbye_ends_at_its_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caesura.worker.service.server.server._GOODBYE_S", 0.05)
    transport = Narrow()
    done = asyncio.run(_left(transport, lambda _: "aborted" in transport.done))
    assert "aborted" in done


def labels(segments: list[Segment]) -> list[tuple[str, str, str]]:
    return [(word.text, word.punctuation, word.disfluency) for one in segments for word in one.words]


speech = st.lists(st.lists(st.sampled_from(["so", "uh", "yes", "box", "I"]), min_size=1, max_size=7), max_size=12)


@given(speeches=st.lists(speech, min_size=1, max_size=4), look=st.booleans())
def test_sessions_together_give_what_each_gives_alone(speeches: list[list[list[str]]], look: bool) -> None:
    pool = SessionPool(ScriptedEngine(), clock=ManualClock(), rules=IDLE)
    found: dict[str, list[Segment]] = {str(number): [] for number in range(len(speeches))}
    for seq in range(13):
        for number, spoken in enumerate(speeches):
            if seq <= len(spoken):
                said = spoken[seq] if seq < len(spoken) else []
                pool.offer(event(seq, " ".join(said), end=seq == len(spoken), session=str(number)))
        turn = pool.turn(10)
        for segment in turn.segments:
            found[segment.session].append(segment)
        for name in found if look else ():
            pool.tentative(name)

    for number, spoken in enumerate(speeches):
        alone = StreamingLabeller(ScriptedEngine(), "en", IDLE)
        expected = [segment for said in spoken for segment in alone.add(said)] + alone.end()
        assert labels(found[str(number)]) == labels(expected)
        assert [one.cause for one in found[str(number)]] == [one.cause for one in expected]
    assert len(pool) == 0


def test_unfrozen_and_frozen_words_are_all_words() -> None:
    pool = SessionPool(ScriptedEngine(), clock=ManualClock(), rules=IDLE)
    spoken, frozen = [f"w{number}" for number in range(100)], list[str]()
    for seq, word in enumerate(spoken):
        pool.offer(event(seq, word))
        frozen += [one.text for segment in pool.turn(10).segments for one in segment.words]
        tentative = pool.tentative("a")
        assert tentative is not None
        assert tentative.first_word == len(frozen)
        assert frozen + [one.text for one in tentative.words] == spoken[: seq + 1]
        assert tentative.labelled_words <= len(tentative.words)


def test_silence_freezes_and_idleness_ends_a_session_by_this_processs_time() -> None:
    clock = ManualClock()
    pool = SessionPool(ScriptedEngine(), clock=clock, rules=IDLE)
    pool.offer(event(0, "one two"))
    assert pool.turn(10).segments == []
    assert pool.due_in_s == 0.8

    clock.pass_s(0.801)
    assert [one.cause for one in pool.turn(10).segments] == [Cause.SILENCE]

    clock.pass_s(10)
    turn = pool.turn(10)
    assert [one.cause for one in turn.segments] == [Cause.IDLE]
    assert turn.ended == {"a"}
    assert len(pool) == 0
    assert pool.due_in_s is None


def test_a_session_that_is_dropped_is_gone_with_what_waits_in_it() -> None:
    pool = SessionPool(ScriptedEngine(), clock=ManualClock(), rules=IDLE)
    pool.offer(event(0, " ".join(f"w{number}" for number in range(200))))
    pool.drop("a")
    pool.drop("a")
    assert pool.turn(10).segments == []
    assert pool.tentative("a") is None
    assert not pool.is_busy


def test_no_trace_of_ended_sessions_stays() -> None:
    pool = SessionPool(ScriptedEngine(), clock=ManualClock(), rules=IDLE)
    for number in range(500):
        pool.offer(event(0, "one", end=True, session=f"s{number}"))
        assert pool.turn(10).ended == {f"s{number}"}
    kept = [len(value) for value in vars(pool._sessions).values() if isinstance(value, dict | set | list)]
    assert max(kept) == 0


def test_silences_that_are_due_together_are_spread_over_turns_oldest_first() -> None:
    names = [f"s{number:04}" for number in range(2000)]
    clock = TickingClock()
    rules = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, idle_after_ms=90_000)
    pool = SessionPool(ScriptedEngine(), clock=clock, rules=rules)
    for name in names:
        pool.offer(event(0, "one", session=name))
    while pool.is_busy:
        assert pool.turn(0.1).segments == []
    clock.pass_s(70)
    flushed: list[list[str]] = []
    while not flushed or sum(map(len, flushed)) < len(names):
        flushed.append([one.session for one in pool.turn(0.05).segments])
    assert max(map(len, flushed)) < len(names) / 2, "one turn fired too many"
    assert [name for turn in flushed for name in turn] == names


def test_an_event_waits_for_the_timers_of_its_own_session_alone() -> None:
    clock = ManualClock()
    pool = SessionPool(ScriptedEngine(), clock=clock, rules=IDLE)
    pool.offer(event(0, "one", session="a"))
    pool.offer(event(0, "one", session="b"))
    pool.turn(10)
    clock.pass_s(IDLE.flush_after_ms / 1000 + 1)
    pool.offer(event(1, "two", session="a"))
    assert pool.due_in_s == 0, "b is still due"
    segments = pool.turn(10).segments
    assert {(one.session, *words_of([one])) for one in segments} >= {("a", "one"), ("b", "one")}
