"""Disfluency tags that can be told from the text itself, and the words whose tag cannot: these stay unknown.

Certain: filled pauses; a broken-off word; an immediate repetition of one to three words that is not one of the
repetitions people mean ("very very", "that that", "on and on and on"); "you know" and "I mean" between marks. In a
verbatim corpus a sentence that shows any of these, or a dash, may hide more, so its other words stay unknown; one that
shows none is taken as fluent.
"""

# ruff: noqa: SIM905 - a list of words reads best as words
from __future__ import annotations

from collections.abc import Sequence

from models.data.aligned_words import UNKNOWN
from models.data.disfluencies import ANSWERS, FILLED_PAUSES, FUNCTION_WORDS, is_meant_said_again
from models.data.marks import MarkedWord
from schemas.labels import Disfluency, Punctuation

__all__ = ["derive_tags"]

_MEANT_TWICE = frozenset(
    "that had very really no yes yeah so far many much long right okay ok bye good well you do is blah more never now "
    "too all there one two three four five six seven eight nine zero".split()
)
_MARKERS = (("you", "know"), ("i", "mean"))
_IN_EARNEST_AFTER = frozenset(
    "do did does if what when as that let because would to how should don't didn't who can could will may might must "
    "why where once before than which not".split()
)


def derive_tags(words: Sequence[MarkedWord], *, verbatim: bool) -> list[int]:
    """Return a tag or ``UNKNOWN`` for each word of one turn."""
    tags = [int(Disfluency.O)] * len(words)
    hidden: set[int] = set()
    _tag_repetitions(words, tags, hidden)
    _tag_markers(words, tags, hidden)
    for i, word in enumerate(words):
        if word.view in FILLED_PAUSES and not _answers(words, i):
            tags[i] = Disfluency.B_IM
        elif word.fragment and word.mark == Punctuation.NONE:
            tags[i] = Disfluency.B_RM
            hidden.update(range(max(0, i - 3), i))
    for i in hidden:
        if tags[i] == Disfluency.O:
            tags[i] = UNKNOWN
    if verbatim:
        _hide_doubtful_sentences(words, tags)
    return tags


def _answers(words: Sequence[MarkedWord], i: int) -> bool:
    """Tell whether the word at ``i`` is a part of "uh huh" or its like."""
    return any(" ".join(word.view for word in words[max(k, 0) : k + 2]) in ANSWERS for k in (i - 1, i))


def _tag_repetitions(words: Sequence[MarkedWord], tags: list[int], hidden: set[int]) -> None:
    i = 0
    while i < len(words):
        length = _repeated(words, i)
        if not length:
            i += 1
            continue
        views = [word.view for word in words[i : i + length]]
        meant = is_meant_said_again(views) or (length == 1 and views[0] in _MEANT_TWICE)
        if length == 1 and not meant and views[0] not in FUNCTION_WORDS:
            hidden.add(i)
        elif not meant:
            for k in range(length):
                tags[i + k] = Disfluency.I_RM if k else Disfluency.B_RM
        i += length


def _repeated(words: Sequence[MarkedWord], i: int) -> int:
    """Return how many words from ``i`` are said again at once: 3, 2, 1 or 0."""
    for length in (3, 2, 1):
        if i + 2 * length > len(words):
            continue
        if words[i].view != words[i + length].view:
            continue
        same = all(words[i + k].view == words[i + length + k].view for k in range(length))
        ended = any(words[i + k].mark not in (Punctuation.NONE, Punctuation.COMMA) for k in range(length))
        if same and not ended:
            return length
    return 0


def _tag_markers(words: Sequence[MarkedWord], tags: list[int], hidden: set[int]) -> None:
    for i in range(len(words) - 1):
        if (words[i].view, words[i + 1].view) not in _MARKERS:
            continue
        opened = i == 0 or words[i - 1].mark != Punctuation.NONE
        closed = words[i + 1].mark == Punctuation.COMMA
        if opened and closed:
            tags[i], tags[i + 1] = Disfluency.B_IM, Disfluency.I_IM
        elif i == 0 or words[i - 1].view not in _IN_EARNEST_AFTER:
            hidden.update((i, i + 1))


def _hide_doubtful_sentences(words: Sequence[MarkedWord], tags: list[int]) -> None:
    start = 0
    for i, word in enumerate(words):
        if word.mark in (Punctuation.PERIOD, Punctuation.QUESTION, UNKNOWN) or i == len(words) - 1:
            span = range(start, i + 1)
            if any(tags[j] != Disfluency.O or words[j].dashed or words[j].ellipsis for j in span):
                for j in span:
                    if tags[j] == Disfluency.O:
                        tags[j] = UNKNOWN
            start = i + 1
