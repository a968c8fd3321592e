"""German, Spanish and French numbers among words: amounts, ordinals, digit strings and dates.

    >>> european_numbers("am dritten oktober neunzehnhundertneunzig".split(), "de")
    [NumberSpan(begin=1, end=4, kind=<NumberKind.DATE: 'date'>, value='1990-10-03')]

Spans and values are those of ``spoken_numbers``. A word is cut into its parts ("vierundachtzig" is
four, and, eighty; "quatre-vingt-dix" is four, twenty, ten), and the parts of one number follow each other by size.
``DIGITS`` are two or more digits, or three or more numbers below a hundred, as telephone numbers are said in pairs.
"ein", "un" or "una" alone is an article and no number.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from caesura.worker.core.language.normalisation import word_set
from caesura.worker.core.numbers.english_numbers import numbered
from caesura.worker.core.numbers.number_span import NumberKind, NumberSpan

_FOUR, _TEN, _LEAST_TEN, _SIXTY, _HUNDRED, _THOUSAND = 4, 10, 20, 60, 100, 1000
_FOUR_TIMES = ("vingt", "vingts")
_WRITTEN = re.compile(r"\d+(?:[.\u202f ]\d{3})*")
_WRITTEN_DECIMAL = re.compile(r"\d+,\d+")
_YEARS = range(1000, 2200)
_MAX_DAY = 31
_DAY_ONE = "uno"
_LEAST_PAIRS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lexicon:
    """A language's number words.

    below: what is added, by its value. hundreds: what multiplies by a hundred. scales: thousand and more. link: stands
    between the parts of a number. unit_first: a unit and the link stand before the tens. articles: ones that are no
    number alone. ordinals: whole ordinals; ordinal_end: what makes one of a cardinal. points: a decimal's. of: stands
    before a month or a year. numbered: stand before a number of their own.
    """

    below: Mapping[str, int]
    scales: Mapping[str, int]
    months: Mapping[str, int]
    articles: frozenset[str]
    ordinals: Mapping[str, int]
    numbered: frozenset[str]
    hundreds: frozenset[str] = frozenset()
    link: str = "y"
    ordinal_end: re.Pattern[str] | None = None
    unit_first: bool = False
    points: frozenset[str] = frozenset(("coma", "punto"))
    of: frozenset[str] = frozenset()
    parts: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        every = sorted({*self.below, *self.scales, *self.hundreds, self.link}, key=len, reverse=True)
        object.__setattr__(self, "parts", re.compile("(?:-?(" + "|".join(map(re.escape, every)) + "))"))


_GERMAN_UNITS = numbered("eins zwei drei vier fünf sechs sieben acht neun")
_GERMAN = _Lexicon(
    below=_GERMAN_UNITS
    | {"ein": 1, "eine": 1, "zwo": 2, "null": 0}
    | numbered("zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn", 10)
    | numbered("zwanzig dreissig vierzig fünfzig sechzig siebzig achtzig neunzig", 20, 10),
    hundreds=frozenset(("hundert",)),
    scales={"tausend": 10**3}
    | dict.fromkeys(("million", "millionen"), 10**6)
    | dict.fromkeys(("milliarde", "milliarden"), 10**9),
    link="und",
    unit_first=True,
    articles=frozenset(("ein", "eine")),
    ordinals={"erste": 1, "dritte": 3, "siebte": 7, "achte": 8},
    ordinal_end=re.compile(r"(?:(?<=ig)|(?<=nd)|(?<=rt)|(?<=on))st(?:e[nrsm]?)|te[nrsm]?"),
    months=numbered("januar februar märz april mai juni juli august september oktober november dezember")
    | {"jänner": 1, "feber": 2, "juno": 6, "julei": 7},
    points=frozenset(("komma",)),
    numbered=word_set(
        """nummer seite kapitel zimmer raum gleis artikel paragraf paragraph absatz linie stufe etage version teil folge
        ziffer hausnummer wohnung tor halle bus ausgabe band"""
    ),
)
_SPANISH = _Lexicon(
    below=numbered("uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis")
    | numbered("diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco", 17)
    | numbered("veintiséis veintisiete veintiocho veintinueve", 26)
    | numbered("treinta cuarenta cincuenta sesenta setenta ochenta noventa", 30, 10)
    | numbered(
        "doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos", 200, 100
    )
    | numbered(
        "doscientas trescientas cuatrocientas quinientas seiscientas setecientas ochocientas novecientas", 200, 100
    )
    | {"un": 1, "una": 1, "veintiún": 21, "veintiuna": 21, "cero": 0, "cien": 100, "ciento": 100},
    scales={"mil": 10**3, "millón": 10**6, "millones": 10**6, "billón": 10**12, "billones": 10**12},
    articles=frozenset(("un", "una", "uno")),
    ordinals=numbered("primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo")
    | numbered("primera segunda tercera cuarta quinta sexta séptima octava novena décima")
    | {"primer": 1, "tercer": 3},
    months=numbered("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre")
    | {"setiembre": 9},
    of=frozenset(("de", "del")),
    numbered=word_set(
        """número página capítulo artículo habitación puerta andén línea piso versión sala planta apartado lección tomo
        apartamento"""
    ),
)
_FRENCH = _Lexicon(
    below=numbered("un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize")
    | numbered("vingt trente quarante cinquante soixante septante huitante nonante", 20, 10)
    | {"une": 1, "octante": 80, "zéro": 0, "vingts": 20},
    hundreds=frozenset(("cent", "cents")),
    scales={"mille": 10**3}
    | dict.fromkeys(("million", "millions"), 10**6)
    | dict.fromkeys(("milliard", "milliards"), 10**9),
    link="et",
    articles=frozenset(("un", "une")),
    ordinals={"premier": 1, "première": 1, "second": 2, "seconde": 2},
    ordinal_end=re.compile("ième"),
    months=numbered("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
    points=frozenset(("virgule",)),
    numbered=word_set(
        """numéro page chapitre article chambre quai ligne étage version salle alinéa porte voie leçon tome bâtiment
        appartement"""
    ),
)
EUROPEAN: Mapping[str, _Lexicon] = {"de": _GERMAN, "es": _SPANISH, "fr": _FRENCH}
"""The languages that are read, by primary subtag."""

_MOST_WORDS = 32
"""Of one number: none that is said has more."""
_FRENCH_STEMS = {"neuv": "neuf", "cinqu": "cinq", "quatr": "quatre", "mill": "mille"}


@lru_cache(maxsize=2**14)
def is_european_number(word: str, language: str) -> bool:
    """Tell whether a word (a model's view) says a number or a part of one: "vierzig", "42", "segundo"."""
    lexicon = EUROPEAN[language]
    return (
        word[:1].isdecimal() or word in lexicon.ordinals or bool(_parts(word, language)) or _ordinal(word, language) > 0
    )


def european_numbers(words: Sequence[str], language: str) -> list[NumberSpan]:
    """Find the numbers among words, each a model's view, in one of ``EUROPEAN``."""
    atoms = {atom.begin: atom for atom in _atoms(words, language)}
    return list(_composed(words, atoms, EUROPEAN[language]))


@lru_cache(maxsize=2**14)
def _parts(word: str, language: str) -> tuple[str, ...]:
    """Return the number words that a word is made of; none where anything else is in it."""
    lexicon = EUROPEAN[language]
    found, place = [], 0
    while place < len(word):
        part = lexicon.parts.match(word, place)
        if part is None:
            return ()
        found.append(part[1])
        place = part.end()
    return tuple(found)


@lru_cache(maxsize=2**14)
def _ordinal(word: str, language: str) -> int:
    """Return the value of an ordinal that is one word; 0 where it is none."""
    lexicon = EUROPEAN[language]
    known = lexicon.ordinals.get(word) or lexicon.ordinals.get(word.rstrip("nrsm"), 0)
    if known or lexicon.ordinal_end is None:
        return known
    for end in lexicon.ordinal_end.finditer(word):
        if end.end() == len(word):
            stem = word[: end.start()]
            for ending, whole in _FRENCH_STEMS.items() if language == "fr" else ():
                stem = stem.removesuffix(ending) + whole if stem.endswith(ending) else stem
            for candidate in (stem, stem + "e"):
                parts = _parts(candidate, language)
                taken, value = _value(parts, lexicon)
                if parts and taken == len(parts):
                    return value
    return 0


def _atoms(words: Sequence[str], language: str) -> Iterator[NumberSpan]:
    place, lexicon = 0, EUROPEAN[language]
    while place < len(words):
        atom = _written(words[place], place) or _spoken(words, place, language, lexicon)
        if atom is not None:
            yield atom
        place = place + 1 if atom is None else atom.end


def _written(word: str, place: int) -> NumberSpan | None:
    if _WRITTEN.fullmatch(word):
        return NumberSpan(place, place + 1, NumberKind.CARDINAL, re.sub(r"\D", "", word))
    if _WRITTEN_DECIMAL.fullmatch(word):
        return NumberSpan(place, place + 1, NumberKind.DECIMAL, word.replace(",", "."))
    return None


def _spoken(words: Sequence[str], begin: int, language: str, lexicon: _Lexicon) -> NumberSpan | None:
    """Read the longest number that begins at a word, with its decimals."""
    number = _whole(words, begin, language, lexicon)
    if number is None or number.kind is NumberKind.ORDINAL:
        return number
    end, value = number.end, number.value
    if end + 1 < len(words) and words[end] in lexicon.points:
        if digits := _single_digits(words, end + 1, language, lexicon):
            return NumberSpan(begin, end + 1 + len(digits), NumberKind.DECIMAL, f"{value}.{digits}")
        behind = _whole(words, end + 1, language, lexicon) or _written(words[end + 1], end + 1)
        if behind is not None and behind.kind is NumberKind.CARDINAL:
            return NumberSpan(begin, behind.end, NumberKind.DECIMAL, f"{value}.{behind.value}")
    return number


def _whole(words: Sequence[str], begin: int, language: str, lexicon: _Lexicon) -> NumberSpan | None:
    if ordinal := _ordinal(words[begin], language):
        return NumberSpan(begin, begin + 1, NumberKind.ORDINAL, str(ordinal))
    parts: list[str] = []
    ends: list[int] = []
    place = begin
    while place < min(len(words), begin + _MOST_WORDS) and (more := _parts(words[place], language)):
        parts += more
        place += 1
        ends.append(len(parts))
    if not parts or parts[0] == lexicon.link:
        return None
    taken, _ = _value(parts, lexicon)
    whole = bisect_right(ends, taken)
    if not whole:
        return None
    taken = ends[whole - 1]
    while taken and parts[taken - 1] == lexicon.link:
        taken -= 1
    end = begin + bisect_left(ends, taken) + 1
    _, value = _value(parts[:taken], lexicon)
    return NumberSpan(begin, end, NumberKind.CARDINAL, str(value))


def _single_digits(words: Sequence[str], begin: int, language: str, lexicon: _Lexicon) -> str:
    digits = ""
    for place in range(begin, len(words)):
        parts = _parts(words[place], language)
        if len(parts) != 1 or lexicon.below.get(parts[0], _TEN) >= _TEN:
            break
        digits += str(lexicon.below[parts[0]])
    return digits


def _value(parts: Sequence[str], lexicon: _Lexicon) -> tuple[int, int]:
    """Return how many parts are one number, and its value."""
    number = _Number(lexicon)
    done = 0
    for place, part in enumerate(parts):
        if not number.takes(part):
            break
        if part != lexicon.link:
            done = place + 1
    return done, number.total + number.group


class _Number:
    """One number, part by part.

    total: what scales have closed. group: what was said since. room: what the next part must be below; 0: none may
    follow. unit: the last part where it is a unit, which "und" and a ten, or "vingt", may follow.
    """

    def __init__(self, lexicon: _Lexicon) -> None:
        self.total = self.group = 0
        self._lexicon = lexicon
        self._room, self._unit, self._scale = _THOUSAND, 0, 10**18
        self._begun = self._linked = False

    def takes(self, part: str) -> bool:
        """Tell whether a part goes on with the number, and take it then."""
        if part == self._lexicon.link:
            taken = self._begun and not self._linked and bool(self._unit if self._lexicon.unit_first else self._room)
        elif part in self._lexicon.below:
            taken = self._adds(part, self._lexicon.below[part])
        elif part in self._lexicon.hundreds:
            taken = self._multiplies()
        else:
            taken = self._closes(self._lexicon.scales[part])
        self._linked = part == self._lexicon.link
        self._begun = True
        return taken

    def _adds(self, part: str, value: int) -> bool:
        ten_behind_unit = self._lexicon.unit_first and self._linked and self._unit > 0
        if ten_behind_unit and value >= _LEAST_TEN and value % 10 == 0:
            self.group, self._room, self._unit = self.group + value, 0, 0
        elif part in _FOUR_TIMES and self._unit == _FOUR and not self._linked:
            self.group, self._room, self._unit = self.group - _FOUR + _FOUR * _LEAST_TEN, _LEAST_TEN, 0
        elif ten_behind_unit or value >= self._room or (value == 0 and self._begun):
            return False
        else:
            self.group += value
            self._unit = value if 0 < value < _TEN else 0
            self._room = _room_after(value, self._lexicon)
        return True

    def _multiplies(self) -> bool:
        if self.group >= _HUNDRED or self._linked or (not self.group and self._room != _THOUSAND):
            return False
        self.group, self._room, self._unit = max(self.group, 1) * _HUNDRED, _HUNDRED, 0
        return True

    def _closes(self, scale: int) -> bool:
        bare = not self.group and (self._room != _THOUSAND or (self.total > 0 and scale != _THOUSAND))
        if scale >= self._scale or bare:
            return False
        self.total, self.group = self.total + max(self.group, 1) * scale, 0
        self._room, self._unit, self._scale = _THOUSAND, 0, scale
        return True


def _room_after(value: int, lexicon: _Lexicon) -> int:
    if value >= _HUNDRED:
        return _HUNDRED
    if lexicon.unit_first or value % 10:
        return 0
    if value == _SIXTY and "vingt" in lexicon.below:
        return _LEAST_TEN
    return _TEN if value >= _LEAST_TEN or (value == _TEN and "vingt" in lexicon.below) else 0


def _composed(words: Sequence[str], atoms: Mapping[int, NumberSpan], lexicon: _Lexicon) -> Iterator[NumberSpan]:
    """Put numbers together that are said one behind the other: dates first, then digit strings."""
    place = 0
    while place < len(words):
        if place not in atoms:
            place += 1
            continue
        span = _date(words, atoms, lexicon, place) or _digits(atoms, place) or atoms[place]
        if span.end != place + 1 or words[place] not in lexicon.articles:
            yield span
        place = span.end


def _digits(atoms: Mapping[int, NumberSpan], begin: int) -> NumberSpan | None:
    run, place = [], begin
    while (atom := atoms.get(place)) is not None and atom.kind is NumberKind.CARDINAL and len(atom.value) <= 2:
        run.append(atom)
        place = atom.end
    single = 0
    while single < len(run) and len(run[single].value) == 1:
        single += 1
    if len(run) < _LEAST_PAIRS:
        run = run[:single]
    if len(run) < 2:
        return None
    return NumberSpan(begin, run[-1].end, NumberKind.DIGITS, "".join(atom.value for atom in run))


def _date(words: Sequence[str], atoms: Mapping[int, NumberSpan], lexicon: _Lexicon, begin: int) -> NumberSpan | None:
    """Return a date: a day, a month, and perhaps a year. "uno de mayo" is one, and "un mayo muy frío" is none."""
    day = atoms[begin]
    if day.end == begin + 1 and words[begin] in lexicon.articles and words[begin] != _DAY_ONE:
        return None
    if day.kind not in (NumberKind.ORDINAL, NumberKind.CARDINAL) or not 1 <= int(day.value) <= _MAX_DAY:
        return None
    place = day.end + (day.end < len(words) and words[day.end] in lexicon.of)
    month = lexicon.months.get(words[place]) if place < len(words) else None
    if month is None:
        return None
    end = place + 1
    year = atoms.get(end + (end < len(words) and words[end] in lexicon.of))
    if year is None or year.kind is not NumberKind.CARDINAL or int(year.value) not in _YEARS:
        return NumberSpan(begin, end, NumberKind.DATE, f"--{month:02}-{int(day.value):02}")
    return NumberSpan(begin, year.end, NumberKind.DATE, f"{year.value}-{month:02}-{int(day.value):02}")
