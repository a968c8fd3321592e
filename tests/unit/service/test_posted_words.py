"""Words by POST: the same segments as over a WebSocket, the same limits, and requests that are sent twice."""

from __future__ import annotations

import base64
import http.client
import json
import threading
import time
from contextlib import closing
from typing import Any
from urllib.parse import urlencode

import pytest

from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.settings.serving import ServeSettings
from tests.harness.service import ANSWER_WITHIN_S, Served, opened, received, serving, texts

Answer = dict[str, Any]
_SPEECH = [["so", "we-stop"], ["then", "it", "was-stop", "and"], ["that", "is-stop"], ["all"]]
_EVENTS = [{"seq": seq, "words": words} for seq, words in enumerate(_SPEECH)]
_CALL = "/v1/sessions/call/events"


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
def test_what_is_not_taken_is_answered_by_name_and_the_session_goes_on(body: str, reason: str, detail: str) -> None:
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
def test_a_query_that_is_none_is_refused(query: str, reason: str) -> None:
    with serving() as served:
        status, answer = posted(served, _EVENTS[0], f"{_CALL}?{query.replace(' ', '%20')}")
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


def test_an_event_for_which_there_is_no_session_may_be_sent_again() -> None:
    with serving(rules=DecodingRules(max_open_sessions=1)) as served:
        posted(served, {"words": "one"}, "/v1/sessions/first/events")
        status, answer, headers = asked(served, "POST", _CALL, _EVENTS[0])
        assert (status, reasons(answer), headers["Retry-After"]) == (429, ["too_many_sessions"], "1")
        asked(served, "DELETE", "/v1/sessions/first")
        status, answer = posted(served, _EVENTS[0])
        assert (status, answer["taken"], answer["repeated"]) == (200, 1, 0)


def test_words_faster_than_allowed_are_taken_slowly_and_none_is_lost() -> None:
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


def test_a_session_whose_segments_are_not_asked_for_takes_no_more_until_they_are() -> None:
    with serving(ServeSettings(port=0, max_unsent_messages=16, opening_timeout_s=1)) as served:
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
    form = urlencode(
        {
            "TranscriptionEvent": "transcription-content",
            "TranscriptionData": json.dumps({"transcript": "good day-stop"}),
            "Track": "inbound_track",
            "Final": "true",
        }
    )
    with serving() as served:
        assert posted(served, heard, "/v1/sessions/one/events?from=jambonz")[0] == 200
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert asked(served, "POST", "/v1/sessions/two/events?from=twilio", form, **kind)[0] == 200
        status, answer = posted(served, heard, "/v1/sessions/two/events?from=jambonz")
        assert (status, reasons(answer)) == (400, ["bad_opening"])
        assert spoken(asked(served, "DELETE", "/v1/sessions/one?after=0")[1]) == ["hi", "there-stop"]
        assert spoken(asked(served, "DELETE", "/v1/sessions/two?after=0")[1]) == ["good", "day-stop"]


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
