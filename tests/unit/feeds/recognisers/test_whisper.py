"""Whisper's messages, by whoever runs it, in shapes written after their documentation, as words that stay."""

from __future__ import annotations

from tests.unit.feeds.spoken import Message, fed, texts, timed, told_apart, words


def test_whispers_pieces_are_joined_and_unspoken_ones_are_dropped() -> None:
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


def live(*segments: tuple[float, str, bool], **more: object) -> dict[str, object]:
    listed = [
        {"start": f"{at:.3f}", "end": f"{at + 1:.3f}", "text": text, "completed": done} | more
        for at, text, done in segments
    ]
    return {"uid": "u", "segments": listed}


def test_whisper_lives_segments_that_come_again_are_said_once() -> None:
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


def whisper_cpp(*pieces: str, **more: object) -> dict[str, object]:
    offsets = ({"from": 100 * at, "to": 100 * at + 100} for at in range(len(pieces)))
    return {
        "transcription": [{"offsets": where, "text": text} | more for where, text in zip(offsets, pieces, strict=True)]
    }


def test_whisper_cpps_pieces_that_were_parted_within_a_word_are_one_word() -> None:
    file = whisper_cpp("", " it", "'s", " un", "believ", "able", ",", " so", " [", "BLANK", "_", "AUDIO", "]")
    assert timed(fed("whisper", [file])) == [("it's", 100, 300), ("unbelievable", 300, 700), ("so", 700, 800)]
    assert texts(fed("whisper", [whisper_cpp("สวัสดี", "ครับ")])) == ["สวัสดี", "ครับ"]


def test_whisper_cpps_segments_without_the_spaces_that_begin_them_are_not_one() -> None:
    assert texts(fed("whisper", [whisper_cpp("Ask not", "what it can do.", "Ask")])) == [
        *("Ask", "not", "what", "it", "can", "do", "Ask"),
    ]


def test_whisper_cpps_channels_are_speakers() -> None:
    events = fed("whisper", [whisper_cpp(" So", speaker="0"), whisper_cpp(" yes", speaker="1")])
    assert (texts(events, "s/0"), texts(events, "s/1")) == (["So"], ["yes"])


def test_the_apis_words_stand_beside_its_segments() -> None:
    answer = {
        "task": "transcribe",
        "text": "So yes.",
        "words": [{"word": "So", "start": 0.1, "end": 0.3}, {"word": "yes", "start": 0.3, "end": 0.8}],
        "segments": [{"start": 0.0, "end": 1.0, "text": " So yes."}],
    }
    assert timed(fed("whisper", [answer])) == [("So", 100, 300), ("yes", 300, 800)]


def test_an_excerpt_of_the_words_beside_segments_does_not_stand_for_them() -> None:
    words = [{"text": "so", "start": 0.1, "end": 0.2}, {"text": ".", "start": 0.2, "end": 0.2, "is_punctuation": True}]
    message = {"segments": [{"text": "so we go.", "start": 0.1, "end": 1.0, "words": [0, 1]}], "words": words}
    assert texts(fed("whisper", [message])) == ["so", "we", "go"]


def test_whispers_brackets_are_read_up_to_the_length_of_a_sound() -> None:
    for written, spoken in (("[" + "x " * 149 + "] so", 1), ("[" + "x " * 200 + "] so", 201)):
        assert len(texts(fed("whisper", [{"segments": [{"start": 0, "end": 1, "text": written}]}]))) == spoken


def test_whisper_lives_messages_without_segments_send_no_word_again() -> None:
    said: list[Message] = [
        {"uid": "u", "message": "SERVER_READY", "backend": "faster_whisper"},
        live((0.0, " So we", False)),
        live((0.0, " So we go", False)),
        {"uid": "u", "translated_segments": [{"start": "0.000", "end": "1.000", "text": "Wir", "completed": True}]},
        {"uid": "u", "language": "en", "language_prob": 0.9},
        live((0.0, " So we go on", True)),
    ]
    assert texts(fed("whisper", said)) == ["So", "we", "go", "on"]


def test_a_segment_that_whisper_live_drops_takes_no_word_with_it() -> None:
    said = [
        live((0.0, " Thank you very", False)),
        live((0.0, " Thank you very much", False)),
        live((5.0, " So we go", False)),
        live((5.0, " So we go on", True)),
    ]
    assert texts(fed("whisper", said)) == ["Thank", "you", "very", "So", "we", "go", "on"]


def test_a_word_that_whisperx_could_not_align_is_its_segments_speakers() -> None:
    word = {"word": "Page", "start": 2.1, "end": 2.8, "score": 0.8, "speaker": "A"}
    segment = {"start": 2.0, "end": 3.0, "text": " Page 58.", "words": [word, {"word": "58."}], "speaker": "A"}
    assert texts(fed("whisper", [{"segments": [segment]}]), "s/A") == ["Page", "58"]


def test_speakers_that_stand_at_segments_alone_have_a_session_each() -> None:
    listed = [
        {"type": "transcript.text.segment", "start": at, "end": at + 1, "text": text, "speaker": speaker}
        for at, text, speaker in ((0, "Good day", "A"), (1, "Hi", "B"))
    ]
    events = fed("whisper", [{"task": "transcribe", "text": "Good day Hi", "segments": listed}])
    assert (texts(events, "s/A"), texts(events, "s/B")) == (["Good", "day"], ["Hi"])


def test_whispers_speaker_may_be_a_number() -> None:
    listed = [{"start": at, "end": at + 1, "text": text, "speaker": at} for at, text in enumerate(("Good day", "Hi"))]
    events = fed("whisper", [{"segments": listed}])
    assert (texts(events, "s/0"), texts(events, "s/1")) == (["Good", "day"], ["Hi"])


def test_timed_sounds_are_not_spoken_and_bracketed_fillers_are() -> None:
    pieces = [" (door", " slams)", " so", " [UH]", " f(x)", " <|en|>", " [loud", " music]", " yes."]
    timed_words = [{"word": piece, "start": at, "end": at + 1} for at, piece in enumerate(pieces)]
    said: list[Message] = [{"segments": [{"start": 0, "end": 9, "text": "".join(pieces), "words": timed_words}]}]
    assert timed(fed("whisper", said)) == [
        ("so", 2000, 3000),
        ("UH", 3000, 4000),
        ("f(x)", 4000, 5000),
        ("yes", 8000, 9000),
    ]


def test_labels_in_the_text_of_segments_name_speakers_with_and_without_times_of_words() -> None:
    said = ["Anna: good day", "and you", "Tom Hill: yes", "Anna: so: go", "Tom Hill: no"]
    bare = [{"start": at, "end": at + 1, "text": f" {line}"} for at, line in enumerate(said)]
    spelt = [
        one | {"words": [{"word": f" {word}", "start": at, "end": at + 1} for word in said[at].split()]}
        for at, one in enumerate(bare)
    ]
    for segments in (bare, spelt):
        events = fed("whisper", [{"segments": segments}])
        assert texts(events, "s/Anna") == ["good", "day", "and", "you", "so", "go"]
        assert texts(events, "s/Tom Hill") == ["yes", "no"]
    named = [one | {"speaker": "A"} for one in bare]
    assert texts(fed("whisper", [{"segments": named}]), "s/A")[:3] == ["Anna", "good", "day"]
