"""German, Spanish and French: numbers go out whole, and an editing term goes only with what it corrects.

As ``kept_words`` and ``kept_numbers`` for English and Chinese. Rules:

1. Words taken back stay where they hold a number or a part of one, unless a filler or an editing term follows, or they
   are said again at once; and always where a number goes on behind them.
2. A number whose first words are frozen as kept stays whole.
3. An editing term (nein, perdón, je veux dire) goes only with words taken back right before it.
4. No mark stands inside a number; between digits a comma may be wanted, and two digits may end and begin sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.core.numbers.european_numbers import european_numbers, is_european_number
from caesura.worker.core.numbers.number_span import NumberKind, NumberSpan
from caesura.worker.core.rendering.cleaning import is_sound

__all__ = ["guard_european_tags", "keep_european_numbers_whole"]

_WINDOW = 16
"""Words around those to decide about that are searched for numbers."""

_BESIDE, _CODE_DIGITS = 2, 3
_OUT = Disfluency.O.value
_REPARANDUM = (Disfluency.B_RM.value, Disfluency.I_RM.value)
_FILLER = (Disfluency.B_IM.value, Disfluency.I_IM.value)


def _terms(phrases: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(phrase.split()) for phrase in phrases.split(";"))


_EDITING: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "de": _terms("nein;ich meine;ich meinte;entschuldigung;quatsch;moment;besser gesagt;pardon;verzeihung;falsch"),
    "es": _terms("no;perdón;quiero decir;digo;mejor dicho;disculpe;disculpa;espera"),
    "fr": _terms("non;pardon;je veux dire;je voulais dire;enfin;ou plutôt;plutôt;excusez-moi;excuse-moi"),
}


def guard_european_tags(words: Sequence[str], tags: bytearray, start: int, end: int, language: str) -> None:
    """Change the tags of the words from ``start`` to ``end`` that would leave out what has to stay, in place.

    words: the model's view of each word of a buffer. tags: as far as there are any; those before ``start`` are frozen.
    language: one of ``european_numbers.EUROPEAN``.
    """
    if any(tags[start:]):
        _Guard(words, tags, range(start, end), language).apply()


def keep_european_numbers_whole(
    words: Sequence[str], marks: bytearray, first: int, language: str, *, digit_commas: bool
) -> None:
    """Take the marks away that cut a number, from the word ``first`` on, in place. marks: of the first words."""
    doubtful = [place for place in range(first, min(len(marks), len(words) - 1)) if marks[place]]
    near = range(max(first - _WINDOW, 0), min(len(words), len(marks) + _WINDOW))
    beside = (word for place in doubtful for word in words[max(place - _BESIDE, 0) : place + _BESIDE + 1])
    if not any(is_european_number(word, language) for word in beside):
        return
    for span in _found(words, near, language):
        for place in range(max(span.begin, first), min(span.end - 1, len(marks))):
            comma = marks[place] == Punctuation.COMMA
            wanted = digit_commas if comma else len(span.value) < _CODE_DIGITS
            if not (wanted and span.kind is NumberKind.DIGITS):
                marks[place] = Punctuation.NONE.value


def _found(words: Sequence[str], near: range, language: str) -> Iterator[NumberSpan]:
    for span in european_numbers(words[near.start : near.stop], language):
        yield NumberSpan(span.begin + near.start, span.end + near.start, span.kind, span.value)


class _Guard:
    """A stretch of a buffer around the words to decide about; all places are the buffer's."""

    def __init__(self, words: Sequence[str], tags: bytearray, unfrozen: range, language: str) -> None:
        self._words = words
        self._tags = tags
        self._unfrozen = unfrozen
        near = range(max(0, unfrozen.start - _WINDOW), min(len(words), unfrozen.stop + _WINDOW))
        self._spans = list(_found(words, near, language))
        self._numbered = {place for span in self._spans for place in range(span.begin, span.end)}
        self._cues = [
            range(place, place + len(term))
            for place in near
            for term in _EDITING[language]
            if tuple(words[place : place + len(term)]) == term
        ]

    def apply(self) -> None:
        for begin, end in self._taken_back():
            if self._is_meant(begin, end):
                self._keep(begin, end)
        for span in self._spans:
            if span.begin < self._unfrozen.start < span.end and self._tag(self._unfrozen.start - 1) == _OUT:
                self._keep(self._unfrozen.start, span.end)
        for cue in self._cues:
            if self._tag(cue.start) in _FILLER and not self._follows_reparandum(cue.start):
                self._keep(cue.start, cue.stop)

    def _tag(self, place: int) -> int:
        return self._tags[place] if 0 <= place < len(self._tags) else _OUT

    def _keep(self, begin: int, end: int) -> None:
        for place in range(max(begin, self._unfrozen.start), min(end, self._unfrozen.stop, len(self._tags))):
            self._tags[place] = _OUT

    def _taken_back(self) -> Iterator[tuple[int, int]]:
        """Yield where each run of words taken back begins and ends, of those not yet all frozen."""
        end = len(self._tags)
        while end > self._unfrozen.start:
            begin = end
            while self._tag(begin - 1) in _REPARANDUM:
                begin -= 1
            if begin < end:
                yield begin, end
            end = min(begin, end - 1)

    def _is_meant(self, begin: int, end: int) -> bool:
        """Tell whether words taken back hold a number, or a part of one, and no repair of it."""
        if any(span.begin < end < span.end and not self._is_said_again(begin, end) for span in self._spans):
            return True
        if self._numbered.isdisjoint(range(begin, end)):
            return False
        return not self._is_repaired(end) and not self._is_said_again(begin, end)

    def _is_repaired(self, end: int) -> bool:
        if self._tag(end) in _FILLER:
            return True
        return end < len(self._words) and (is_sound(self._words[end]) or any(cue.start == end for cue in self._cues))

    def _is_said_again(self, begin: int, end: int) -> bool:
        """Tell whether the words follow once more, and are not digits that are read together."""
        digits = any(span.kind is NumberKind.DIGITS and span.begin < end < span.end for span in self._spans)
        return not digits and list(self._words[begin:end]) == list(self._words[end : 2 * end - begin])

    def _follows_reparandum(self, place: int) -> bool:
        """Tell whether the fillers around ``place``, all in a row, begin right behind words taken back."""
        while self._tag(place - 1) in _FILLER:
            place -= 1
        return self._tag(place - 1) in _REPARANDUM
