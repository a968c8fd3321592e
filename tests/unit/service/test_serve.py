"""Words over WebSocket: what a client sends comes back frozen, in order and once."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.errors import FatalError
from caesura.worker.service.server.server import listening
from caesura.worker.settings.serving import ServeSettings
from tests.harness.engines import FaultyEngine
from tests.harness.service import (
    ANSWER_WITHIN_S,
    close_of,
    closing_of,
    counted,
    fetched,
    opened,
    received,
    serving,
    texts,
)
from tests.harness.waiting import wait_until

SPOKEN = [f"n{number}" + ("-stop" if number % 7 == 6 else "") for number in range(60)]


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


def test_an_opening_in_a_language_without_a_model_is_told_so() -> None:
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
    assert frozen == ["{Uh} yes."]


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


def test_the_service_serves_prometheus_metrics() -> None:
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


def test_service_metrics_are_not_the_workers() -> None:
    with serving() as served:
        status, _, text = fetched(served, "/metrics")
    assert status == 200
    told = {family.name for family in text_string_to_metric_families(text)}
    assert "caesura_serve_connections" in told
    assert not told & {"caesura_ready", "caesura_loop_turns", "caesura_partitions", "caesura_words"}


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


def test_a_port_in_use_is_said() -> None:
    with serving() as served:
        taken = ServeSettings(port=int(served.url.rstrip("/").rpartition(":")[2]))
        with pytest.raises(FatalError, match="cannot listen"):
            listening(taken)


def test_metrics_are_for_those_who_show_the_token() -> None:
    with serving(ServeSettings(port=0, token="open-sesame", drain_timeout_s=5)) as served:
        assert fetched(served, "/metrics")[0] == 403
        status, _, text = fetched(served, "/metrics", Authorization="Bearer open-sesame")
        assert (status, "caesura_serve_connections" in text) == (200, True)


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


def test_a_malformed_origin_or_host_is_refused() -> None:
    with serving() as served:
        assert closing_of(served, {}, Origin="http://[::1") == (4001, "unknown_origin")
        assert [fetched(served, path, Host="[::1")[0] for path in ("/", "/v1/about", "/metrics")] == [403] * 3


@pytest.mark.parametrize(
    "origin",
    ["banana", "https://", "https://a.example/", "https://A.example", "//a.example", "https://me:pw@a.example"],
)
def test_an_allowed_origin_that_no_browser_would_send_is_refused(origin: str) -> None:
    with pytest.raises(ValueError, match=r"serve\.allowed_origins") as refused:
        ServeSettings(allowed_origins=("https://a.example", origin))
    assert "pw" not in str(refused.value)


@pytest.mark.parametrize("origin", ["https://a.example", "http://[::1]:8080", "http://a-b.example:80", "app://x_1"])
def test_an_allowed_origin_as_a_browser_sends_it_is_taken(origin: str) -> None:
    assert ServeSettings(allowed_origins=(origin,)).allowed_origins == (origin,)


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
