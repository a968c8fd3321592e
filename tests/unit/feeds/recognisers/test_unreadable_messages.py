"""A message that is not as its recogniser documents it: refused by name, and never quoted."""

from __future__ import annotations

import pytest

from caesura.schemas.events import MAX_EVENT_WORDS
from caesura.worker.feeds.hypothesis import UnreadableMessageError
from caesura.worker.feeds.recognised_speech import RecognisedSpeech
from caesura.worker.feeds.recognisers.google import Google
from caesura.worker.feeds.session_events import SessionEvents
from tests.unit.feeds.spoken import Message, fed, nested, texts, timed

FINAL = {"isFinal": True, "alternatives": [{"transcript": "so"}]}
_DEEP, _DIGITS = "[" * 100_000 + "]" * 100_000, "[" + "9" * 5000 + "]"


@pytest.mark.parametrize(
    ("name", "message", "told"),
    [
        ("deepgram", {"type": "Results", "channel": {"alternatives": "secret"}}, "alternatives: expected a list"),
        ("assemblyai", {"type": "Turn", "words": [{"text": 7}]}, "text: expected text"),
        ("aws", {"Transcript": {"Results": [{"IsPartial": "secret"}]}}, "IsPartial: expected true or false"),
        ("sherpa-onnx", {"text": "secret", "segment": "²"}, "segment: expected a whole number"),
        ("sherpa-onnx", {"text": "secret", "segment": "9" * 5000}, "segment: expected a whole number"),
        ("sherpa-onnx", {"text": "secret", "segment": 10**400}, "segment: expected a whole number"),
        ("sherpa-onnx", {"text": "secret", "segment": 0, "tokens": _DIGITS}, "tokens: expected a list, not a number"),
        (
            "sherpa-onnx",
            {"text": "secret", "segment": 0, "timestamps": _DEEP},
            "timestamps: expected a list, not nested",
        ),
        ("funasr", {"mode": "offline", "text": "secret", "timestamp": _DEEP}, "timestamp: expected a list, not nested"),
        (
            "funasr",
            {"mode": "offline", "text": "secret", "timestamp": _DIGITS},
            "timestamp: expected a list, not a number",
        ),
        ("assemblyai", {"type": "Turn", "turn_order": nested(5000)}, "turn_order: expected text or a number"),
        ("azure", {"Text": "secret", "Channel": nested(5000)}, "Channel: expected text or a number"),
        ("azure", {"Text": "secret", "Channel": 10**5000}, "Channel: expected text or a number"),
        (
            "deepgram",
            {"channel": {"alternatives": [{"words": [{"word": "secret", "speaker": nested(5000)}]}]}},
            "speaker: expected text or a number",
        ),
        ("deepgram", {"channel_index": [nested(5000), 2]}, "channel_index: expected text or a number"),
        ("google", {"results": [{"channelTag": nested(5000)}]}, "channelTag: expected a whole number"),
        ("soniox", {"tokens": [{"text": "secret", "speaker": nested(5000)}]}, "speaker: expected text or a number"),
        ("vosk", {"partial": "secret " * (MAX_EVENT_WORDS + 1)}, "oversized: words: expected at most 2000"),
    ],
)
def test_a_message_that_is_not_as_documented_is_named_and_not_quoted(name: str, message: Message, told: str) -> None:
    with pytest.raises(UnreadableMessageError, match=told) as refused:
        fed(name, [message])
    assert "secret" not in str(refused.value)


def test_a_time_that_is_no_number_of_ours_is_no_time_and_the_word_is_kept() -> None:
    said = {"text": "so yes", "result": [{"word": "so", "start": 10**400, "end": "9" * 5000}, {"word": "yes"}]}
    assert timed(fed("vosk", [said])) == [("so", None, None), ("yes", None, None)]


def test_a_list_written_as_text_that_is_no_json_says_nothing() -> None:
    assert texts(fed("funasr", [{"mode": "offline", "text": "so", "timestamp": ""}])) == ["so"]


def test_a_message_that_is_refused_takes_no_number() -> None:
    speech = RecognisedSpeech(Google(), SessionEvents(session="s", lang="en"))
    with pytest.raises(UnreadableMessageError):
        speech.take({"results": [FINAL, {"alternatives": "secret"}]})
    assert [event.seq for event in speech.take({"results": [FINAL]})] == [0]


def test_finals_go_out_although_their_message_is_too_long() -> None:
    refused: list[UnreadableMessageError] = []
    speech = RecognisedSpeech(Google(), SessionEvents(session="s", lang="en", refused=refused.append))
    interim = {"stability": 0.1, "alternatives": [{"transcript": "um " * (MAX_EVENT_WORDS + 1)}]}
    assert texts(speech.take({"results": [FINAL, interim]})) == ["so"]
    assert [str(error) for error in refused] == ["oversized: words: expected at most 2000 that may still change"]


def test_a_final_result_may_be_as_long_as_a_recording() -> None:
    said = {"text": "so " * 5000}
    assert len(texts(fed("vosk", [said]))) == 5000
