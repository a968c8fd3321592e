"""Words over WebSocket: what a client sends comes back frozen, in order and once; what it may not do it is told."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Sequence
from contextlib import closing, suppress

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.harness.engines import FaultyEngine
from tests.harness.service import ANSWER_WITHIN_S, Served, close_of, opened, received, serving, texts
from tests.harness.waiting import wait_until
from worker.core.labelling import LabelRequest
from worker.core.rules import DecodingRules
from worker.errors import FatalError
from worker.service.server import listening
from worker.settings.serving import ServeSettings

SPOKEN = [f"n{number}" + ("-stop" if number % 7 == 6 else "") for number in range(60)]


def closing_of(served: Served, opening: dict[str, object], **headers: str) -> tuple[int, str]:
    """Return the code and reason with which a connection is closed that says no more than its opening."""
    with opened(served, opening, headers=headers) as client:
        return close_of(client)


def fetched(served: Served, path: str, **headers: str) -> tuple[int, str, str]:
    """Return status, content security policy and body of the answer to a plain request."""
    with closing(http.client.HTTPConnection(served.url.split("/")[2], timeout=ANSWER_WITHIN_S)) as connection:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers.get("Content-Security-Policy", ""), answer.read().decode()


def counted(served: Served) -> dict[str, float]:
    """Return what the page for Prometheus counts; what is 0 is left out."""
    status, _, text = fetched(served, "/metrics")
    assert status == 200
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {f"{one.name}{sorted(one.labels.values())}": one.value for one in samples if one.value}


def test_words_come_back_frozen_in_order_and_once() -> None:
    with serving() as served, opened(served) as client:
        for word in SPOKEN:
            client.send(json.dumps({"words": [word]}))
        client.send(json.dumps({"session_end": True}))
        messages = received(client, "ended")

    assert messages[0]["type"] == "ready"
    assert "memory" in messages[0]["state"]
    assert texts(messages) == SPOKEN
    segments = [one for one in messages if one["type"] == "segment"]
    assert [one["segment"]["index"] for one in segments] == list(range(len(segments)))
    assert segments[0]["text"] == "N0 n1 n2 n3 n4 n5 n6-stop."
    assert {one["segment"]["session"] for one in segments} == {"1"}


def test_an_opening_in_a_language_that_nobody_serves_is_told_so() -> None:
    with serving() as served:
        with opened(served, {"lang": "klingon"}) as client:
            assert "there is no model for klingon, there is one for" in received(client, "ready")[0]["notice"]
        with opened(served, {"lang": "en-GB"}) as client:
            assert "notice" not in received(client, "ready")[0]


def test_messagepack_goes_both_ways() -> None:
    with serving() as served, opened(served, {"wire": "msgpack"}) as client:
        client.send(msgspec.msgpack.encode({"words": ["uh", "yes"], "session_end": True}))
        kinds, frozen = [], []
        while "ended" not in kinds:
            message = msgspec.msgpack.decode(client.recv(timeout=ANSWER_WITHIN_S, decode=False))
            kinds.append(message["type"])
            frozen += [message["marked"]] if message["type"] == "segment" else []

    assert kinds == ["ready", "segment", "ended"]
    assert frozen == ["{Uh} yes"]


def test_a_recognisers_own_messages_are_taken_as_they_are() -> None:
    results = [
        {"partial": "so uh"},
        {"text": "so uh yes", "result": [{"word": word, "start": 0.1, "end": 0.4} for word in ("so", "uh", "yes")]},
    ]
    with serving() as served, opened(served, {"format": "vosk", "options": {"punctuation": False}}) as client:
        told = []
        for messages in ((*results, {"session_end": True}), (results[1], {"session_end": True})):
            for message in messages:
                client.send(json.dumps(message))
            told.append(received(client, "ended"))
    first, second = told
    assert texts(first) == texts(second) == ["so", "uh", "yes"]
    segments = [one["segment"] for one in first if one["type"] == "segment"]
    assert segments[0]["punctuated"] is False
    assert not any("gaps" in one for one in [*segments, *(one.get("segment", {}) for one in second)])


def test_unfrozen_words_are_told_before_they_freeze_and_never_after() -> None:
    with serving() as served, opened(served, {"tentative": True}) as client:
        client.send(json.dumps({"words": "one uh two-comma three"}))
        (*_, look) = received(client, "tentative")
        client.send(json.dumps({"session_end": True}))
        after = received(client, "ended")

    assert look["marked"] == "One {uh} two-comma, three"
    assert look["tentative"]["revisable"] is True
    assert look["tentative"]["labelled_words"] == 3
    assert [word["text"] for word in look["tentative"]["words"]] == ["one", "uh", "two-comma", "three"]
    assert after[-2]["type"] == "segment"


def test_what_it_does_is_counted_on_a_page_for_prometheus() -> None:
    with serving() as served, opened(served, {"tentative": True}) as client:
        client.send(json.dumps({"words": "one uh two three"}))
        received(client, "tentative")
        client.send(json.dumps({"words": 7}))
        received(client, "error")
        during = counted(served)
        client.send(json.dumps({"session_end": True}))
        received(client, "ended")
        after = counted(served)
    assert during["caesura_serve_connections[]"] == during["caesura_serve_sessions[]"] == 1
    assert during["caesura_serve_words_total[]"] == 4
    assert during["caesura_tentative_looks_total['offered']"] >= 1
    assert [name for name in during if name.startswith("caesura_serve_refused_total")] == [
        "caesura_serve_refused_total['wrong_type']"
    ]
    assert during["caesura_inference_seconds_count[]"] >= 1
    assert "caesura_serve_sessions[]" not in after


def test_metrics_are_for_those_who_show_the_token() -> None:
    with serving(ServeSettings(port=0, token="open-sesame", drain_timeout_s=5)) as served:
        assert fetched(served, "/metrics")[0] == 403
        status, _, text = fetched(served, "/metrics", Authorization="Bearer open-sesame")
        assert (status, "caesura_serve_connections" in text) == (200, True)


def test_sessions_of_many_connections_share_batches() -> None:
    held = threading.Event()
    engine = FaultyEngine(lambda _: held.wait(ANSWER_WITHIN_S))
    with serving(engine=engine) as served, opened(served) as first, opened(served) as second:
        for client in (first, second):
            received(client, "ready")
            for name in ("a", "b"):
                client.send(json.dumps({"session": name, "words": ["one", "two", "three"]}))
        wait_until(lambda: counted(served).get("caesura_serve_words_total[]") == 12, "not all words came", every_s=0.01)
        held.set()
        for client in (first, second):
            client.send(json.dumps({"session": "a", "session_end": True}))
            assert texts(received(client, "ended")) == ["one", "two", "three"]
    assert max(engine.batch_sizes) > 1


def test_sessions_of_the_same_name_never_meet() -> None:
    with serving() as served, opened(served) as first, opened(served) as second:
        first.send(json.dumps({"session": "a", "words": ["mine"]}))
        second.send(json.dumps({"session": "a", "words": ["yours"], "session_end": True}))
        assert texts(received(second, "ended")) == ["yours"]
        first.send(json.dumps({"session": "a", "session_end": True}))
        assert texts(received(first, "ended")) == ["mine"]


def test_silence_freezes_and_a_silent_session_ends() -> None:
    rules = DecodingRules(flush_after_ms=100, stall_after_ms=100, idle_after_ms=20_000)
    with serving(rules=rules) as served, opened(served) as client:
        client.send(json.dumps({"words": ["one", "two"]}))
        (*_, segment) = received(client, "segment")
        assert segment["segment"]["cause"] == "silence"


def test_a_name_is_free_again_once_its_session_has_ended() -> None:
    with serving() as served, opened(served) as client:
        told = []
        for word in ("one", "two"):
            client.send(json.dumps({"words": [word], "session_end": True}))
            told.append(received(client, "ended"))
    assert [texts(messages) for messages in told] == [["one"], ["two"]]
    sinces = [one["segment"]["since"] for messages in told for one in messages if one["type"] == "segment"]
    assert sinces[0] < sinces[1]


@pytest.mark.parametrize(
    ("frame", "reason", "detail"),
    [
        ('{"words": ["two words"]}', "forbidden_character", "words[0].text"),
        ('{"words": [{"text": "a", "start_ms": -1}]}', "out_of_range", "words[0].start_ms"),
        ('{"wrods": ["secret"]}', "unknown_field", "did you mean words?"),
        ("no json", "malformed", "expected JSON in a text frame"),
        ("[1]", "malformed", "expected an object"),
        ('{"words": 3}', "wrong_type", "words"),
        ('{"words": ["a"], "version": "2.0"}', "unknown_version", "newer"),
        (b"\xc1", "malformed", "MessagePack"),
        (msgspec.msgpack.encode({"words": [float("nan")]}), "wrong_type", "words[0]"),
    ],
)
def test_a_message_that_is_not_taken_is_refused_by_name_and_the_session_goes_on(
    frame: str | bytes, reason: str, detail: str
) -> None:
    with serving() as served, opened(served) as client:
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
def test_an_opening_that_is_none_is_answered_with_what_is_wrong(opening: dict[str, object], detail: str) -> None:
    with serving() as served:
        with opened(served, opening) as client:
            (refusal,) = received(client, "error")
        assert detail in refusal["detail"]
        assert closing_of(served, opening)[0] == 4000


def test_who_sends_no_opening_in_time_is_let_go() -> None:
    with serving(ServeSettings(port=0, opening_timeout_s=0.1)) as served, connect(served.words, proxy=None) as client:
        (refusal,) = received(client, "error")
    assert refusal["reason"] == "opening_expected"


def test_too_many_refusals_close_the_connection() -> None:
    with serving(ServeSettings(port=0, max_refused_messages=2)) as served, opened(served) as client:
        for _ in range(4):
            client.send("{}{")
        (*_, closing) = received(client, "closing")
    assert closing["reason"] == "too_many_refused"


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


def test_words_faster_than_allowed_are_read_more_slowly_and_none_is_lost() -> None:
    with serving(ServeSettings(port=0, max_words_per_second=100)) as served, opened(served) as client:
        began_s = time.monotonic()
        for start in range(0, 1200, 100):
            client.send(json.dumps({"words": [f"n{start + place}" for place in range(100)]}))
        client.send(json.dumps({"session_end": True}))
        assert len(texts(received(client, "ended"))) == 1200
    assert time.monotonic() - began_s > 1.5  # a thousand at once, two hundred at a hundred a second


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


def test_a_stop_ends_every_session_sends_what_is_frozen_and_says_why() -> None:
    with serving() as served, opened(served) as first, opened(served) as second:
        for client in (first, second):
            client.send(json.dumps({"words": SPOKEN[:40]}))
            received(client, "segment")
        served.stop()
        for client in (first, second):
            messages = received(client, "closing")
            assert messages[-1]["reason"] == "draining"
            assert messages[-2] == {"type": "ended", "session": "1"}
            assert texts(messages)[-1] == SPOKEN[39]
            assert close_of(client) == (1012, "draining")
        assert served.done.wait(ANSWER_WITHIN_S)
    assert served.status == [0]


def test_an_engine_that_fails_for_good_ends_the_service_which_says_so() -> None:
    def fail(requests: Sequence[LabelRequest]) -> None:
        raise FatalError(f"{len(requests)} requests, and no model")

    with serving(engine=FaultyEngine(fail)) as served, opened(served) as client:
        client.send(json.dumps({"words": ["one", "two", "three"]}))
        (*_, closing) = received(client, "closing")
        assert served.done.wait(ANSWER_WITHIN_S)
    assert closing["reason"] == "failed"
    assert isinstance(served.fault[0], FatalError)


def test_a_token_is_asked_for_and_told_in_either_way() -> None:
    with serving(ServeSettings(port=0, token="open-sesame")) as served:
        assert closing_of(served, {}) == (4001, "wrong_token")
        assert closing_of(served, {"token": "open"}) == (4001, "wrong_token")
        assert closing_of(served, {}, Authorization="Bearer open") == (4001, "wrong_token")
        with opened(served, {"token": "open-sesame"}) as client:
            received(client, "ready")
        with opened(served, headers={"Authorization": "Bearer open-sesame"}) as client:
            received(client, "ready")


def test_a_page_of_another_site_may_not_connect() -> None:
    with serving(ServeSettings(port=0, allowed_origins=("https://captions.example",))) as served:
        assert closing_of(served, {}, Origin="https://stranger.example") == (4001, "unknown_origin")
        for origin in ("https://captions.example", served.url.rstrip("/")):
            with opened(served, headers={"Origin": origin}) as client:
                received(client, "ready")


def test_a_name_that_is_not_this_machines_is_refused_without_a_token() -> None:
    with serving() as served:
        assert [fetched(served, path, Host="stranger.example")[0] for path in ("/", "/v1/about")] == [403, 403]
        assert [fetched(served, path)[0] for path in ("/", "/v1/about", "/live", "/ready")] == [200] * 4
    with serving(ServeSettings(port=0, allowed_hosts=("inside.example",))) as served:
        assert fetched(served, "/", Host="inside.example:8765")[0] == 200


def test_the_page_may_load_nothing_and_make_no_markup_of_text() -> None:
    with serving() as served:
        _, policy, html = fetched(served, "/")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "http://" not in html.replace("http://www.w3.org/", "")
    assert "https://" not in html
    for sink in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert sink not in html


def test_beyond_this_machine_a_token_is_wanted() -> None:
    with pytest.raises(ValueError, match=r"set serve\.token"):
        ServeSettings(host="0.0.0.0")  # noqa: S104 - the refusal is what is tested
    assert ServeSettings(host="0.0.0.0", token="x").token  # noqa: S104
    assert ServeSettings(host="::1").host


def test_a_port_in_use_is_said() -> None:
    with serving() as served:
        taken = ServeSettings(port=int(served.url.rstrip("/").rpartition(":")[2]))
        with pytest.raises(FatalError, match="cannot listen"):
            listening(taken)
