"""The messages of recognisers that run in one's own house, in shapes written after their documentation."""

from __future__ import annotations

from tests.unit.feeds.spoken import Message, fed, texts, timed, told_apart, words


def vosk(*said: tuple[str, float], partial: bool = False) -> dict[str, object]:
    listed = [{"conf": 0.8, "start": at, "end": at + 0.2, "word": word} for word, at in said]
    text = " ".join(word for word, _ in said)
    return {"partial": text, "partial_result": listed} if partial else {"result": listed, "text": text}


def test_vosks_partial_words_wait_and_its_empty_results_are_silence() -> None:
    said: list[Message] = [
        {"partial": ""},
        vosk(("so", 0.0), partial=True),
        vosk(("so", 0.0), ("um", 0.3), partial=True),
        vosk(("so", 0.0), ("uh", 0.3), ("yes", 0.6)),
        {"text": ""},
    ]
    events = fed("vosk", said, agreement=0)
    assert told_apart("vosk", said)
    assert timed(events) == [("so", 0, 200), ("uh", 300, 500), ("yes", 600, 800)]
    assert [event.utterance_end for event in events] == [True, False]


def test_vosks_alternatives_have_scores_that_are_no_confidences() -> None:
    said: list[Message] = [
        {"alternatives": [{"confidence": 312.5, "text": "so", "result": [{"start": 1, "end": 2, "word": "so"}]}]}
    ]
    events = fed("vosk", said)
    assert told_apart("vosk", said)
    assert [(word.text, word.confidence) for word in words(events)] == [("so", None)]


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


def funasr(mode: str, text: str, stamps: str | None = None) -> dict[str, object]:
    return {"mode": mode, "wav_name": "w", "text": text, "is_final": False} | ({"timestamp": stamps} if stamps else {})


def test_funasrs_second_pass_is_what_counts() -> None:
    said: list[Message] = [
        funasr("2pass-online", "今天"),
        funasr("2pass-online", "天汽"),
        funasr("2pass-offline", "今天天气, good。", "[[100,200],[200,300],[300,400],[400,500],[600,900]]"),
        funasr("2pass-online", "再见"),
    ]
    events = fed("funasr", said)
    assert told_apart("funasr", said)
    assert timed(events)[:5] == [
        ("今", 100, 200),
        ("天", 200, 300),
        ("天", 300, 400),
        ("气", 400, 500),
        ("good", 600, 900),
    ]
    assert texts(events)[5:] == ["再", "见"], "what no second pass came for is not lost"


def test_funasrs_online_pieces_are_final_as_they_come() -> None:
    events = fed("funasr", [funasr("online", "今天"), funasr("online", "好")])
    assert [texts([event]) for event in events] == [["今", "天"], ["好"], []]


def test_funasrs_numbers_written_as_digits_lose_their_times_not_their_words() -> None:
    said = [funasr("2pass-offline", "2024年", "[[0,100],[100,200],[200,300],[300,400],[400,500]]")]
    assert timed(fed("funasr", said)) == [("2024", None, None), ("年", None, None)]


def test_whispers_pieces_are_joined_and_what_nobody_said_is_dropped() -> None:
    file = {
        "text": " Twenty-one, yes.",
        "language": "en",
        "segments": [
            {
                "start": 0.0,
                "end": 2.0,
                "text": " Twenty-one, [laughs] yes.",
                "words": [
                    {"word": " Twenty", "start": 0.0, "end": 0.4, "probability": 0.9},
                    {"word": "-one,", "start": 0.4, "end": 0.8, "probability": 0.5},
                    {"word": " [laughs]", "start": 0.8, "end": 1.0, "probability": 0.5},
                    {"word": " yes.", "start": 1.0, "end": 2.0, "probability": 0.9},
                ],
            },
            {"start": 2.0, "end": 4.0, "text": " [BLANK_AUDIO] (applause) ♪ la ♪"},
        ],
    }
    events = fed("whisper", [file])
    assert told_apart("whisper", [file])
    assert timed(events) == [("Twenty-one", 0, 800), ("yes", 1000, 2000)]
    assert words(events)[0].confidence == 0.5


def test_whisper_lives_segments_that_come_again_are_said_once() -> None:
    def live(*segments: tuple[float, str, bool]) -> dict[str, object]:
        listed = [
            {"start": f"{at:.3f}", "end": f"{at + 1:.3f}", "text": text, "completed": done}
            for at, text, done in segments
        ]
        return {"uid": "u", "segments": listed}

    said: list[Message] = [
        live((0.0, " So we", False)),
        live((0.0, " So we go", True), (1.0, " and", False)),
        live((0.0, " So we go", True), (1.0, " and then", True)),
        live((1.0, " and then", True)),
    ]
    events = fed("whisper", said, agreement=0)
    assert told_apart("whisper", said)
    assert texts(events) == ["So", "we", "go", "and", "then"]
    assert events[0].attributes == {"word_ends": "guessed"}


def test_whisper_cpps_offsets_are_milliseconds() -> None:
    file = {
        "transcription": [
            {"timestamps": {"from": "00:00:00,500"}, "offsets": {"from": 500, "to": 1500}, "text": " So yes."}
        ]
    }
    assert told_apart("whisper", [file])
    assert timed(fed("whisper", [file])) == [("So", 500, 928), ("yes", 928, 1500)]


def test_the_apis_words_stand_beside_its_segments() -> None:
    answer = {
        "task": "transcribe",
        "text": "So yes.",
        "words": [{"word": "So", "start": 0.1, "end": 0.3}, {"word": "yes", "start": 0.3, "end": 0.8}],
        "segments": [{"start": 0.0, "end": 1.0, "text": " So yes."}],
    }
    assert timed(fed("whisper", [answer])) == [("So", 100, 300), ("yes", 300, 800)]
