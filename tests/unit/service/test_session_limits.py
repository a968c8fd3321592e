"""How many sessions a connection may have, however they are named; and what becomes of one that was refused."""

from __future__ import annotations

import json
from typing import Any

from websockets.sync.client import ClientConnection

from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.settings.serving import ServeSettings
from tests.harness.service import opened, received, serving, texts

ONE_IN_ALL = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, max_open_sessions=1)


def spoken(*speakers: int) -> str:
    """Return a message of Deepgram's, a word of each speaker in it."""
    words = [{"word": f"w{speaker}", "start": 0.1, "end": 0.2, "speaker": speaker} for speaker in speakers]
    channel = {"alternatives": [{"transcript": "x", "words": words}]}
    return json.dumps({"is_final": True, "start": 0, "duration": 1, "channel": channel})


def say(client: ClientConnection, **event: object) -> None:
    client.send(json.dumps(event))


def segments(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one["segment"] for one in messages if one["type"] == "segment"]


def test_the_sessions_that_one_message_opens_are_counted_too() -> None:
    with serving(ServeSettings(port=0, max_sessions_per_connection=2)) as served:
        with opened(served, {"format": "deepgram"}) as client:
            client.send(spoken(*range(50)))
            client.send(json.dumps({"session_end": True}))
            told = [*received(client, "ended"), *received(client, "ended")]
        refused = [(one["message"], one["reason"]) for one in told if one["type"] == "error"]
        assert refused == [(1, "too_many_sessions")], "the end is not refused for sessions that were never open"
        assert {one["session"] for one in segments(told)} == {"1/0", "1/1"}


def test_speakers_whose_sessions_are_open_are_heard_though_another_is_refused() -> None:
    with (
        serving(ServeSettings(port=0, max_sessions_per_connection=2)) as served,
        opened(served, {"format": "deepgram"}) as client,
    ):
        for speakers in ((0, 1), (0, 2, 1)):
            client.send(spoken(*speakers))
        client.send(json.dumps({"session_end": True}))
        told = [*received(client, "ended"), *received(client, "ended")]
    assert texts(told) == ["w0", "w0", "w1", "w1"]
    assert not any("gaps" in one for one in segments(told))


def test_refusals_of_the_decoding_count_like_any_other() -> None:
    with (
        serving(ServeSettings(port=0, max_refused_messages=2), rules=ONE_IN_ALL) as served,
        opened(served) as first,
        opened(served) as second,
    ):
        say(first, words="one two three-stop four five six seven eight nine ten")
        received(first, "segment")
        for _ in range(3):
            say(second, words="mine")
        told = received(second, "closing")
    assert [one["reason"] for one in told[1:]] == ["too_many_sessions"] * 3 + ["too_many_refused"]


def test_a_session_refused_by_its_connection_begins_whole_once_there_is_room() -> None:
    with (
        serving(ServeSettings(port=0, max_sessions_per_connection=1)) as served,
        opened(served, {"options": {"punctuation": False}}) as client,
    ):
        refused_and_begun_anew(client)


def test_a_session_refused_by_the_decoding_begins_whole_once_there_is_room() -> None:
    with (
        serving(rules=ONE_IN_ALL) as served,
        opened(served, {"options": {"punctuation": False}}) as client,
    ):
        refused_and_begun_anew(client)


def refused_and_begun_anew(client: ClientConnection) -> None:
    say(client, session="a", words="one")
    say(client, session="b", words="lost")
    assert received(client, "error")[-1]["reason"] == "too_many_sessions"
    say(client, session="a", session_end=True)
    received(client, "ended")
    say(client, session="b", words="two", session_end=True)
    told = received(client, "ended")
    assert texts(told) == ["two"]
    (segment,) = segments(told)
    assert segment["punctuated"] is False
    assert "gaps" not in segment


def test_words_that_are_not_final_are_bounded_over_all_channels_of_a_connection_and_finals_are_heard() -> None:
    def heard(channel: int, *, final: bool) -> str:
        text = "hi" if final else "hello " * 2000
        result = {"is_final": final, "channel_index": [channel, 999], "start": 0, "duration": 1}
        return json.dumps({**result, "channel": {"alternatives": [{"transcript": text}]}})

    with serving() as served, opened(served, {"format": "deepgram"}) as client:
        for channel in range(12):
            client.send(heard(channel, final=False))
        (*_, refusal) = received(client, "error")
        client.send(heard(0, final=True))
        client.send(json.dumps({"session_end": True}))
        told = received(client, "ended")
    assert refusal["reason"] == "malformed"
    assert "oversized: words: expected at most 100000 characters that are not final" in refusal["detail"]
    assert texts(told) == ["hi"]
