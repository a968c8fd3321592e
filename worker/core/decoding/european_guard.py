"""German, Spanish and French: numbers stay whole, and an editing term goes only with what it corrects.

Like ``kept_words`` and ``kept_numbers`` for English and Chinese. Rules:

1. Tagged words stay if they hold a number or a part of one, unless a filler or an editing term follows or they are
   repeated at once. They always stay if a number goes on after them.
2. A number whose first words are frozen as kept stays whole.
3. A word doubled on purpose stays: "sehr sehr", "ya ya", "très très".
4. An editing term (nein, perdón, je veux dire) goes only together with tagged words right before it.
5. No mark stands inside a number. Between digits a comma may be wanted, and two digits may end and begin sentences.
6. No sentence ends between a number and what belongs to it (``_Around``): the word before it (Wohnung acht), the
   smaller part of a time or a sum (zehn Uhr dreißig), a number that is listed after another (und dann noch vier), the
   last two words of a session (fünf Euro am Tag). A number with only its prepositions is not a sentence (de 1983 a
   2000, il est né le onze).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from caesura.schemas.labels import SENTENCE_ENDS, Punctuation
from caesura.worker.core.decoding.european_repairs import ARTICLES, EMPHATIC
from caesura.worker.core.decoding.kept_numbers import closes_sentence, opens_sentence
from caesura.worker.core.decoding.unfrozen_tags import IN_FILLER, IN_REPARANDUM, OUT, UnfrozenTags
from caesura.worker.core.language.normalisation import word_set
from caesura.worker.core.numbers.european_numbers import EUROPEAN, european_numbers, is_european_number
from caesura.worker.core.numbers.number_span import NumberKind, NumberSpan
from caesura.worker.core.rendering.cleaning import is_sound

_WINDOW = 16
"""Words around those to decide about that are searched for numbers."""


_BESIDE, _CODE_DIGITS, _LISTED = 2, 3, 6
_LARGER_UNITS = word_set("euro euros dollar dollars dólar dólares peso pesos franken francs")
_CLOCK = frozenset(("uhr", "heure", "heures"))
_LONGEST_PART, _HOURS = 2, range(25)


def _terms(phrases: str) -> dict[str, list[list[str]]]:
    """Return phrases, each as its words, by their first word."""
    terms: dict[str, list[list[str]]] = {}
    for term in map(str.split, phrases.split(";")):
        terms.setdefault(term[0], []).append(term)
    return terms


_EDITING: Mapping[str, dict[str, list[list[str]]]] = {
    "de": _terms("nein;ich meine;ich meinte;entschuldigung;quatsch;moment;besser gesagt;pardon;verzeihung;falsch"),
    "es": _terms("no;perdón;quiero decir;digo;mejor dicho;disculpe;disculpa;espera"),
    "fr": _terms("non;pardon;je veux dire;je voulais dire;enfin;ou plutôt;plutôt;excusez-moi;excuse-moi"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Around:
    """The words around a number that belong to it.

    with_times: may stand beside a date or a sum with which a sentence opens. listing: lead to a further number, the
    first of them from a word on that is listed. closing: with one more word behind a number they end a session.
    measures: so does one word alone behind these, but for an answer. answers: sentences by themselves.
    """

    with_times: frozenset[str]
    listing: frozenset[str]
    closing: frozenset[str]
    measures: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()


_AROUND: Mapping[str, _Around] = {
    "de": _Around(
        with_times=word_set("am im in um ab seit bis von vom zum zur zwischen und gegen vor nach den der dem das jahr"),
        listing=word_set("und dann noch weitere"),
        closing=word_set("am im pro je diesen diesem dieses diese dieser"),
        measures=word_set("gramm kilo kilogramm pfund liter milliliter meter zentimeter tonnen"),
        answers=word_set("ja nein doch danke bitte genau richtig gut okay stimmt klar gern tschüss"),
    ),
    "es": _Around(
        with_times=word_set("a al de del desde hasta en entre y el la los las por sobre año"),
        listing=word_set("y luego después otros otras"),
        closing=word_set("al por este esta"),
    ),
    "fr": _Around(
        with_times=word_set("à de du depuis en entre et le la les dès jusqu'à jusqu'au vers pour avant après"),
        listing=word_set("et puis encore ensuite"),
        closing=word_set("par ce cet cette"),
    ),
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
    """Take the marks away that cut a number or what belongs to it, from the word ``first`` on, in place.

    words: of the buffer. marks: of its first words.
    """
    doubtful = [place for place in range(first, min(len(marks), len(words) - 1)) if marks[place]]
    if not any(_is_near_number(words, place, language) for place in doubtful):
        return
    near = range(max(first - _WINDOW, 0), min(len(words), len(marks) + _WINDOW))
    number = {place: span for span in _found(words, near, language) for place in range(span.begin, span.end)}
    around = _AROUND[language]
    with_times = around.with_times | EUROPEAN[language].months.keys()
    for place in doubtful:
        span, behind = number.get(place), number.get(place + 1)
        if span is not None and span is behind:
            comma = marks[place] == Punctuation.COMMA
            wanted = digit_commas if comma else len(span.value) < _CODE_DIGITS
            if not (wanted and span.kind is NumberKind.DIGITS):
                marks[place] = Punctuation.NONE.value
        elif marks[place] in SENTENCE_ENDS and (
            (behind is not None and words[place] in EUROPEAN[language].numbered)
            or _is_smaller_part(words, number, place)
            or _is_listed(words, number, place, around)
            or _is_tail(words, number, place, around)
            or opens_sentence(words, marks, number, place, beside=with_times.__contains__)
            or closes_sentence(words, marks, number, place, beside=with_times.__contains__)
        ):
            marks[place] = Punctuation.NONE.value


def _is_near_number(words: Sequence[str], place: int, language: str) -> bool:
    if any(is_european_number(word, language) for word in words[max(place - _BESIDE, 0) : place + _BESIDE + 1]):
        return True
    listing = _AROUND[language].listing
    return words[place + 1] in listing and any(
        is_european_number(word, language) for word in words[max(place - _LISTED, 0) : place]
    )


def _is_smaller_part(words: Sequence[str], number: Mapping[int, NumberSpan], place: int) -> bool:
    """Tell whether minutes follow an hour's word, or cents the word of a sum with which the session ends."""
    whole, part = number.get(place - 1), number.get(place + 1)
    if whole is None or part is None or part.kind is not NumberKind.CARDINAL or len(part.value) > _LONGEST_PART:
        return False
    if words[place] in _CLOCK:
        return whole.value.isdecimal() and int(whole.value) in _HOURS
    return words[place] in _LARGER_UNITS and part.end == len(words)


def _is_listed(words: Sequence[str], number: Mapping[int, NumberSpan], place: int, around: _Around) -> bool:
    """Tell whether a word leads from a number, a few words back, to another: "drei Vögel am See und dann noch vier"."""
    end = place + 1
    while end < min(len(words), place + _LISTED) and words[end] in around.listing:
        end += 1
    return end > place + 1 and end in number and not number.keys().isdisjoint(range(place - _LISTED, place + 1))


def _is_tail(words: Sequence[str], number: Mapping[int, NumberSpan], place: int, around: _Around) -> bool:
    """Tell whether the one or two words with which a session ends belong to the number and its unit before them."""
    if place not in number and place - 1 not in number:
        return False
    match list(words[place + 1 : place + 4]):
        case [last]:
            return words[place] in around.measures and last not in around.answers
        case [lead, _]:
            return lead in around.closing and place + 2 not in number
    return False


def _found(words: Sequence[str], near: range, language: str) -> Iterator[NumberSpan]:
    for span in european_numbers(words[near.start : near.stop], language):
        yield span.moved(near.start)


class _Guard(UnfrozenTags):
    """A stretch of a buffer around the words to decide about; all places are the buffer's."""

    def __init__(self, words: Sequence[str], tags: bytearray, unfrozen: range, language: str) -> None:
        self._words = words
        super().__init__(tags, unfrozen)
        near = range(max(0, unfrozen.start - _WINDOW), min(len(words), unfrozen.stop + _WINDOW))
        self._spans = [
            span
            for span in _found(words, near, language)
            if not ARTICLES[language].issuperset(words[span.begin : span.end])
        ]
        self._numbered = {place for span in self._spans for place in range(span.begin, span.end)}
        self._emphatic = EMPHATIC[language]
        self._across = {place: span for span in self._spans for place in range(span.begin + 1, span.end)}
        self._cues = [
            range(place, place + len(term))
            for place in near
            for term in _EDITING[language].get(words[place], ())
            if list(words[place : place + len(term)]) == term
        ]
        self._cue_begins = {cue.start for cue in self._cues}

    def apply(self) -> None:
        for begin, end in self._taken_back():
            if self._is_emphatic(begin, end) or self._is_meant(begin, end):
                self._keep(begin, end)
        for span in self._spans:
            if span.begin < self._unfrozen.start < span.end and self._tag(self._unfrozen.start - 1) == OUT:
                self._keep(self._unfrozen.start, span.end)
        for cue in self._cues:
            if self._tag(cue.start) in IN_FILLER and not self._follows_reparandum(cue.start):
                self._keep(cue.start, cue.stop)

    def _taken_back(self) -> Iterator[tuple[int, int]]:
        """Yield where each run of words taken back begins and ends, of those not yet all frozen."""
        end = len(self._tags)
        while end > self._unfrozen.start:
            begin = end
            while self._tag(begin - 1) in IN_REPARANDUM:
                begin -= 1
            if begin < end:
                yield begin, end
            end = min(begin, end - 1)

    def _is_meant(self, begin: int, end: int) -> bool:
        """Tell whether words taken back hold a number, or a part of one, and no repair of it."""
        if end in self._across and not self._is_said_again(begin, end):
            return True
        if self._numbered.isdisjoint(range(begin, end)):
            return False
        return not self._is_repaired(end) and not self._is_said_again(begin, end)

    def _is_emphatic(self, begin: int, end: int) -> bool:
        """Tell whether the words taken back are one word of ``EMPHATIC``, which is said once more."""
        said = set(self._words[begin : end + 1])
        return len(said) == 1 and end < len(self._words) and said <= self._emphatic

    def _is_repaired(self, end: int) -> bool:
        if self._tag(end) in IN_FILLER:
            return True
        return end < len(self._words) and (is_sound(self._words[end]) or end in self._cue_begins)

    def _is_said_again(self, begin: int, end: int) -> bool:
        """Tell whether the words follow once more, and are not digits that are read together."""
        digits = end in self._across and self._across[end].kind is NumberKind.DIGITS
        return not digits and list(self._words[begin:end]) == list(self._words[end : 2 * end - begin])
