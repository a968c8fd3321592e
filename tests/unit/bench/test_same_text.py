"""The text that two systems are compared on says by its words where they must cut."""

from __future__ import annotations

from pathlib import Path

from bench.funasr.same_text import COMMA, PERIOD, look_up, sentences, vocabulary

MODELS = Path(__file__).parents[3] / "models" / "shipped"


def test_sentences_end_where_the_look_up_says_and_never_twice_in_ten_words() -> None:
    words = vocabulary(MODELS)
    decided = look_up(words)
    for text in sentences(words, sessions=5, session_words=200):
        ends = [place for place, word in enumerate(text) if decided[word] == PERIOD]
        assert ends[-1] == len(text) - 1
        assert min(after - before for before, after in zip([-1, *ends], ends, strict=False)) > 10
        assert sum(decided[word] == COMMA for word in text) == 3 * len(ends)


def test_every_word_is_one_piece_and_there_are_enough() -> None:
    words = vocabulary(MODELS)
    assert len(words) == len(set(words)) == 720
    assert sentences(words, 2, 50) == sentences(words, 2, 50)
