"""Chinese sentences with other words in them: what slips look like, told apart from the words that they hit.

Few sentences have disfluencies that people labelled, and a network that reads them often learns them by heart. In a
copy some kinds of words (nouns, verbs, names, days) are replaced by others of their kind and length, each the same all
through the sentence: what was said twice is still said twice, and what was broken off still is the beginning of the
word that comes. Words of grammar, fillers and the most frequent words stay.

The kinds are those of jieba's list of words, whose line is a word, how often it occurs, and its kind.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate

from caesura.models.data.aligned_words import REPARANDUM, AlignedDocument
from caesura.models.data.chinese_marks import cut_again
from caesura.worker.core.language.dictionary import HAN, word_list

_OPEN_KINDS = frozenset(("n", "nr", "ns", "nt", "nz", "v", "vn", "a", "b", "t", "s", "i", "l"))
_LINE = re.compile(rf"^([{HAN}]+) ([0-9]+) ([a-z]+)$", re.MULTILINE)
_KNOWN_TO_MANY = 200
"""How often a word occurs at least that is put in, of some sixty million."""
_TOO_FREQUENT = 60_000
"""How often a word occurs that is left as it is: 是, 有, 说 and their like make sentences what they are."""


@dataclass(frozen=True, slots=True)
class _Others:
    """The words of one kind and length, and how often they occur, summed up."""

    words: list[str]
    summed: list[int]


class Kinds:
    """Which words may be replaced, and by which."""

    def __init__(self, lines: Iterable[tuple[str, int, str]]) -> None:
        """Build from words, how often each occurs, and its kind."""
        self._kind: dict[str, str] = {}
        known: defaultdict[tuple[str, int], list[tuple[str, int]]] = defaultdict(list)
        for word, count, kind in lines:
            if kind in _OPEN_KINDS and count < _TOO_FREQUENT:
                self._kind[word] = kind
                if count >= _KNOWN_TO_MANY:
                    known[kind, len(word)].append((word, count))
        self._others = {
            kind: _Others([word for word, _ in counted], list(accumulate(count for _, count in counted)))
            for kind, counted in known.items()
        }

    def another(self, word: str, rng: random.Random) -> str:
        """Draw a word of the same kind and length, by how often each occurs; the word itself where there is none."""
        others = self._others.get((self._kind.get(word, ""), len(word)))
        return rng.choices(others.words, cum_weights=others.summed)[0] if others else word


@lru_cache(maxsize=1)
def chinese_kinds() -> Kinds:
    """Return the kinds of jieba's words."""
    return Kinds((word, int(count), kind) for word, count, kind in _LINE.findall(word_list()))


def with_other_words(document: AlignedDocument, rng: random.Random, *, share: float, kinds: Kinds) -> AlignedDocument:
    """Return a copy in which about ``share`` of the different words are others, cut anew; its labels stay."""
    drawn = ((word, kinds.another(word, rng)) for word in dict.fromkeys(document.words))
    put = {word: other for word, other in drawn if rng.random() < share}
    words = [
        _repaired_as(word, document.words[place + 1 :], put) if tag in REPARANDUM else put.get(word, word)
        for place, (word, tag) in enumerate(zip(document.words, document.disfluency, strict=True))
    ]
    return cut_again(replace(document, words=words))


def _repaired_as(word: str, following: Sequence[str], put: Mapping[str, str]) -> str:
    """Return what a word of a reparandum becomes: the beginning of what the next word becomes that begins with it."""
    repair = next((other for other in following if other.startswith(word)), word)
    return put.get(repair, repair)[: len(word)]
