"""Words by POST: the same segments as over a WebSocket, the same limits, and requests that are sent twice."""

from __future__ import annotations

import base64
import http.client
import json
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from caesura.worker.core.language.rules import Bounds, DecodingRules, OptionBounds
from caesura.worker.feeds.hypothesis import Hypothesis, Recogniser
from caesura.worker.feeds.recognised_speech import RecognisedSpeech
from caesura.worker.feeds.recognisers.catalogue import RecogniserName
from caesura.worker.feeds.session_events import SessionEvents
from caesura.worker.service.clients.reading import RecogniserReader, RefusedMessageError, read_opening
from caesura.worker.service.server.messages import Opening
from caesura.worker.service.server.telemetry import ServiceTelemetry
from caesura.worker.settings.serving import ServeSettings
from tests.harness.service import (
    ANSWER_WITHIN_S,
    Served,
    close_of,
    closing_of,
    counted,
    opened,
    received,
    serving,
    texts,
)

Answer = dict[str, Any]
_SPEECH = [["so", "we-stop"], ["then", "it", "was-stop", "and"], ["that", "is-stop"], ["all"]]
_EVENTS = [{"seq": seq, "words": words} for seq, words in enumerate(_SPEECH)]
_CALL = "/v1/sessions/call/events"


@pytest.fixture(scope="module")
def service() -> Iterator[Served]:
    """A service for the tests whose clients and sessions are gone at their end."""
    with serving() as served:
        yield served


def asked(
    served: Served, method: str, path: str, body: object = None, **headers: str
) -> tuple[int, Answer, http.client.HTTPMessage]:
    """Return status, body and headers of the answer. body: sent as it is where it is text, else as JSON."""
    sent = body if isinstance(body, str) or body is None else json.dumps(body)
    with closing(http.client.HTTPConnection(served.url.split("/")[2], timeout=ANSWER_WITHIN_S)) as connection:
        connection.request(method, path, sent, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"{}"), answer.headers


def posted(served: Served, body: object, path: str = _CALL) -> tuple[int, Answer]:
    """Return status and body of the answer to a POST."""
    status, answer, _ = asked(served, "POST", path, body)
    return status, answer


def form(**fields: str) -> str:
    """Return what Twilio posts."""
    return urlencode(
        {"TranscriptionEvent": "transcription-content", "Track": "inbound_track", "Final": "true"} | fields
    )


def reasons(answer: Answer) -> list[str]:
    """Return the reasons of an answer's errors."""
    return [error["reason"] for error in answer["errors"]]


def spoken(answer: Answer) -> list[str]:
    """Return the words of an answer's segments."""
    return texts(answer["segments"])


def content(messages: list[Answer]) -> list[tuple[object, ...]]:
    """Return what does not depend on the time of segments."""
    segments = [message["segment"] for message in messages if message["type"] == "segment"]
    return [(segment["session"], segment["index"], segment["words"]) for segment in segments]


def test_posted_words_become_the_segments_that_a_websocket_gets() -> None:
    with serving() as served:
        with opened(served, {"session": "call"}) as client:
            for event in _EVENTS:
                client.send(json.dumps(event))
            client.send(json.dumps({"session_end": True}))
            by_websocket = received(client, "ended")
        segments: list[Answer] = []
        for event in _EVENTS:
            status, answer = posted(served, event, f"{_CALL}?after={len(segments)}")
            assert (status, answer["taken"]) == (200, 1)
            segments += answer["segments"]
        status, answer, _ = asked(served, "DELETE", f"/v1/sessions/call?after={len(segments)}")
        assert (status, answer["ended"]) == (200, True)
        segments += answer["segments"]
    assert len(segments) > 1
    assert content(segments) == content(by_websocket)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (json.dumps(_EVENTS), {}),
        (json.dumps(_EVENTS), {"Content-Type": "application/json; charset=utf-8"}),
        ("\n".join(map(json.dumps, _EVENTS)), {"Content-Type": "application/x-ndjson"}),
    ],
)
def test_an_array_and_json_lines_are_taken_in_order(body: str, headers: dict[str, str]) -> None:
    with serving() as served:
        status, answer, _ = asked(served, "POST", _CALL, body, **headers)
        assert (status, answer["taken"], "segments" in answer) == (200, 4, False)
        status, answer, _ = asked(served, "DELETE", "/v1/sessions/call?after=0")
    assert spoken(answer) == [word for words in _SPEECH for word in words]


def test_a_numbered_event_that_comes_twice_is_taken_once_also_after_the_end() -> None:
    last = {"seq": 4, "words": ["bye"], "session_end": True}
    with serving(ServeSettings(port=0, max_refused_messages=2)) as served:
        for _ in range(6):
            status, answer = posted(served, _EVENTS)
            assert (status, answer["errors"]) == (200, [])
        assert (answer["taken"], answer["repeated"]) == (0, 4)
        _, once = posted(served, last, f"{_CALL}?after=0")
        status, again = posted(served, last, f"{_CALL}?after=0")
    assert (status, again["taken"], again["repeated"], again["ended"]) == (200, 0, 1, True)
    assert once["segments"] == again["segments"]
    assert spoken(again) == [word for words in _SPEECH for word in words] + ["bye"]


def test_segments_are_kept_until_a_request_says_that_it_has_them() -> None:
    with serving() as served:
        posted(served, [*_EVENTS, {"session_end": True}])
        _, first, _ = asked(served, "GET", "/v1/sessions/call/segments")
        _, again, _ = asked(served, "GET", "/v1/sessions/call/segments?after=1")
        _, rest, _ = asked(served, "GET", f"/v1/sessions/call/segments?after={first['next']}")
    assert len(first["segments"]) == first["next"] > 1
    assert again["segments"] == first["segments"][1:]
    assert (rest["segments"], rest["ended"]) == ([], True)


def test_two_sessions_at_once_do_not_meet() -> None:
    with serving() as served:
        answers: dict[str, Answer] = {}

        def speak(name: str) -> None:
            for place in range(20):
                posted(served, {"seq": place, "words": [f"{name}{place}"]}, f"/v1/sessions/{name}/events")
            answers[name] = asked(served, "DELETE", f"/v1/sessions/{name}?after=0")[1]

        threads = [threading.Thread(target=speak, args=(name,)) for name in ("a", "b")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(ANSWER_WITHIN_S)
    for name in ("a", "b"):
        assert spoken(answers[name]) == [f"{name}{place}" for place in range(20)]
        assert {segment["segment"]["session"] for segment in answers[name]["segments"]} == {name}


def test_requests_of_one_session_at_once_lose_no_word() -> None:
    with serving() as served:
        threads = [threading.Thread(target=posted, args=(served, {"words": [f"w{place}"]})) for place in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(ANSWER_WITHIN_S)
        _, answer, _ = asked(served, "DELETE", "/v1/sessions/call?after=0")
    assert sorted(spoken(answer)) == sorted(f"w{place}" for place in range(16))


@pytest.mark.parametrize(
    ("body", "reason", "detail"),
    [
        ("no json", "malformed", "expected JSON"),
        ("", "malformed", "expected JSON"),
        ("[1]", "malformed", "expected an object"),
        ('[{"words": "one"}, {"words": 3}, {"words": "two"}]', "wrong_type", "messages[1]: words"),
        ('{"wrods": ["secret"]}', "unknown_field", "did you mean words?"),
        ('{"session": "other", "words": ["secret"]}', "key_mismatch", "session"),
    ],
)
def test_refused_messages_are_named_and_the_session_continues(body: str, reason: str, detail: str) -> None:
    with serving() as served:
        posted(served, {"words": "before"})
        status, refusal = posted(served, body)
        posted(served, {"words": "after"})
        _, answer, _ = asked(served, "DELETE", "/v1/sessions/call?after=0")
    assert (status, reasons(refusal)) == (400, [reason])
    assert detail in refusal["errors"][0]["detail"]
    assert "secret" not in json.dumps(refusal)
    assert spoken(answer) == (["before", "one", "after"] if "one" in body else ["before", "after"])
    assert refusal["taken"] == ("one" in body)


@pytest.mark.parametrize(
    ("query", "reason"),
    [("from=nobody", "bad_opening"), ("lang=not a tag", "bad_opening"), ("form=vosk", "unknown_field"),
     ("after=-1", "out_of_range")],
)  # fmt: skip
def test_an_invalid_query_is_refused(service: Served, query: str, reason: str) -> None:
    status, answer = posted(service, _EVENTS[0], f"{_CALL}?{query.replace(' ', '%20')}")
    assert (status, reasons(answer)) == (400, [reason])


def test_the_token_is_asked_for_before_the_body_is_read() -> None:
    with serving(ServeSettings(port=0, token="open-sesame")) as served:
        basic = "Basic " + base64.b64encode(b"anyone:open-sesame").decode()
        for wrong in ("", "Bearer open", "Basic open-sesame", "Basic " + base64.b64encode(b"open-sesame:").decode()):
            status, answer, headers = asked(served, "POST", _CALL, "no json", Authorization=wrong)
            assert (status, reasons(answer), "WWW-Authenticate" in headers) == (401, ["wrong_token"], True)
        for right in ("Bearer open-sesame", basic):
            assert asked(served, "POST", _CALL, {"words": "one"}, Authorization=right)[0] == 200
        assert asked(served, "GET", "/v1/sessions/call/segments")[0] == 401
        assert asked(served, "DELETE", "/v1/sessions/call")[0] == 401


def test_a_page_of_another_site_may_not_post() -> None:
    with serving() as served:
        assert asked(served, "POST", _CALL, _EVENTS, Origin="https://stranger.example")[0] == 403
        assert asked(served, "POST", _CALL, _EVENTS, Host="stranger.example")[0] == 403


def test_limits_of_size_clients_and_sessions_are_answered_with_their_status() -> None:
    limits = ServeSettings(port=0, max_connections=1, max_message_bytes=2000)
    with serving(limits) as served:
        status, answer = posted(served, {"words": ["x" * 3000]})
        assert (status, reasons(answer)) == (413, ["oversized"])
        assert posted(served, {"words": "one"})[0] == 200
        status, answer, headers = asked(served, "POST", "/v1/sessions/other/events", {"words": "one"})
        assert (status, reasons(answer), headers["Retry-After"]) == (429, ["too_many_connections"], "1")
        assert counted(served)["caesura_serve_refused_total['too_many_connections']"] == 1


def test_an_event_for_which_there_is_no_session_may_be_sent_again() -> None:
    with serving(rules=DecodingRules(max_open_sessions=1)) as served:
        posted(served, {"words": "one"}, "/v1/sessions/first/events")
        status, answer, headers = asked(served, "POST", _CALL, _EVENTS[0])
        assert (status, reasons(answer), headers["Retry-After"]) == (429, ["too_many_sessions"], "1")
        asked(served, "DELETE", "/v1/sessions/first")
        status, answer = posted(served, _EVENTS[0])
        assert (status, answer["taken"], answer["repeated"]) == (200, 1, 0)


def test_an_array_whose_second_session_finds_no_room_is_taken_once() -> None:
    first = [f"w{place}" for place in range(2000)]
    body = [
        {"epoch": 0, "seq": 0, "words": first, "session_end": True},
        *({"epoch": 1, "seq": seq, "words": [f"v{seq}"]} for seq in range(3)),
    ]
    answers: list[tuple[int, Answer]] = []
    limits = ServeSettings(port=0, max_words_per_second=150, opening_timeout_s=30)
    with serving(limits, rules=DecodingRules(max_open_sessions=1)) as served:
        posting = threading.Thread(target=lambda: answers.append(posted(served, body, f"{_CALL}?after=0")))
        posting.start()
        deadline_s = time.monotonic() + ANSWER_WITHIN_S
        ended: Answer = {}
        while not ended.get("ended") and time.monotonic() < deadline_s:
            _, ended, _ = asked(served, "GET", "/v1/sessions/call/segments")
        assert posted(served, {"words": "one"}, "/v1/sessions/other/events")[0] == 200
        posting.join(ANSWER_WITHIN_S)
        asked(served, "DELETE", "/v1/sessions/other")
        again = posted(served, [*body, {"epoch": 1, "session_end": True}], f"{_CALL}?after=0")
    status, answer = answers[0]
    assert (status, reasons(answer), answer["taken"], answer["repeated"]) == (400, ["too_many_sessions"], 1, 0)
    assert (again[0], again[1]["errors"], again[1]["taken"], again[1]["repeated"]) == (200, [], 4, 1)
    assert spoken(again[1]) == [*first, "v0", "v1", "v2"]


def test_events_refused_at_a_sessions_end_may_be_sent_again() -> None:
    body = [
        {"epoch": 0, "seq": 0, "words": "one two", "session_end": True},
        {"epoch": 1, "seq": 0, "words": "three"},
        {"epoch": 1, "seq": 1, "words": "four", "session_end": True},
    ]
    with serving() as served:
        status, answer = posted(served, body, f"{_CALL}?after=0")
        assert (status, reasons(answer), answer["taken"]) == (400, ["session_ended"], 1)
        status, answer = posted(served, body, f"{_CALL}?after=0")
        assert (status, answer["errors"], answer["taken"], answer["repeated"]) == (200, [], 2, 1)
    assert spoken(answer) == ["one", "two", "three", "four"]


def test_words_faster_than_allowed_are_taken_slowly_without_loss() -> None:
    words = [f"w{place}" for place in range(130)]
    with serving(ServeSettings(port=0, max_words_per_second=10, opening_timeout_s=2)) as served:
        first, _ = posted(served, {"words": words[:120]})
        second, answer, headers = asked(served, "POST", _CALL, {"words": words[120:]})
        assert (first, second, reasons(answer), headers["Retry-After"]) == (202, 429, ["busy"], "1")
        deadline_s = time.monotonic() + ANSWER_WITHIN_S
        while second == 429 and time.monotonic() < deadline_s:
            second, _ = posted(served, {"words": words[120:]})
        ended: Answer = {}
        while not ended.get("ended") and time.monotonic() < deadline_s:
            _, ended, _ = asked(served, "DELETE", "/v1/sessions/call?after=0")
    assert spoken(ended) == words


def test_a_session_whose_segments_are_not_read_takes_no_more() -> None:
    with serving(ServeSettings(port=0, max_unsent_messages=16, opening_timeout_s=3)) as served:
        status, seq = 200, 0
        while status != 429 and seq < 100:
            status, answer = posted(served, {"seq": seq, "words": f"w{seq}-stop"})
            seq += status != 429
        assert (status, reasons(answer)) == (429, ["busy"])
        status, answer = posted(served, {"seq": seq, "words": "last"}, f"{_CALL}?after=10")
        assert (status, answer["taken"]) == (200, 1)
        _, rest, _ = asked(served, "DELETE", "/v1/sessions/call?after=10")
    assert spoken(rest) == [f"w{place}-stop" for place in range(10, seq)] + ["last"]


def test_webhooks_of_recognisers_are_read_as_json_and_as_a_form() -> None:
    heard = {"speech": {"is_final": True, "channel_tag": 1, "alternatives": [{"transcript": "hi there-stop"}]}}
    said = form(TranscriptionData=json.dumps({"transcript": "good day-stop"}))
    with serving() as served:
        assert posted(served, heard, "/v1/sessions/one/events?from=jambonz")[0] == 200
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert asked(served, "POST", "/v1/sessions/two/events?from=twilio", said, **kind)[0] == 200
        status, answer = posted(served, heard, "/v1/sessions/two/events?from=jambonz")
        assert (status, reasons(answer)) == (400, ["bad_opening"])
        assert spoken(asked(served, "DELETE", "/v1/sessions/one?after=0")[1]) == ["hi", "there-stop"]
        assert spoken(asked(served, "DELETE", "/v1/sessions/two?after=0")[1]) == ["good", "day-stop"]


def test_a_recogniser_that_says_it_has_stopped_ends_the_session() -> None:
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    call = "/v1/sessions/call/events?from=twilio&after=0"
    said = form(TranscriptionData=json.dumps({"transcript": "good day"}))
    with serving() as served:
        assert asked(served, "POST", call, form(TranscriptionEvent="transcription-started"), **kind)[0] == 200
        _, answer, _ = asked(served, "POST", call, said, **kind)
        assert not answer["ended"]
        _, answer, _ = asked(served, "POST", call, form(TranscriptionEvent="transcription-stopped"), **kind)
        assert (spoken(answer), answer["ended"]) == (["good", "day"], True)
        _, answer, _ = asked(served, "POST", call.replace("after=0", f"after={answer['next']}"), said, **kind)
        assert (answer["taken"], answer["ended"]) == (1, False)


def test_bandwidths_webhook_and_what_its_websocket_sends_are_taken_by_post() -> None:
    call = "/v1/sessions/call/events?from=bandwidth&after=0"
    state = {"callId": "c-1", "realTimeTranscription": {"id": "t-1", "tracks": ["inbound"]}}
    words = [("good", "PRONUNCIATION", "01.0", "01.3"), ("day", "PRONUNCIATION", "01.4", "01.8"),
             (".", "PUNCTUATION", "01.8", "01.8")]  # fmt: skip
    minute = "2026-11-28T10:00:"
    items = [
        {"content": word, "type": kind, "startTime": f"{minute}{start}Z", "endTime": f"{minute}{end}Z"}
        for word, kind, start, end in words
    ]
    heard = {"eventType": "transcription", "track": "inbound", "isPartial": False, "items": items}
    with serving() as served:
        assert posted(served, {"eventType": "realTimeTranscriptionStarted"} | state, call)[0] == 200
        assert posted(served, heard, call)[0] == 200
        status, answer = posted(served, {"eventType": "realTimeTranscriptionStopped"} | state, call)
    assert (status, answer["errors"], answer["ended"]) == (200, [], True)
    assert spoken(answer) == ["good", "day"]
    assert {segment["segment"]["session"] for segment in answer["segments"]} == {"call/inbound"}


def test_a_session_that_nothing_is_posted_to_ends_and_its_name_begins_anew() -> None:
    with serving(ServeSettings(port=0, idle_timeout_s=1)) as served:
        posted(served, {"seq": 0, "words": "one two"})
        answer: Answer = {"segments": []}
        while not answer["segments"]:
            _, answer, _ = asked(served, "GET", "/v1/sessions/call/segments?after=0")
        assert spoken(answer) == ["one", "two"]
        status = 200
        deadline_s = time.monotonic() + ANSWER_WITHIN_S
        while status != 404 and time.monotonic() < deadline_s:
            status, _, _ = asked(served, "GET", f"/v1/sessions/call/segments?after={answer['next']}")
        assert status == 404
        status, answer = posted(served, {"seq": 0, "words": "three"})
        assert (status, answer["taken"]) == (200, 1)
        assert asked(served, "GET", "/v1/sessions/nobody/segments")[0] == 404
        assert asked(served, "DELETE", "/v1/sessions/nobody")[0] == 404


def test_a_stop_ends_the_session_and_waits_until_its_last_words_are_asked_for() -> None:
    with serving(ServeSettings(port=0, drain_timeout_s=30)) as served:
        posted(served, {"words": "one two"}, f"{_CALL}?after=0")
        served.stop()
        deadline_s = time.monotonic() + ANSWER_WITHIN_S
        status = 200
        while status != 503 and time.monotonic() < deadline_s:
            status, refusal = posted(served, {"words": "late"}, "/v1/sessions/other/events")
        assert (status, reasons(refusal)) == (503, ["draining"])
        time.sleep(0.5)  # a service that did not wait would be gone
        _, answer, _ = asked(served, "GET", "/v1/sessions/call/segments?after=0")
        assert spoken(answer) == ["one", "two"]
        assert served.done.wait(ANSWER_WITHIN_S)
    assert served.status == [0]


@pytest.mark.parametrize(
    ("frame", "reason", "detail"),
    [
        ('{"words": ["two words"]}', "forbidden_character", "words[0].text"),
        ('{"words": [{"text": "a", "start_ms": -1}]}', "out_of_range", "words[0].start_ms"),
        ('{"wrods": ["secret"]}', "unknown_field", "did you mean words?"),
        ("no json", "malformed", "the message: expected JSON"),
        ("[1]", "malformed", "expected an object"),
        ('{"words": 3}', "wrong_type", "words"),
        ('{"words": ["a"], "version": "2.0"}', "unknown_version", "newer"),
        (b"\xc1", "malformed", "MessagePack"),
        (msgspec.msgpack.encode({"words": [float("nan")]}), "wrong_type", "words[0]"),
    ],
)
def test_a_message_that_is_not_taken_is_refused_by_name_and_the_session_goes_on(
    service: Served, frame: str | bytes, reason: str, detail: str
) -> None:
    with opened(service) as client:
        client.send(json.dumps({"words": ["one"]}))
        client.send(frame)
        (*_, refusal) = received(client, "error")
        client.send(json.dumps({"words": ["two"], "session_end": True}))
        assert texts(received(client, "ended")) == ["one", "two"]

    assert (refusal["message"], refusal["reason"]) == (2, reason)
    assert detail in refusal["detail"]
    assert "secret" not in refusal["detail"]


@pytest.mark.parametrize(
    ("opening", "detail"),
    [
        ({"words": ["one"]}, "the first message opens the connection"),
        ({"lang": "english please"}, "lang: expected"),
        ({"tentativ": True}, "did you mean tentative?"),
        ({"wire": "xml"}, "wire: expected one of the names"),
        ({"options": {"emission": 3}}, "options.emission: expected"),
    ],
)
def test_an_invalid_opening_is_refused_with_its_reason(
    service: Served, opening: dict[str, object], detail: str
) -> None:
    with opened(service, opening) as client:
        (refusal,) = received(client, "error")
    assert detail in refusal["detail"]
    assert closing_of(service, opening)[0] == 4000


def test_a_client_without_an_opening_message_is_closed() -> None:
    with serving(ServeSettings(port=0, opening_timeout_s=0.1)) as served, connect(served.words, proxy=None) as client:
        (refusal,) = received(client, "error")
    assert refusal["reason"] == "opening_expected"


def test_limits_of_connections_sessions_and_size_are_told() -> None:
    limits = ServeSettings(port=0, max_connections=1, max_sessions_per_connection=1, max_message_bytes=2000)
    with serving(limits) as served, opened(served) as client:
        assert received(client, "ready")[0]["limits"] == {
            "message_bytes": 2000,
            "words_per_second": 500,
            "sessions": 1,
        }
        assert closing_of(served, {}) == (1013, "too_many_connections")
        client.send(json.dumps({"session": "a", "words": ["one"]}))
        client.send(json.dumps({"session": "b", "words": ["two"]}))
        (*_, refusal) = received(client, "error")
        assert refusal["reason"] == "too_many_sessions"
        client.send(json.dumps({"words": ["x" * 3000]}))
        assert close_of(client)[0] == 1009


def test_words_faster_than_allowed_are_read_slowly_without_loss() -> None:
    with serving(ServeSettings(port=0, max_words_per_second=100)) as served, opened(served) as client:
        began_s = time.monotonic()
        for start in range(0, 1200, 100):
            client.send(json.dumps({"words": [f"n{start + place}" for place in range(100)]}))
        client.send(json.dumps({"session_end": True}))
        assert len(texts(received(client, "ended"))) == 1200
    assert time.monotonic() - began_s > 1.5  # a thousand at once, two hundred at a hundred a second


@pytest.mark.slow
def test_a_client_that_does_not_read_is_not_read_either_and_at_last_let_go() -> None:
    limits = ServeSettings(
        port=0, max_unsent_messages=16, send_timeout_s=0.5, max_words_per_second=1_000_000, max_queued_words=100
    )
    with serving(limits) as served, opened(served) as client:
        deadline_s = time.monotonic() + ANSWER_WITHIN_S
        sent = 0
        event = json.dumps({"words": [f"w{'x' * 40}-stop"] * 50})
        client.socket.settimeout(5)
        with suppress(ConnectionClosed, TimeoutError, OSError):
            while time.monotonic() < deadline_s:
                client.send(event)
                sent += 1
        assert time.monotonic() < deadline_s
        assert sent < 100_000
    with serving(limits) as again, opened(again) as other:
        other.send(json.dumps({"words": ["one"], "session_end": True}))
        assert texts(received(other, "ended")) == ["one"]


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
def test_a_speaker_whose_name_no_event_may_hold_is_refused_and_the_others_go_on(service: Served, speaker: str) -> None:
    with opened(service, {"format": "deepgram"}) as client:
        client.send(deepgram(speaker))
        (*_, refusal) = received(client, "error")
        client.send(deepgram("b"))
        client.send(json.dumps({"session_end": True}))
        told = received(client, "ended")
    assert (refusal["message"], refusal["reason"]) == (1, "malformed")
    assert speaker not in refusal["detail"]
    assert [one["segment"]["session"] for one in told if one["type"] == "segment"] == ["1/b"]


def test_times_that_grow_beyond_what_an_event_may_hold_are_refused(service: Served) -> None:
    with opened(service, {"format": "deepgram"}) as client:
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
def test_ending_an_empty_call_is_acknowledged(service: Served, before: tuple[str, ...]) -> None:
    with opened(service, {"format": "vosk", "session": "call"}) as client:
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


def test_very_long_names_get_no_suggestion(monkeypatch: pytest.MonkeyPatch) -> None:
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
