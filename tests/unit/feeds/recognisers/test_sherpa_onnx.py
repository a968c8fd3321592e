"""sherpa-onnx's messages, in shapes written after its documentation, as words that are never revised."""

from __future__ import annotations

from tests.unit.feeds.spoken import Message, fed, texts, timed, told_apart


def sherpa(segment: int, text: str, tokens: list[str], starts: list[float], **more: object) -> dict[str, object]:
    return {"text": text, "tokens": tokens, "timestamps": starts, "segment": segment, "start_time": 0.0} | more


def test_sherpas_next_segment_ends_the_one_before_and_ends_are_guessed() -> None:
    said: list[Message] = [
        sherpa(0, "so yes", [" SO", " YE", "S"], [0.1, 0.5, 0.7]) | {"text": " SO YES"},
        sherpa(1, " WE", [" WE"], [0.2], start_time=2.0),
    ]
    events = fed("sherpa-onnx", said)
    assert told_apart("sherpa-onnx", said)
    assert timed(events) == [("SO", 100, 220), ("YES", 500, 680), ("WE", 2200, 2320)]
    assert events[0].attributes == {"word_ends": "guessed"}


def test_sherpas_server_that_says_final_and_writes_time_stamps_as_text() -> None:
    said = [sherpa(0, "今天", ["今", "天"], []) | {"timestamps": "[0.10, 0.30]", "is_final": True}]
    events = fed("sherpa-onnx", said)
    assert [(text, start) for text, start, _ in timed(events)] == [("今", 100), ("天", 300)]
    assert events[0].utterance_end


def test_sherpas_bytes_are_not_text_so_the_words_are_the_texts_own() -> None:
    said = [sherpa(0, "好", ["<0xE5>", "<0xA5>", "<0xBD>"], [0.1, 0.1, 0.1], is_final=True)]
    assert timed(fed("sherpa-onnx", said)) == [("好", None, None)]


def test_sherpas_silence_that_ends_takes_no_number_from_the_words_after_it() -> None:
    said = [
        sherpa(0, "", [], [], is_final=True),
        sherpa(0, " SO", [" SO"], [0.1]),
        sherpa(0, " SO", [" SO"], [0.1], is_final=True),
        sherpa(1, "", [], [], is_final=True),
        sherpa(1, "", [], [], is_final=True),
        sherpa(1, " YES", [" YES"], [0.1], is_final=True, is_eof=True),
    ]
    assert texts(fed("sherpa-onnx", said)) == ["SO", "YES"]
