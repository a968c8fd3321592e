"""Whisper's messages, by whoever runs it, in shapes written after their documentation, as words that stay."""

from __future__ import annotations

from tests.unit.feeds.spoken import Message, fed, texts, timed, told_apart, words


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


def test_whispers_brackets_are_looked_at_for_so_many_characters_as_a_sound_may_have() -> None:
    for written, spoken in (("[" + "x " * 149 + "] so", 1), ("[" + "x " * 200 + "] so", 201)):
        assert len(texts(fed("whisper", [{"segments": [{"start": 0, "end": 1, "text": written}]}]))) == spoken
