"""Vosk's messages, in shapes written after its documentation, as words that are never revised."""

from __future__ import annotations

from tests.unit.feeds.spoken import Message, fed, timed, told_apart, words


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


def test_vosks_result_with_a_voice_and_without_times_is_known() -> None:
    said: list[Message] = [{"text": "so yes", "spk": [0.1, 0.2], "spk_frames": 12}]
    assert told_apart("vosk", said)
    assert [word.text for word in words(fed("vosk", said))] == ["so", "yes"]
