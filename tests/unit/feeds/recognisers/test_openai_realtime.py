"""OpenAI's realtime messages, in shapes written after their documentation, as words that are never revised."""

from __future__ import annotations

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


def test_openais_item_that_failed_is_passed_over() -> None:
    said: list[Message] = [
        {"type": "input_audio_buffer.committed", "item_id": "a"},
        {"type": "input_audio_buffer.committed", "item_id": "b"},
        {"type": f"{_ITEM}completed", "item_id": "b", "transcript": "Here."},
        {"type": f"{_ITEM}failed", "item_id": "a", "error": {}},
    ]
    assert texts(fed("openai-realtime", said)) == ["Here."]
