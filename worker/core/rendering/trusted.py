"""A segment as a reader sees it who takes no label that is too doubtful: the words stay, the doubtful labels go."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from caesura.schemas.segments import SegmentWord

__all__ = ["trusted_words"]


def trusted_words(words: Sequence[SegmentWord], least: float) -> tuple[SegmentWord, ...]:
    """Return the words without marks, and without tags, that are less probable than ``least``.

    A label whose probability is not known stays. least: 0 to 1.
    """
    return tuple([_trusted(word, least) for word in words])


def _trusted(word: SegmentWord, least: float) -> SegmentWord:
    of_mark, of_tag = word.punctuation_probability, word.disfluency_probability
    if of_mark is not None and of_mark < least and word.punctuation != "none":
        word = replace(word, punctuation="none")
    if of_tag is not None and of_tag < least and word.disfluency != "O":
        word = replace(word, disfluency="O")
    return word
