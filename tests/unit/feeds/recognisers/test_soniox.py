"""Soniox's messages, in shapes written after its documentation, as words that are never revised."""

from __future__ import annotations

from tests.unit.feeds.spoken import Message, fed, texts, timed, told_apart


def token(text: str, *, final: bool, at: int = 0, **more: object) -> dict[str, object]:
    return {"text": text, "start_ms": at, "end_ms": at + 50, "confidence": 0.9, "is_final": final} | more


def soniox(*tokens: Message, heard: int = 0, **more: object) -> dict[str, object]:
    return {"tokens": list(tokens), "final_audio_proc_ms": 0, "total_audio_proc_ms": heard} | more


def test_sonioxs_pieces_make_a_word_once_the_next_one_begins() -> None:
    said: list[Message] = [
        soniox(token("Beau", final=True), token("ti", final=False)),
        soniox(token("ti", final=True, at=50), token("ful", final=True, at=100)),
        soniox(token(" day", final=False, at=200)),
        soniox(token(" day", final=True, at=200), token("<end>", final=True)),
        soniox(token("Yes", final=True, at=400)),
        soniox(finished=True),
    ]
    events = fed("soniox", said)
    assert told_apart("soniox", said)
    assert timed(events) == [("Beautiful", 0, 150), ("day", 200, 250), ("Yes", 400, 450)]
    assert [texts([event]) for event in events if event.words] == [["Beautiful"], ["day"], ["Yes"]]
    assert events[1].utterance_end


def test_sonioxs_translations_were_not_said_and_speakers_have_sessions() -> None:
    said: list[Message] = [
        soniox(token("Ja", final=True, speaker="1"), token(" yes", final=True, translation_status="translation")),
        soniox(token(" nein", final=True, at=100, speaker="2"), finished=True),
    ]
    events = fed("soniox", said)
    assert (texts(events, "s/1"), texts(events, "s/2")) == (["Ja"], ["nein"])


def test_sonioxs_chinese_tokens_are_characters() -> None:
    said = [soniox(token("今天", final=True), token("好", final=True, at=100)), soniox(finished=True)]
    assert texts(fed("soniox", said)) == ["今", "天", "好"]
