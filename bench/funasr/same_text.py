"""Text whose labels are decided by its words: what both systems are given, so that both cut the same segments.

A word of ``ENDS`` ends a sentence, one of ``COMMAS`` has a comma after it, every other has none. Both systems run their
network and add to its scores a number by the word, so large that it decides. Sentences have 12 to 28 words, three of
them with a comma: no ten words hold two sentence ends, of which FunASR would cut at the last alone. Every word is one
piece of the shipped English vocabulary, and one token of FunASR's.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

NONE, COMMA, PERIOD = 0, 1, 2
WEIGHT = 1_000.0
_WORDS, _COMMAS, _ENDS = 600, 60, 60
_LEAST_LETTERS = 3


def vocabulary(models: Path) -> list[str]:
    """Return words of the shipped English vocabulary that are one piece each, always the same ones."""
    lines = (models / "en" / "vocabulary.txt").read_text(encoding="utf-8").splitlines()
    plain = [one for one in lines if one.isascii() and one.isalpha() and one.islower() and len(one) >= _LEAST_LETTERS]
    return plain[: _WORDS + _COMMAS + _ENDS]


def look_up(words: Sequence[str]) -> dict[str, int]:
    """Return each word's label."""
    labels = [COMMA] * _COMMAS + [PERIOD] * _ENDS
    return {word: labels[place] if place < len(labels) else NONE for place, word in enumerate(words)}


def sentences(words: Sequence[str], sessions: int, session_words: int, seed: int = 1) -> list[list[str]]:
    """Return so many texts of about so many words, whole sentences each."""
    rng = random.Random(seed)  # noqa: S311 - the same text in every run is wanted
    commas, ends, plain = words[:_COMMAS], words[_COMMAS : _COMMAS + _ENDS], words[_COMMAS + _ENDS :]
    texts: list[list[str]] = []
    for _ in range(sessions):
        text: list[str] = []
        while len(text) < session_words:
            sentence = [rng.choice(plain) for _ in range(rng.randint(11, 27))]
            for place in rng.sample(range(1, len(sentence) - 1), 3):
                sentence[place] = rng.choice(commas)
            text += [*sentence, rng.choice(ends)]
        texts.append(text)
    return texts
