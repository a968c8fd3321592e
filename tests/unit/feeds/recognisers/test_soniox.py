"""Soniox's messages, in shapes written after its documentation, as words that are never revised."""

from __future__ import annotations

import pytest

from caesura.worker.feeds.recognised_speech import RecognisedSpeech
from caesura.worker.feeds.recognisers.soniox import Soniox
from caesura.worker.feeds.session_events import SessionEvents
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


def test_a_soniox_stream_without_endpoints_keeps_few_tokens() -> None:
    reader = Soniox()
    speech = RecognisedSpeech(reader, SessionEvents(session="s", lang="en"))
    said = [soniox(token(f" hel{number}", final=True), token("lo", final=True)) for number in range(1000)]
    events = [event for one in said for event in speech.take(one)]
    assert len(reader._final) < 1000
    assert texts([*events, *speech.finish(end=True)]) == [f"hel{number}lo" for number in range(1000)]


def test_tokens_of_sonioxs_that_never_end_a_word_do_not_pile_up() -> None:
    reader = Soniox()
    speech = RecognisedSpeech(reader, SessionEvents(session="s", lang="en"))
    for _ in range(200):
        speech.take(soniox(*(token("a", final=True) for _ in range(100))))
    assert len(reader._final) <= 1000


def test_chinese_of_sonioxs_without_spaces_is_cut_between_words() -> None:
    speech = RecognisedSpeech(Soniox(), SessionEvents(session="s", lang="zh"))
    said = [soniox(token("好", final=True), token("hel", final=True), token("lo", final=True)) for _ in range(400)]
    events = [event for one in said for event in speech.take(one)]
    assert texts([*events, *speech.finish(end=True)]) == ["好", "hello"] * 400


@pytest.mark.parametrize("agreement", [None, 2, 3])
def test_words_sent_beyond_a_soniox_cut_are_not_repeated(agreement: int | None) -> None:
    speech = RecognisedSpeech(Soniox(), SessionEvents(session="s", lang="en"), agreement=agreement)
    words = [f"word{number}" for number in range(300)]
    said = [
        soniox(token(f" {words[at]}", final=True), *(token(f" {one}", final=False) for one in words[at + 1 : at + 5]))
        for at in range(300)
    ]
    events = [event for one in said for event in speech.take(one)]
    assert texts([*events, *speech.finish(end=True)]) == words
    assert speech.revised == 0


def test_a_mark_behind_a_word_of_sonioxs_that_was_sent_does_not_send_it_again() -> None:
    speech = RecognisedSpeech(Soniox(), SessionEvents(session="s", lang="en"))
    said = [
        soniox(*(token(f" word{number}", final=True) for number in range(120)), token(" next", final=False)),
        soniox(*(token("!", final=True) for _ in range(50)), token(" next", final=False)),
        soniox(token(" next", final=True), token("<end>", final=True)),
    ]
    events = [event for one in said for event in speech.take(one)]
    assert texts([*events, *speech.finish(end=True)]) == [*(f"word{number}" for number in range(120)), "next"]


def test_a_word_of_sonioxs_that_went_out_and_grew_at_a_cut_is_not_sent_again() -> None:
    said = [
        soniox(
            *(token(" so", final=True) for _ in range(248)), token(" over", final=True), token(" there", final=False)
        ),
        soniox(token("whelmed", final=True)),
        soniox(token(" now", final=True)),
        soniox(finished=True),
    ]
    assert texts(fed("soniox", said)) == ["so"] * 248 + ["over", "now"]
