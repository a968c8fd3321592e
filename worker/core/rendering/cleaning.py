"""Which words the fluent rendering leaves out: how much of what the labels say, and words of one's own. Pure.

The levels, each leaving out what the one before does:

``off``     nothing.
``light``   fillers that are sounds (um, uh, 嗯) where they are labelled as fillers.
``medium``  all fillers, and what is said again in the same words ("we we", "to the to the").
``full``    all fillers and all that the speaker took back.

Own fillers, the operator's and the session's, go at every level but ``off``, whatever their label; kept phrases of
either stay at every level. Both are compared without case, marks and spaces, so that one list serves languages with and
without spaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import islice

from caesura.schemas.labels import kind_of
from caesura.schemas.segments import SegmentWord
from caesura.worker.core.rendering.typography import bare

_SOUNDS = frozenset(
    (
        "um",
        "umm",
        "uh",
        "uhh",
        "er",
        "err",
        "erm",
        "ah",
        "eh",
        "hm",
        "hmm",
        "mm",
        "mhm",
        "äh",
        "ähm",
        "öh",
        "ehm",
        "euh",
        "heu",
        "hum",
        "em",
        "mmm",
        "嗯",
        "呃",
        "啊",
        "哦",
        "唔",
        "额",
        "诶",
    )
)


class CleaningLevel(StrEnum):
    """How much is left out."""

    OFF = "off"
    LIGHT = "light"
    MEDIUM = "medium"
    FULL = "full"


def phrases(texts: Iterable[str]) -> frozenset[str]:
    """Return phrases as they are compared; those without a letter or a digit are none."""
    return frozenset(phrase for text in texts if (phrase := "".join(map(compared, text.split()))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaning:
    """What is left out of a segment. fillers, kept: an operator's own, made by ``phrases``."""

    level: CleaningLevel = CleaningLevel.FULL
    fillers: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()

    def joined(self, own_fillers: tuple[str, ...], kept_phrases: tuple[str, ...]) -> Cleaning:
        """Return this with a session's own fillers and kept phrases besides, as ``segments`` carry them."""
        if not own_fillers and not kept_phrases:
            return self
        fillers, kept = self.fillers | phrases(own_fillers), self.kept | phrases(kept_phrases)
        return Cleaning(level=self.level, fillers=fillers, kept=kept)

    def left_out(self, words: Sequence[SegmentWord]) -> list[bool]:
        """Return for each word of a segment whether it is left out."""
        if self.level is CleaningLevel.OFF:
            return [False] * len(words)
        texts = [compared(word.text) for word in words]
        kinds = [kind_of(word.disfluency) for word in words]
        if self.level is CleaningLevel.FULL:
            out = [kind != "" for kind in kinds]
        else:
            medium = self.level is CleaningLevel.MEDIUM
            out = [kind == "IM" and (medium or text in _SOUNDS) for kind, text in zip(kinds, texts, strict=True)]
            for start, end in _runs(words, kinds) if medium else ():
                if _said_again(texts, kinds, start, end):
                    out[start:end] = [True] * (end - start)
        for start, end in _places(texts, self.fillers):
            out[start:end] = [True] * (end - start)
        for start, end in _places(texts, self.kept):
            out[start:end] = [False] * (end - start)
        return out


@lru_cache(maxsize=2**14)
def compared(text: str) -> str:
    """Return a word as phrases are compared: without case and marks."""
    return "".join(character for character in bare(text).casefold() if character.isalnum())


def is_sound(text: str) -> bool:
    """Tell whether a word is a sound that fills a pause: um, uh, 嗯."""
    return compared(text) in _SOUNDS


def _runs(words: Sequence[SegmentWord], kinds: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where each reparandum begins and ends."""
    start: int | None = None
    for at, word in enumerate(words):
        if start is not None and (kinds[at] != "RM" or word.disfluency.startswith("B")):
            yield start, at
            start = None
        if kinds[at] == "RM" and start is None:
            start = at
    if start is not None:
        yield start, len(words)


def _said_again(texts: Sequence[str], kinds: Sequence[str], start: int, end: int) -> bool:
    """Tell whether the words after a reparandum, fillers passed over, are the same once more."""
    after = (texts[at] for at in range(end, len(texts)) if kinds[at] != "IM")
    return list(islice(after, end - start)) == list(texts[start:end])


def _places(texts: Sequence[str], wanted: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield where the wanted phrases stand among the words, whole words alone, with what is no word before them."""
    longest = max(map(len, wanted), default=0)
    worded = [place for place, text in enumerate(texts) if text]
    for first in range(len(worded)):
        said = ""
        for at in range(first, len(worded)):
            said += texts[worded[at]]
            if len(said) > longest:
                break
            if said in wanted:
                yield worded[first - 1] + 1 if first else 0, worded[at] + 1
