"""Punctuated text to words and marks: every mark of the text is mapped to the three that the model knows.

The map, as it was found when IWSLT ``dev2012`` was aligned with its originals: ``--`` and ``:`` are commas (91 to
92 %), ``;`` ``!`` and ``...`` periods (97 %). An ellipsis before a small letter goes on with its sentence: a comma.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from caesura.models.data.aligned_words import UNKNOWN, strongest
from caesura.schemas.labels import Casing, Punctuation
from caesura.worker.core.language.casing import casing_of
from caesura.worker.core.language.normalisation import model_view


@lru_cache(maxsize=200_000)
def read_casing(written: str, view: str, *, may_begin: bool) -> int:
    """Return the label of a word, given as the text writes it and as the model sees it.

    may_begin: a sentence may begin with it. There a capital letter says nothing of the word, but of "I" and "I'm",
    which always have one; nor does a small letter, which is a slip there.
    """
    casing = casing_of(written)
    if casing is None:
        return UNKNOWN
    hidden = may_begin and casing in (Casing.SMALL, Casing.CAPITAL_FIRST)
    return UNKNOWN if hidden and not (view == "i" or view.startswith("i'")) else int(casing)


# ruff: noqa: SIM905 - a list of words reads best as words


_DASH = "\u2014"
_ELLIPSIS = "\u2026"
_DASHES = re.compile(r"-{2,}|\u2014|(?<=\s)[-\u2013](?=\s)")
_ELLIPSES = re.compile(r"\u2026|\.{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """How a language's text writes a dot that ends no sentence.

    never_ends, seldom_ends: abbreviations in the model's view; after one of the latter a sentence goes on where the
    next word is small. letters_end: whether a single letter with a dot may end a sentence. ordinals: whether a number
    of two digits with a dot is an ordinal ("am 3. Oktober").
    """

    never_ends: frozenset[str]
    seldom_ends: frozenset[str]
    letters_end: bool = True
    ordinals: bool = False


ENGLISH_WRITING = Writing(
    never_ends=frozenset("mr mrs ms dr st vs prof sr jr mt ft gen capt col lt sgt rev hon".split()),
    seldom_ends=frozenset("etc e.g i.e a.m p.m u.s u.k inc ltd corp co no".split()),
)
_TWO_DIGITS = 2


@dataclass(slots=True)
class MarkedWord:
    """One word: its view, the mark after it, and how its text was written.

    casing: how it is written (``labels.Casing``); unknown where a sentence or a quotation may begin, for what
    is written large there says nothing of the word. fragment: the text breaks the word off with a hyphen. dashed: a
    dash follows. ellipsis: an ellipsis follows.
    """

    view: str
    mark: int
    casing: int = UNKNOWN
    fragment: bool = False
    dashed: bool = False
    ellipsis: bool = False


def read_marks(line: str, writing: Writing = ENGLISH_WRITING) -> list[MarkedWord]:
    """Return the words of one line with their marks; the last one's mark is ``UNKNOWN`` where the line has none."""
    spaced = _ELLIPSES.sub(f" {_ELLIPSIS} ", _DASHES.sub(f" {_DASH} ", line))
    tokens = spaced.split()
    words: list[MarkedWord] = []
    for position, token in enumerate(tokens):
        view, end = _viewed(token)
        following = tokens[position + 1] if position + 1 < len(tokens) else ""
        if view:
            words.append(
                MarkedWord(
                    view,
                    Punctuation.NONE,
                    read_casing(token, view, may_begin=_may_begin(words, token, tokens[position - 1])),
                )
            )
            tail = token[end:]
            words[-1].fragment = tail.startswith("-")
        else:
            tail = token
        if words and tail:
            _apply(words[-1], tail, following, writing)
    if words and (words[-1].mark == Punctuation.NONE or words[-1].dashed):
        words[-1].mark = UNKNOWN
    return words


def _may_begin(words: list[MarkedWord], token: str, before: str) -> bool:
    """Tell whether the next word may begin a sentence or a quotation."""
    if not words or words[-1].mark in (Punctuation.PERIOD, Punctuation.QUESTION):
        return True
    return words[-1].dashed or words[-1].ellipsis or before.endswith(":") or not token[0].isalnum()


@lru_cache(maxsize=200_000)
def _viewed(token: str) -> tuple[str, int]:
    """Return the view of a token, and where its marks begin: both of few tokens, again and again."""
    return model_view(token), _after_last_letter(token)


def _after_last_letter(token: str) -> int:
    for i in range(len(token) - 1, -1, -1):
        if token[i].isalnum():
            return i + 1
    return 0


def _apply(word: MarkedWord, tail: str, following: str, writing: Writing) -> None:
    goes_on = following[:1].islower()
    mark = Punctuation.NONE
    if "?" in tail:
        mark = Punctuation.QUESTION
    elif "!" in tail or ";" in tail:
        mark = Punctuation.PERIOD
    elif "." in tail:
        mark = _dot(word.view, goes_on, writing, more=tail.lstrip(".")[:1] == ",")
    elif _ELLIPSIS in tail:
        word.ellipsis = True
        mark = Punctuation.COMMA if goes_on else Punctuation.PERIOD
    elif "," in tail or ":" in tail:
        mark = Punctuation.COMMA
    elif _DASH in tail:
        word.dashed = True
        mark = Punctuation.COMMA
    word.mark = strongest(word.mark, mark)


def _dot(view: str, goes_on: bool, writing: Writing, *, more: bool) -> Punctuation:
    if view in writing.never_ends or (len(view) == 1 and view.isalpha() and not writing.letters_end):
        return Punctuation.NONE
    if writing.ordinals and view.isdigit() and len(view) <= _TWO_DIGITS:
        return Punctuation.NONE
    abbreviated = view in writing.seldom_ends or (len(view) == 1 and view != "i") or "." in view
    if more:
        return Punctuation.COMMA
    return Punctuation.NONE if abbreviated and goes_on else Punctuation.PERIOD
