"""Errors of a recogniser, simulated: what changes, and what must not."""

from __future__ import annotations

import random

import pytest

from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.data.recogniser_errors import MisheardWords, sound_key
from caesura.schemas.labels import Disfluency, Punctuation

VOCABULARY = ["[PAD]", "##ing", "a", "there", "their", "two", "too", "walk", "walked", "see", "sea", "market", "house"]
FLUENT, B_RM, I_RM = int(Disfluency.O), int(Disfluency.B_RM), int(Disfluency.I_RM)


@pytest.mark.parametrize(
    ("one", "other"), [("there", "their"), ("two", "too"), ("see", "sea"), ("night", "knight"), ("write", "right")]
)
def test_words_that_sound_alike_share_a_key(one: str, other: str) -> None:
    assert sound_key(one) == sound_key(other)


def test_a_word_is_taken_for_another_that_sounds_like_it_or_stays() -> None:
    words, rng = MisheardWords(VOCABULARY), random.Random(1)
    assert {words.taken_for("there", rng) for _ in range(20)} == {"their"}
    assert {words.taken_for("walked", rng) for _ in range(20)} == {"walk"}
    assert words.taken_for("market", rng) == "market"
    assert words.taken_for("\u6211\u4eec", rng) == "\u6211\u4eec"


def talk(sentences: int) -> AlignedDocument:
    made = AlignedDocument("made up", "talk")
    for _ in range(sentences):
        for word in "there we see two of them".split():  # noqa: SIM905 - words
            made.add(word, Punctuation.NONE, FLUENT)
        made.add("walked", Punctuation.PERIOD, FLUENT)
        made.turn_ends.add(len(made.words) - 1)
    return made


def test_about_one_word_in_ten_is_wrong_and_marks_and_turns_survive() -> None:
    before = talk(300)
    after = MisheardWords(VOCABULARY).heard(before, random.Random(2))
    wrong = sum(word not in "there we see two of them walked".split() for word in after.words)  # noqa: SIM905 - words
    lost = len(before.words) - len(after.words)
    assert 0.01 < wrong / len(before.words) < 0.1
    assert -30 < lost < 80
    ends = [place for place, mark in enumerate(after.punctuation) if mark == Punctuation.PERIOD]
    assert sorted(after.turn_ends) == ends
    assert len(ends) == 300
    assert len(after.words) == len(after.punctuation) == len(after.disfluency)


def test_a_swallowed_words_mark_goes_before_it_and_its_tag_after_it() -> None:
    made = AlignedDocument("made up", "one")
    for word, mark, tag in [("market", 0, FLUENT), ("two", 1, FLUENT), ("the", 0, B_RM), ("market", 0, I_RM)]:
        made.add(word, mark, tag)
    words = MisheardWords([])
    swallowed = [words.heard(made, random.Random(seed), rate=1.0) for seed in range(200)]
    shortest = [one for one in swallowed if one.words == ["market", "market"]]
    assert shortest
    assert all((one.punctuation, one.disfluency) == ([1, 0], [FLUENT, B_RM]) for one in shortest)


def test_no_errors_at_a_rate_of_nothing_and_the_same_ones_for_the_same_seed() -> None:
    words, before = MisheardWords(VOCABULARY), talk(20)
    assert words.heard(before, random.Random(1), rate=0.0) == before
    assert words.heard(before, random.Random(1)) == words.heard(before, random.Random(1))
