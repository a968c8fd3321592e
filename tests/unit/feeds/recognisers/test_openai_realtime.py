"""OpenAI's realtime messages, in shapes written after their documentation, as words that are never revised."""

from __future__ import annotations

import pytest

from caesura.worker.feeds.hypothesis import UnreadableMessageError
from caesura.worker.feeds.recognised_speech import RecognisedSpeech
from caesura.worker.feeds.recognisers.openai_realtime import OpenAiRealtime
from caesura.worker.feeds.session_events import SessionEvents
from tests.unit.feeds.spoken import Message, fed, texts, told_apart

_ITEM = "conversation.item.input_audio_transcription."


def test_openais_items_go_out_in_the_order_of_their_audio() -> None:
    said: list[Message] = [
        {"type": "session.created", "session": {}},
        {"type": "input_audio_buffer.speech_started", "item_id": "a", "audio_start_ms": 0},
        {"type": "input_audio_buffer.speech_stopped", "item_id": "a", "audio_end_ms": 1000},
        {"type": "input_audio_buffer.committed", "item_id": "a", "previous_item_id": None},
        {"type": "input_audio_buffer.committed", "item_id": "b", "previous_item_id": "a"},
        {"type": f"{_ITEM}completed", "item_id": "b", "transcript": "Second."},
        {"type": f"{_ITEM}delta", "item_id": "a", "delta": "Fir"},
        {"type": f"{_ITEM}delta", "item_id": "a", "delta": "st "},
        {"type": f"{_ITEM}completed", "item_id": "a", "transcript": "First one."},
        {"type": f"{_ITEM}completed", "item_id": "a", "transcript": "First one."},
    ]
    events = fed("openai-realtime", said)
    assert told_apart("openai-realtime", said)
    assert [texts([event]) for event in events] == [["First"], ["one."], ["Second."], []]


def test_openai_items_go_out_before_the_next_session() -> None:
    said: list[Message] = [
        {"type": "input_audio_buffer.committed", "item_id": "a"},
        {"type": f"{_ITEM}delta", "item_id": "a", "delta": "First "},
        {"type": f"{_ITEM}completed", "item_id": "b", "transcript": "Second."},
        {"type": "session.created", "session": {}},
        {"type": f"{_ITEM}completed", "item_id": "c", "transcript": "Third."},
    ]
    events = fed("openai-realtime", said)
    assert texts(events) == ["First", "Second.", "Third."]
    first, *others = [event.epoch for event in events if event.words]
    assert others == [first, first + 1]


def test_openais_item_that_failed_is_passed_over() -> None:
    said: list[Message] = [
        {"type": "input_audio_buffer.committed", "item_id": "a"},
        {"type": "input_audio_buffer.committed", "item_id": "b"},
        {"type": f"{_ITEM}completed", "item_id": "b", "transcript": "Here."},
        {"type": f"{_ITEM}failed", "item_id": "a", "error": {}},
    ]
    assert texts(fed("openai-realtime", said)) == ["Here."]


@pytest.mark.parametrize("gone", [{"type": "input_audio_buffer.cleared"}, None])
def test_openais_cleared_or_renamed_audio_holds_nothing_up(
    gone: Message | None,
) -> None:
    said: list[Message] = [
        {"type": "input_audio_buffer.committed", "item_id": "first"},
        {"type": "input_audio_buffer.speech_started", "item_id": "a", "audio_start_ms": 0},
        *([gone] if gone else []),
        {"type": "input_audio_buffer.committed", "item_id": "b", "previous_item_id": "first"},
        {"type": f"{_ITEM}completed", "item_id": "b", "transcript": "Second."},
        {"type": f"{_ITEM}completed", "item_id": "first", "transcript": "First."},
    ]
    speech = RecognisedSpeech(OpenAiRealtime(), SessionEvents(session="s", lang="en"))
    assert texts([event for message in said for event in speech.take(message)]) == ["First.", "Second."]


def test_items_behind_an_unfinished_one_are_bounded() -> None:
    speech = RecognisedSpeech(OpenAiRealtime(), SessionEvents(session="s", lang="en"))
    speech.take({"type": "input_audio_buffer.committed", "item_id": "first"})
    delta = "hello " * 2000
    for number in range(9):
        assert speech.take({"type": f"{_ITEM}delta", "item_id": f"{number}", "delta": delta}) == []
    with pytest.raises(UnreadableMessageError, match="oversized: delta: expected at most 100000 characters of items"):
        speech.take({"type": f"{_ITEM}delta", "item_id": "9", "delta": delta})
    said: list[str] = []
    for number in range(20):
        done = {"type": f"{_ITEM}completed", "item_id": f"{number}", "transcript": f"item{number} {delta}"}
        said += texts(speech.take(done))
    assert len(said) > 10 * 2000, "there is no room for them"
    said += texts(speech.take({"type": f"{_ITEM}completed", "item_id": "first", "transcript": "First."}))
    assert sorted(word for word in said if word != "hello") == sorted(["First.", *(f"item{at}" for at in range(20))])


def test_an_item_name_beyond_256_characters_is_refused() -> None:
    with pytest.raises(UnreadableMessageError, match="item_id: expected at most 256 characters"):
        fed("openai-realtime", [{"type": "input_audio_buffer.committed", "item_id": "n" * 257}])


def test_a_delta_beyond_the_turn_limit_is_refused() -> None:
    speech = RecognisedSpeech(OpenAiRealtime(), SessionEvents(session="s", lang="en"))
    delta = {"type": f"{_ITEM}delta", "item_id": "a", "delta": "hello " * 1800}
    said = texts(speech.take(delta))
    with pytest.raises(UnreadableMessageError, match="oversized: delta: expected at most 20000 characters an item"):
        speech.take(delta)
    done = {"type": f"{_ITEM}completed", "item_id": "a", "transcript": "hello " * 1800 + "bye"}
    assert [*said, *texts(speech.take(done))] == [*["hello"] * 1800, "bye"]
