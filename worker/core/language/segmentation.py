"""Chinese: turns the recogniser's characters, words or phrases into the words that the model counts.

1. The Chinese characters of all units form one running text; ``RunningCut`` cuts it into words. A Latin word, a number
   or a mark ends the running text and is a word of its own; these do not join across units.
2. Words and units are cut at the borders of both, so no piece is larger than its unit or its word. A recogniser's mark
   belongs to the piece before it in its unit, else to the one after it. A unit of marks alone is a word with an empty
   view.
3. The view is folded (``model_view``), with traditional characters as simplified ones and without outer marks; the
   dictionary is searched with it too. The pieces keep their text.
4. At most ``MAX_HELD_CHARACTERS`` Chinese characters are held back (``RunningCut`` says how they settle), and nothing
   else, so the held units are limited too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from caesura.schemas.state import HeldBack, ModelWord, ModelWordPiece
from caesura.worker.core.language.dictionary import HAN, Dictionary, load_dictionary
from caesura.worker.core.language.normalisation import model_view
from caesura.worker.core.language.running_cut import MAX_HELD_CHARACTERS, RunningCut
from caesura.worker.core.language.traditional import simplified
from caesura.worker.core.language.words import WhitespaceSegmenter, WordSegmenter, as_unit, cut_piece, whole_piece

# Marks that never are part of a Latin word or a number, and those that may be: U.S., 3.5, 10:30.
_FULL_MARKS = (
    "\u00b7\u2014\u2018\u201c-\u201f\u2025-\u2027\u3001-\u3004\u3008-\u3020\u3030\u303d-\u303f\ufe30-\ufe4f"
    "\uff01\uff02\uff07-\uff0a\uff0c-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
_MARK = rf"(?:[{_FULL_MARKS}]|[.,?!;:…](?=[.,?!;:…]*(?:[{HAN}{_FULL_MARKS}]|$))|(?<=[{HAN}])[.,?!;:…])"
_TOKEN = re.compile(rf"{_MARK}*(?:(?P<han>[{HAN}]+)|(?P<other>(?:(?!{_MARK})[^{HAN}{_FULL_MARKS}])+))?{_MARK}*")


class _Token(NamedTuple):
    """A stretch of a unit: Chinese characters or one other word, with the marks around it.

    start, end: code points in the unit, marks included. han: the Chinese characters; empty for another word.
    marked_before, marked_after: whether a mark stands there, which ends the running text.
    """

    start: int
    end: int
    han: str
    han_end: int
    marked_before: bool
    marked_after: bool


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if start < end:
            han_start, han_end = match.span("han") if match["han"] else (start, end)
            yield _Token(start, end, match["han"] or "", han_end, han_start > start, han_end < end)


class ChineseSegmenter:
    """A session's segmenter for Chinese; see the rules of this module and of ``WordSegmenter``."""

    __slots__ = ("_cut", "_ends", "_given", "_origin", "_restored", "_units")

    def __init__(
        self, dictionary: Dictionary, held: HeldBack | None = None, *, max_held_characters: int = MAX_HELD_CHARACTERS
    ) -> None:
        self._cut = RunningCut(dictionary, max_held_characters=max_held_characters)
        self._restored = held or HeldBack()
        self._units: list[ModelWordPiece] = []  # those not wholly given out
        self._origin = 0  # where the first of them starts in the stream's code points
        self._given = 0  # how much of the first is given out
        self._ends: list[int] = []  # where each open character ends in the stream, the marks after it included

    @property
    def held(self) -> HeldBack:
        """Return the units not wholly given out."""
        if self._restored.units:
            return self._restored
        return HeldBack(units=tuple(as_unit(unit) for unit in self._units), given_code_points=self._given)

    def push(self, units: Sequence[ModelWordPiece]) -> list[ModelWord]:
        """Take more units; return the words that nothing later can change."""
        words = self._resume()
        for unit in units:
            words += self._add(unit)
        return words

    def flush(self) -> list[ModelWord]:
        """Settle the running text as it stands, and hold nothing."""
        return [*self._resume(), *self._end_running_text()]

    def _resume(self) -> list[ModelWord]:
        """Take in what was held before; words come out only where another dictionary or segmenter had held it."""
        restored, self._restored = self._restored, HeldBack()
        words: list[ModelWord] = []
        for position, unit in enumerate(restored.units):
            words += self._add(whole_piece(unit), given=restored.given_code_points if position == 0 else 0)
        return words

    def _add(self, unit: ModelWordPiece, given: int = 0) -> list[ModelWord]:
        words: list[ModelWord] = []
        if not self._units:
            self._given = given
        unit_start = self._origin + sum(len(held.text) for held in self._units)
        self._units.append(unit)
        for token in _tokens(unit.text):
            if token.end > given:
                words += self._add_token(token, unit_start, given)
        return words

    def _add_token(self, token: _Token, unit_start: int, given: int) -> list[ModelWord]:
        words = self._end_running_text() if token.marked_before or not token.han else []
        if not token.han:
            end = unit_start + token.end
            text = self._units[-1].text[token.start : token.end]
            return [*words, ModelWord(view=model_view(_looked_up(text)), pieces=self._pieces_up_to(end))]
        first_end = token.han_end - len(token.han) + 1
        for end, character in enumerate(token.han, start=first_end):
            given_end = token.end if end == token.han_end else end
            if given_end > given:
                self._ends.append(unit_start + given_end)
                words += self._model_words(self._cut.add(_looked_up(character)))
        return [*words, *self._end_running_text()] if token.marked_after else words

    def _end_running_text(self) -> list[ModelWord]:
        return self._model_words(self._cut.flush())

    def _model_words(self, views: Sequence[str]) -> list[ModelWord]:
        words = []
        for view in views:
            end = self._ends[len(view) - 1]
            del self._ends[: len(view)]
            words.append(ModelWord(view=view, pieces=self._pieces_up_to(end)))
        return words

    def _pieces_up_to(self, end: int) -> tuple[ModelWordPiece, ...]:
        """Give out the units' code points up to a position of the stream, a piece a unit."""
        pieces = []
        while self._units and self._origin + self._given < end:
            unit = self._units[0]
            piece_end = min(len(unit.text), end - self._origin)
            pieces.append(cut_piece(unit, self._given, piece_end))
            self._given = piece_end
            if piece_end == len(unit.text):
                del self._units[0]
                self._origin += len(unit.text)
                self._given = 0
        return tuple(pieces)


def _looked_up(text: str) -> str:
    """Return text as the dictionary writes it: compatibility forms first, which may be of traditional characters.

    Of a Han character always one.
    """
    return simplified(unicodedata.normalize("NFKC", text))


def segmenters(language: str, held: HeldBack) -> WordSegmenter:
    """Return a session's segmenter for a language (a ``SegmenterFactory``); Chinese loads the dictionary once."""
    return ChineseSegmenter(load_dictionary(), held) if language == "zh" else WhitespaceSegmenter(held)
