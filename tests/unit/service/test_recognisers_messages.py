"""A recogniser's own messages become only what an event may hold; what breaks a reader is refused like any other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import pytest

from caesura.worker.core.language.rules import Bounds, DecodingRules, OptionBounds
from caesura.worker.feeds.hypothesis import Hypothesis, Recogniser
from caesura.worker.feeds.recognised_speech import RecognisedSpeech
from caesura.worker.feeds.recognisers.catalogue import RecogniserName
from caesura.worker.feeds.session_events import SessionEvents
from caesura.worker.service.clients.reading import RecogniserReader, RefusedMessageError, read_opening
from caesura.worker.service.server.messages import Opening
from caesura.worker.service.server.telemetry import ServiceTelemetry
from tests.harness.service import opened, received, serving, texts

VOSK = {"text": "so yes", "result": [{"word": word, "start": 0.1, "end": 0.4} for word in ("so", "yes")]}


def deepgram(speaker: object, *, start: float = 0.0, request: str = "one") -> str:
    words = [{"word": "hi", "start": start, "end": start, "speaker": speaker}]
    return json.dumps(
        {
            "metadata": {"request_id": request},
            "is_final": True,
            "start": start,
            "duration": 1,
            "channel": {"alternatives": [{"transcript": "hi", "words": words}]},
        }
    )


@pytest.mark.parametrize("speaker", ["a\nb\x00c", "s" * 2000])
def test_a_speaker_whose_name_no_event_may_hold_is_refused_and_the_others_go_on(speaker: str) -> None:
    with serving() as served, opened(served, {"format": "deepgram"}) as client:
        client.send(deepgram(speaker))
        (*_, refusal) = received(client, "error")
        client.send(deepgram("b"))
        client.send(json.dumps({"session_end": True}))
        told = received(client, "ended")
    assert (refusal["message"], refusal["reason"]) == (1, "malformed")
    assert speaker not in refusal["detail"]
    assert [one["segment"]["session"] for one in told if one["type"] == "segment"] == ["1/b"]


def test_times_that_grow_beyond_what_an_event_may_hold_are_refused() -> None:
    with serving() as served, opened(served, {"format": "deepgram"}) as client:
        client.send(deepgram("a", start=9e12, request="one"))
        client.send(deepgram("a", start=9e12, request="two"))
        (*_, refusal) = received(client, "error")
        client.send(json.dumps({"session_end": True}))
        told = received(client, "ended")
    assert (refusal["message"], refusal["reason"]) == (2, "malformed")
    assert texts(told) == ["hi"]


def test_a_session_closed_for_its_silence_goes_on_without_a_gap() -> None:
    bounds = OptionBounds(flush_after_ms=Bounds(least=20, most=100))
    rules = DecodingRules(flush_after_ms=50, stall_after_ms=50, idle_after_ms=100, bounds=bounds)
    with (
        serving(rules=rules) as served,
        opened(served, {"format": "vosk", "options": {"punctuation": False}}) as client,
    ):
        for _ in range(2):
            client.send(json.dumps(VOSK))
            told = received(client, "ended")
            assert texts(told) == ["so", "yes"]
            segments = [one["segment"] for one in told if one["type"] == "segment"]
            assert {one["punctuated"] for one in segments if one["words"]} == {False}
            assert not any("gaps" in one for one in segments)


SAID_NOTHING = json.dumps({"text": "", "result": []})


@pytest.mark.parametrize("before", [(), (SAID_NOTHING,), ('{"session_end": true}',)])
def test_who_ends_a_call_in_which_nobody_spoke_hears_that_it_is_over(before: tuple[str, ...]) -> None:
    with serving() as served, opened(served, {"format": "vosk", "session": "call"}) as client:
        for message in before:
            client.send(message)
        if before == ('{"session_end": true}',):
            received(client, "ended")
        client.send('{"session_end": true}')
        told = received(client, "ended")
        assert told[-1]["session"] == "call"
        assert texts(told) == []
        client.send(json.dumps(VOSK))
        client.send('{"session_end": true}')
        assert texts(received(client, "ended")) == ["so", "yes"], "the name is free again"


def test_a_connection_that_ends_by_itself_before_anybody_spoke_opens_no_session() -> None:
    reader = RecogniserReader(opening=Opening(), recogniser=RecogniserName.VOSK, failed=lambda *_: None)
    assert list(reader.read(SAID_NOTHING)) == []
    assert list(reader.finish()) == []


def test_an_end_under_a_name_that_no_session_may_have_is_refused() -> None:
    opening = Opening(format=RecogniserName.VOSK, session="a\nb")
    reader = RecogniserReader(opening=opening, recogniser=RecogniserName.VOSK, failed=lambda *_: None)
    with pytest.raises(RefusedMessageError, match="malformed"):
        list(reader.read('{"session_end": true}'))


class Broken:
    """A recogniser's reader that raises."""

    agreement = 0

    def __init__(self, error: Exception) -> None:
        self._error = error

    def read(self, _: Mapping[str, object]) -> Iterable[Hypothesis]:
        raise self._error

    def finish(self) -> Iterable[Hypothesis]:
        return ()


def over(recogniser: Recogniser, failed: list[tuple[RecogniserName, Exception]]) -> RecogniserReader:
    """Return a reader over that recogniser's, which notes what it raised."""
    return RecogniserReader(
        opening=Opening(format=RecogniserName.VOSK),
        recogniser=RecogniserName.VOSK,
        failed=lambda *told: failed.append(told),
        _speech=RecognisedSpeech(recogniser, SessionEvents(session="1", lang="en")),
    )


@pytest.mark.parametrize("error", [ValueError("secret"), OverflowError("secret"), RecursionError("secret")])
def test_whatever_a_reader_raises_is_a_message_refused(error: Exception) -> None:
    failed: list[tuple[RecogniserName, Exception]] = []
    reader = over(Broken(error), failed)
    with pytest.raises(RefusedMessageError, match="malformed: the message: expected one of vosk's") as refused:
        list(reader.read('{"text": "secret"}'))
    assert "secret" not in str(refused.value)
    assert failed == [(RecogniserName.VOSK, error)]


class BrokenAtItsEnd(Broken):
    """A recogniser's reader that raises once its messages are over."""

    def read(self, _: Mapping[str, object]) -> Iterable[Hypothesis]:
        return ()

    def finish(self) -> Iterable[Hypothesis]:
        raise self._error


def test_a_reader_that_raises_at_its_end_is_refused_where_its_events_are_taken() -> None:
    failed: list[tuple[RecogniserName, Exception]] = []
    error = ValueError("secret")
    reader = over(BrokenAtItsEnd(error), failed)
    left = reader.finish()
    assert failed == [], "nothing is raised where nobody would refuse it"
    with pytest.raises(RefusedMessageError, match="malformed: the message: expected one of vosk's"):
        list(left)
    assert failed == [(RecogniserName.VOSK, error)]


def test_a_reader_that_fails_is_told_once_and_without_the_message(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry = ServiceTelemetry()
    for _ in range(3):
        telemetry.reader_failed(RecogniserName.VOSK, ValueError("secret"))
    telemetry.reader_failed(RecogniserName.DEEPGRAM, ValueError("secret"))
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(one["level"], one["call"], one["error"]) for one in lines] == [
        ("warning", "vosk", "ValueError"),
        ("warning", "deepgram", "ValueError"),
    ]
    assert "secret" not in str(lines)
    assert not any("withheld" in one for one in lines)


def test_nothing_like_a_very_long_name_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_for: list[str] = []
    monkeypatch.setattr("difflib.get_close_matches", lambda name, *_, **__: looked_for.append(name))
    for name in ("tokeen", "token" * 1000):
        with pytest.raises(RefusedMessageError, match="unknown_field"):
            read_opening(json.dumps({name: 1}))
    assert looked_for == ["tokeen"]


def test_no_more_is_kept_of_sessions_than_those_that_a_connection_has_open() -> None:
    opening = Opening(format=RecogniserName.DEEPGRAM)
    reader = RecogniserReader(
        opening=opening, recogniser=RecogniserName.DEEPGRAM, failed=lambda *_: None, max_sessions=2
    )
    for session in ("a", "b"):
        list(reader.read(deepgram(session, start=5.0)))
    for number in range(200):  # there is no room for theirs
        with pytest.raises(RefusedMessageError, match="too_many_sessions"):
            list(reader.read(deepgram(f"b{number}")))
    reader.ended("1/b")
    for number in range(200):  # and these are soon over
        for said in reader.read(deepgram(f"c{number}")):
            reader.ended(said.event.session)
    assert reader._events is not None
    assert list(reader._events._numbers) == ["1/a"]
    (said,) = reader.read(deepgram("d", request="two"))
    assert said.event.words[0].start_ms == 6000, "the new connection's times begin behind all that was heard"
    assert [one.event.session for one in reader.read('{"session_end": true}')] == ["1/a", "1/d"]
