"""Disfluency tags that can be told from the text itself, and the words whose tag cannot: these stay unknown.

Certain: filled pauses; a broken-off word; an immediate repetition of one to three words that is not one of the
repetitions people mean ("very very", "that that", "on and on and on"); "you know" and "I mean" between marks. In a
verbatim corpus a sentence that shows any of these, or a dash, may hide more, so its other words stay unknown; one that
shows none is taken as fluent.
"""

# ruff: noqa: SIM905 - a list of words reads best as words
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from caesura.models.data.aligned_words import UNKNOWN
from caesura.models.data.disfluencies import ANSWERS, ENGLISH_SPEECH, SpeechHabits, is_meant_said_again
from caesura.models.data.marks import MarkedWord
from caesura.schemas.labels import Disfluency, Punctuation

_WITHIN = (Punctuation.NONE, Punctuation.COMMA)
"""The marks after which a turn goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlipSigns:
    """What tells a slip in a language's text.

    habits: its filled pauses, and the function words whose repetition is a slip. answers: two sounds that are no
    filled pause together. meant_twice: words that are said twice on purpose. across_commas: whether a word said again
    after a comma is a slip; German clauses meet so in earnest ("was neu ist, ist gut"). markers: pairs of words that
    are an interregnum between marks, but after in_earnest_after.
    """

    habits: SpeechHabits
    answers: frozenset[str] = frozenset()
    meant_twice: frozenset[str] = frozenset()
    across_commas: bool = True
    markers: tuple[tuple[str, str], ...] = ()
    in_earnest_after: frozenset[str] = frozenset()


_MEANT_TWICE = frozenset(
    "that had very really no yes yeah so far many much long right okay ok bye good well you do is blah more never now "
    "too all there one two three four five six seven eight nine zero".split()
)
_MARKERS = (("you", "know"), ("i", "mean"))
_IN_EARNEST_AFTER = frozenset(
    "do did does if what when as that let because would to how should don't didn't who can could will may might must "
    "why where once before than which not".split()
)

ENGLISH_SIGNS = SlipSigns(
    habits=ENGLISH_SPEECH,
    answers=ANSWERS,
    meant_twice=_MEANT_TWICE,
    markers=_MARKERS,
    in_earnest_after=_IN_EARNEST_AFTER,
)


def derive_tags(words: Sequence[MarkedWord], *, verbatim: bool, signs: SlipSigns = ENGLISH_SIGNS) -> list[int]:
    """Return a tag or ``UNKNOWN`` for each word of one turn."""
    tags = [int(Disfluency.O)] * len(words)
    hidden: set[int] = set()
    _tag_repetitions(words, tags, hidden, signs)
    _tag_markers(words, tags, hidden, signs)
    for i, word in enumerate(words):
        if word.view in signs.habits.filled_pauses and not _answers(words, i, signs.answers):
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


def _answers(words: Sequence[MarkedWord], i: int, answers: frozenset[str]) -> bool:
    """Tell whether the word at ``i`` is a part of "uh huh" or its like."""
    return any(" ".join(word.view for word in words[max(k, 0) : k + 2]) in answers for k in (i - 1, i))


def _tag_repetitions(words: Sequence[MarkedWord], tags: list[int], hidden: set[int], signs: SlipSigns) -> None:
    i = 0
    while i < len(words):
        length = _repeated(words, i, _WITHIN if signs.across_commas else _WITHIN[:1])
        if not length:
            i += 1
            continue
        views = [word.view for word in words[i : i + length]]
        meant = is_meant_said_again(views, signs.habits) or (length == 1 and views[0] in signs.meant_twice)
        if length == 1 and not meant and views[0] not in signs.habits.function_words:
            hidden.add(i)
        elif not meant:
            for k in range(length):
                tags[i + k] = Disfluency.I_RM if k else Disfluency.B_RM
        i += length


def _repeated(words: Sequence[MarkedWord], i: int, within: Sequence[int]) -> int:
    """Return how many words from ``i`` are said again at once: 3, 2, 1 or 0."""
    for length in (3, 2, 1):
        if i + 2 * length > len(words):
            continue
        if words[i].view != words[i + length].view:
            continue
        same = all(words[i + k].view == words[i + length + k].view for k in range(length))
        ended = any(words[i + k].mark not in within for k in range(length))
        if same and not ended:
            return length
    return 0


def _tag_markers(words: Sequence[MarkedWord], tags: list[int], hidden: set[int], signs: SlipSigns) -> None:
    for i in range(len(words) - 1):
        if (words[i].view, words[i + 1].view) not in signs.markers:
            continue
        opened = i == 0 or words[i - 1].mark != Punctuation.NONE
        closed = words[i + 1].mark == Punctuation.COMMA
        if opened and closed:
            tags[i], tags[i + 1] = Disfluency.B_IM, Disfluency.I_IM
        elif i == 0 or words[i - 1].view not in signs.in_earnest_after:
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
