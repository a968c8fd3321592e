"""Joins the sub-word pieces of recognisers to words: a leading space begins a word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from caesura.worker.feeds.hypothesis import HeardWord
from caesura.worker.feeds.written_words import UNSPACED, unmarked

_UNSPACED = re.compile(rf"[{UNSPACED}]")
_UNIT = re.compile(rf"[{UNSPACED}]|[^{UNSPACED}]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A piece of text, white space that begins or ends it included. final: it will not change."""

    text: str
    start_ms: int | None = None
    end_ms: int | None = None
    confidence: float | None = None
    final: bool = False
    speaker: str = ""


def words_of_tokens(tokens: Sequence[Token], *, closed: bool = True) -> tuple[HeardWord, ...]:
    """Return the words that tokens spell, without the marks around them.

    A Chinese or Japanese character is a word of its own. A word is stable where all its tokens are final and it is
    known to be over: another word begins after it, or no more tokens follow (``closed``).
    """
    groups: list[list[Token]] = []
    begins = True
    for token in tokens:
        for unit, spaced in _units(token.text):
            if unit is None:
                begins = True
                continue
            new = begins or spaced or not groups or groups[-1][-1].speaker != token.speaker
            if new:
                groups.append([])
            groups[-1].append(replace(token, text=unit))
            begins = _alone(unit)
    words = []
    for position, group in enumerate(groups):
        over = closed or begins or position + 1 < len(groups) or _alone(group[0].text)
        word = _word(group, over=over)
        if word.text:
            words.append(word)
    return tuple(words)


def begins_word(text: str) -> bool:
    """Tell whether a token surely begins a word: after white space, or with a character that is a word of its own."""
    return text[:1].isspace() or _alone(text[:1])


def _units(text: str) -> list[tuple[str | None, bool]]:
    """Return the parts of a token, each with whether it begins a word; None for white space at the token's end."""
    parts: list[tuple[str | None, bool]] = []
    for number, run in enumerate(text.split()):
        spaced = number > 0 or text[0].isspace()
        for unit in _UNIT.findall(run):
            spaced = spaced or _alone(unit)
            parts.append((unit, spaced))
            spaced = _alone(unit)
    if text and text[-1].isspace():
        parts.append((None, True))
    return parts


def _alone(text: str) -> bool:
    """Tell whether a text is one character of a script without spaces."""
    return _UNSPACED.fullmatch(text) is not None


def _word(group: Sequence[Token], *, over: bool) -> HeardWord:
    known = [token.confidence for token in group if token.confidence is not None]
    return HeardWord(
        text=unmarked("".join(token.text for token in group)),
        start_ms=group[0].start_ms,
        end_ms=group[-1].end_ms,
        confidence=min(known) if known else None,
        stable=over and all(token.final for token in group),
        speaker=group[0].speaker,
    )
