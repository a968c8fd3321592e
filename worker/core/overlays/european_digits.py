"""German, Spanish and French numbers as digits: which are sure enough, and how each is written.

    um acht uhr dreissig, am dritten mai zweitausendzwei, zwanzig euro  ->  8:30 Uhr, 3. Mai 2002, 20 €

Rules, in this order; what is said between two marks stands alone:

1. Times: an hour with its word (Uhr, heures) or behind an article (a las ocho y treinta).
2. Amounts: with a percentage, a currency or a unit, or with what has numbers (Seite, page), also below ten.
3. Dates; ordinals from the tenth on, German ones before a word.
4. Digit strings of three or more; telephone numbers that are said in pairs. Counting ("eins zwei drei") stays.
5. Cardinals from ten on. Four digits are written without a space, so that a year is one.

A number stays in words where it is not sure: beside another number, at a border behind which words may go on, as a
scale alone ("tausend", "mil"), beside "a half", or joined to one that stays ("zwei oder drei").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from caesura.worker.core.language.normalisation import word_set
from caesura.worker.core.numbers.european_numbers import EUROPEAN, european_numbers
from caesura.worker.core.numbers.number_span import NumberKind, NumberSpan
from caesura.worker.core.overlays.overlay import Overlay, Stretch, in_groups, is_counting

_NARROW, _FIXED = "\u202f", "\u00a0"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writing:
    """How a language writes numbers, and the words around them that decide.

    group: stands between thousands from five digits on. percent, euros, cents, units: stand behind an amount;
    cents_link: before its cents. codes: before a digit string.
    links: join two numbers; range_links: to a range. unsure_before, unsure_behind: more of a number, or of a time.
    clock: an hour's word. shown_clock: how hour and minute are written. phone: the digits of a telephone number,
    its first digits, and its groups.
    """

    group: str
    percent: tuple[tuple[str, ...], ...]
    cents: frozenset[str]
    units: frozenset[str]
    codes: frozenset[str]
    links: frozenset[str]
    range_links: frozenset[str]
    unsure_before: frozenset[str]
    unsure_behind: frozenset[str]
    clock: frozenset[str]
    shown_clock: str
    cents_links: frozenset[str]
    scales: frozenset[str]
    phone: tuple[int, str, tuple[int, ...]] | None = None
    euros: frozenset[str] = field(default=frozenset(("euro", "euros")))


_WRITINGS: Mapping[str, _Writing] = {
    "de": _Writing(
        group=".",
        percent=(("prozent",),),
        cents=word_set("cent cents"),
        units=word_set(
            """kilometer kilometern meter metern zentimeter zentimetern millimeter millimetern quadratmeter
            quadratmetern kubikmeter gramm kilogramm kilo kilos milligramm tonne tonnen pfund liter litern milliliter
            grad volt watt kilowatt kilowattstunden megawatt gigawatt hektar stundenkilometer sekunde sekunden minute
            minuten stunde stunden tag tage tagen woche wochen monat monate monaten jahr jahre jahren dollar franken
            cent prozentpunkte prozentpunkten megabyte gigabyte"""
        ),
        codes=word_set("nummer telefonnummer code pin postleitzahl kundennummer rufnummer durchwahl bestellnummer"),
        links=word_set("oder bis und"),
        range_links=word_set("bis"),
        unsure_before=word_set("komma punkt halb viertel drei-viertel dreiviertel"),
        unsure_behind=word_set("komma viertel drittel fünftel achtel zehntel hundertstel tausendstel halb"),
        clock=word_set("uhr"),
        shown_clock="{}:{} Uhr",
        cents_links=word_set("und"),
        scales=word_set("hundert tausend million millionen milliarde milliarden"),
    ),
    "es": _Writing(
        group=_NARROW,
        percent=(("por", "ciento"),),
        cents=word_set("céntimo céntimos centavo centavos"),
        units=word_set(
            """kilómetro kilómetros metro metros centímetro centímetros milímetro milímetros hectárea hectáreas gramo
            gramos kilogramo kilogramos kilo kilos miligramos tonelada toneladas litro litros mililitros grado grados
            voltios watts vatios kilovatios megavatios megawatts barriles segundos minuto minutos hora horas día días
            semana semanas mes meses año años peso pesos dólar dólares céntimos centavos libras"""
        ),
        codes=word_set("número teléfono código pin clave postal móvil celular llame marque extensión"),
        links=word_set("o u a al y"),
        range_links=word_set("a al"),
        unsure_before=word_set("coma punto menos"),
        unsure_behind=word_set(
            "coma punto menos tercios cuartos quintos octavos décimas centésimas milésimas pico tantos"
        ),
        clock=frozenset(),
        shown_clock="{}:{}",
        cents_links=word_set("con y"),
        scales=word_set("cien ciento mil millón millones billón billones"),
        phone=(9, "6789", (3, 3, 3)),
    ),
    "fr": _Writing(
        group=_NARROW,
        percent=(("pour", "cent"),),
        cents=word_set("centime centimes"),
        units=word_set(
            """kilomètre kilomètres mètre mètres centimètre centimètres millimètre millimètres hectare hectares gramme
            grammes kilogramme kilogrammes kilo kilos milligrammes tonne tonnes litre litres millilitres degré degrés
            volts watts kilowatts mégawatts seconde secondes minute minutes heure heures jour jours semaine semaines
            mois an ans année années dollar dollars francs centimes livres"""
        ),
        codes=word_set("numéro téléphone code postal pin composez appelez poste"),
        links=word_set("ou à et"),
        range_links=word_set("à"),
        unsure_before=word_set("virgule point moins"),
        unsure_behind=word_set("virgule point moins tiers quarts cinquièmes dixièmes centièmes millièmes"),
        clock=word_set("heure heures"),
        shown_clock=f"{{}}{_FIXED}h{_FIXED}{{}}",
        cents_links=word_set("et"),
        scales=word_set("cent cents mille million millions milliard milliards"),
        phone=(10, "0", (2, 2, 2, 2, 2)),
    ),
}

_LEAST, _LEAST_DIGITS, _CENTS, _MILLION = 10, 3, 100, 10**6
_LONGEST_PLAIN = 4
_HOURS, _MINUTES, _CODE_WORDS = range(25), range(60), 3
_HALVES = (
    *(("und", one, "halb") for one in ("ein", "eine")),
    *(("y", half) for half in ("media", "medio", "cuarto", "pico", "tantos", "tantas")),
    *(("et", half) for half in ("demi", "demie", "quart")),
)
_HALF_OF_DAY = word_set("mañana tarde noche madrugada mediodía")
_AROUND_AN_HOUR = ("vor", "nach")
_OF_A_PART = word_set("du de des d'un d'une")


def european_digits(stretch: Stretch, language: str) -> list[Overlay]:
    """Return the numbers of a stretch that are sure, in order, with their digits; places are the stretch's.

    language: one of ``european_numbers.EUROPEAN``.
    """
    found: list[Overlay] = []
    begin, last = 0, len(stretch.words) - 1
    for place, mark in enumerate(stretch.marks):
        if mark != "none" or place == last:
            words = stretch.words[begin : place + 1]
            finder = _Finder(
                words,
                european_numbers(words, language),
                language,
                begins=begin > 0 or stretch.begins,
                ends=place < last or stretch.ends,
            )
            found += [overlay.moved(range(begin, place + 1)) for overlay in finder.found()]
            begin = place + 1
    return found


class _Finder:
    """The numbers of the words between two marks. begins, ends: as of ``Stretch``."""

    def __init__(
        self, words: Sequence[str], spans: Sequence[NumberSpan], language: str, *, begins: bool, ends: bool
    ) -> None:
        self._words = words
        self._spans = spans
        self._at = {span.begin: span for span in spans}
        self._ending = {span.end: span for span in spans}
        self._language = language
        self._lexicon = EUROPEAN[language]
        self._writing = _WRITINGS[language]
        self._begins = begins
        self._ends = ends

    def found(self) -> Iterator[Overlay]:
        end = 0
        for span in self._spans:
            if span.begin < end or self._word(span.begin)[:1].isdecimal():
                continue
            overlay = self._clock(span) or self._amount(span) or self._alone(span)
            if overlay is not None and not self._is_open(overlay):
                yield overlay
                end = overlay.end

    # --- what stands around a number

    def _word(self, place: int) -> str:
        return self._words[place] if 0 <= place < len(self._words) else ""

    def _follows(self, place: int, *phrases: Sequence[str]) -> int:
        """Return how many words of one of the phrases stand at a place."""
        return next((len(one) for one in phrases if tuple(self._words[place : place + len(one)]) == tuple(one)), 0)

    def _is_open(self, overlay: Overlay) -> bool:
        """Tell whether more of a number may stand where it cannot be seen."""
        return (overlay.begin == 0 and not self._begins) or (overlay.end == len(self._words) and not self._ends)

    def _is_beside_number(self, span: NumberSpan) -> bool:
        return span.end in self._at or span.begin in self._ending or self._word(span.begin - 1) in self._writing.clock

    def _is_part_of_more(self, span: NumberSpan) -> bool:
        """Tell whether "a half" follows, or a part of a decimal, a fraction, or a time ("zehn nach acht")."""
        writing, before, behind = self._writing, self._word(span.begin - 1), self._word(span.end)
        if before in writing.unsure_before:
            return True
        ordinal = self._at.get(span.end + 1)  # "vingt et unième"
        if behind == self._lexicon.link and ordinal is not None and ordinal.kind is NumberKind.ORDINAL:
            return True
        for end in (span.end, span.end + 1)[: 1 + (behind in writing.units)]:  # "dos años y medio"
            if self._word(end) in writing.unsure_behind or self._follows(end, *_HALVES):
                return True
        if self._language != "de":
            return False
        return (behind in _AROUND_AN_HOUR and span.end + 1 in self._at) or (
            before in _AROUND_AN_HOUR and (span.begin - 1 in self._ending or self._word(span.begin - 2) == "viertel")
        )

    def _unit(self, end: int) -> int:
        """Return how many words of a unit, a currency or a percentage stand at a place."""
        writing = self._writing
        return self._follows(end, *writing.percent) or int(self._word(end) in writing.units | writing.euros)

    def _is_bare_scale(self, span: NumberSpan) -> bool:
        """Tell whether a scale is said without a number, or "one million" is: it may be any number."""
        words = self._words[span.begin : span.end]
        return words[-1] in self._writing.scales and all(
            word in self._writing.scales | self._lexicon.articles for word in words
        )

    def _is_loose(self, span: NumberSpan) -> bool:
        """Tell whether a number is joined to one that stays in words, or that shares its scale: "zehn oder zwölf"."""
        links = self._writing.links
        if self._word(span.end) in links and (other := self._at.get(span.end + 1)) is not None:
            return self._are_loose(span, other)
        if self._word(span.begin - 1) in links:
            other = self._ending.get(span.begin - 1)
            if other is None:
                return self._word(span.begin - 2) in self._lexicon.articles
            return self._are_loose(other, span)
        return False

    def _are_loose(self, first: NumberSpan, second: NumberSpan) -> bool:
        if not {first.kind, second.kind} <= {NumberKind.CARDINAL, NumberKind.DECIMAL}:
            return False
        shared = self._ends_in_scale(second) and not self._ends_in_scale(first)
        small = min(float(first.value), float(second.value)) < _LEAST
        with_unit = self._word(first.end) in self._writing.range_links and self._unit(second.end)
        return shared or (small and not with_unit)

    def _ends_in_scale(self, span: NumberSpan) -> bool:
        scales = tuple(self._writing.scales) if self._language == "de" else ()
        last = self._word(span.end - 1)
        return last in self._writing.scales or last.endswith(scales) or self._scale_behind(span) > 0

    # --- how numbers are written

    def _grouped(self, digits: str) -> str:
        whole, point, rest = digits.partition(".")
        if len(whole) > _LONGEST_PLAIN:
            whole = f"{int(whole):,}".replace(",", self._writing.group)
        return whole + ("," if point else "") + rest

    def _value(self, span: NumberSpan) -> str:
        """Write a cardinal or decimal; with "millions" where that is the last word said."""
        last = self._word(span.end - 1)
        scale = self._lexicon.scales.get(last, 0)
        if span.kind is NumberKind.CARDINAL and scale >= _MILLION and not int(span.value) % scale:
            return f"{self._grouped(str(int(span.value) // scale))}{_FIXED}{self._named(last)}"
        if "postal" in self._words[max(0, span.begin - _CODE_WORDS) : span.begin]:
            return span.value
        text = self._grouped(span.value)
        return text.replace(",", ".") if "punto" in self._words[span.begin : span.end] else text

    def _named(self, word: str) -> str:
        return word.title() if self._language == "de" else word

    def _scale_behind(self, span: NumberSpan) -> int:
        """Return 1 where "million" or more stands alone behind a number: "tres coma cinco millones"."""
        behind = self._at.get(span.end)
        alone = behind is not None and behind.end == span.end + 1
        return int(alone and self._lexicon.scales.get(self._word(span.end), 0) >= _MILLION)

    # --- times and amounts

    def _clock(self, span: NumberSpan) -> Overlay | None:
        if span.kind is not NumberKind.CARDINAL or int(span.value) not in _HOURS or span.begin in self._ending:
            return None
        if self._is_part_of_more(span):
            return None
        if self._word(span.end) in self._writing.clock:
            return self._hour_with_word(span)
        if self._word(span.begin - 1) != "las":
            return None
        minute = self._minute(span.end + (self._word(span.end) == "y"))
        if minute is not None:
            return self._time(span, minute)
        part = self._word(span.end) in ("de", "por") and self._word(span.end + 1) == "la"
        return Overlay(span.begin, span.end, span.value) if part and self._word(span.end + 2) in _HALF_OF_DAY else None

    def _hour_with_word(self, span: NumberSpan) -> Overlay | None:
        minute = self._minute(span.end + 1)
        if minute is not None:
            return self._time(span, minute)
        if span.end + 1 in self._at or self._follows(span.end + 1, *_HALVES):
            return None
        if self._word(span.end + 1) in self._writing.unsure_behind or self._is_loose(span):
            return None
        return Overlay(span.begin, span.end, span.value)

    def _time(self, hour: NumberSpan, minute: NumberSpan) -> Overlay:
        return Overlay(hour.begin, minute.end, self._writing.shown_clock.format(hour.value, minute.value.zfill(2)))

    def _minute(self, place: int) -> NumberSpan | None:
        minute = self._at.get(place)
        alone = minute is not None and minute.end not in self._at and not self._unit(minute.end)
        if minute is None or not alone or minute.kind is not NumberKind.CARDINAL:
            return None
        return minute if int(minute.value) in _MINUTES else None

    def _amount(self, span: NumberSpan) -> Overlay | None:
        if span.kind not in (NumberKind.CARDINAL, NumberKind.DECIMAL) or span.begin in self._ending:
            return None
        if self._is_part_of_more(span) or self._is_loose(span) or self._word(span.begin - 1) in self._writing.clock:
            return None
        end, text = span.end, self._value(span)
        if scaled := self._scale_behind(span) > 0 and not self._is_bare_scale(span):
            end, text = end + 1, f"{text}{_FIXED}{self._named(self._word(end))}"
        if percent := self._follows(end, *self._writing.percent):
            return Overlay(span.begin, end + percent, f"{text}{_FIXED}%")
        if self._word(end) in self._writing.euros:
            return self._money(span, text, end)
        sure = scaled or (self._has_unit(span, end) and not self._is_bare_scale(span))
        return Overlay(span.begin, end, text) if sure and end not in self._at else None

    def _has_unit(self, span: NumberSpan, end: int) -> bool:
        """Tell whether a number below ten is one as well: with a unit, in a range with one, or of a page."""
        of_its_own = self._word(span.begin - 1) in self._lexicon.numbered and span.value != "1"
        return of_its_own or self._word(end) in self._writing.units or self._begins_range(span)

    def _begins_range(self, span: NumberSpan) -> bool:
        """Tell whether a range with a unit begins: "fünf bis zehn Prozent"."""
        other = self._at.get(span.end + 1)
        return other is not None and self._word(span.end) in self._writing.range_links and self._unit(other.end) > 0

    def _money(self, span: NumberSpan, text: str, end: int) -> Overlay | None:
        """Return an amount of euros, its cents with it; None where a number follows that says something else."""
        place = end + 1
        place += self._word(place) in self._writing.cents_links
        cents = self._at.get(place)
        if cents is None:
            return Overlay(span.begin, end + 1, f"{text}{_FIXED}€")
        named = self._word(cents.end) in self._writing.cents
        joined = place > end + 1 and self._word(place - 1) != "con"
        if cents.kind is not NumberKind.CARDINAL or span.kind is not NumberKind.CARDINAL or (not named and joined):
            return Overlay(span.begin, end + 1, f"{text}{_FIXED}€") if joined else None
        sure = int(cents.value) < _CENTS and text.isdecimal() and (named or not self._unit(cents.end))
        if not sure or cents.end in self._at:
            return None
        return Overlay(span.begin, cents.end + named, f"{text},{int(cents.value):02}{_FIXED}€")

    # --- numbers alone

    def _alone(self, span: NumberSpan) -> Overlay | None:
        if self._is_beside_number(span) or self._is_part_of_more(span):
            return None
        text: str | None = None
        match span.kind:
            case NumberKind.DIGITS:
                text = self._digits(span)
            case NumberKind.DATE:
                text = self._date(span)
            case NumberKind.ORDINAL:
                text = self._ordinal(span)
            case NumberKind.DECIMAL:
                text = None if self._is_loose(span) else self._value(span)
            case _ if int(span.value) >= _LEAST and not self._is_bare_scale(span) and not self._is_loose(span):
                text = self._value(span)
        return None if text is None else Overlay(span.begin, span.end, text)

    def _digits(self, span: NumberSpan) -> str | None:
        digits, phone = span.value, self._writing.phone
        words = self._words[span.begin : span.end]
        if phone is not None and len(digits) == phone[0] and digits[0] in phone[1]:
            return _FIXED.join(in_groups(digits, phone[2]))
        if len(digits) != len(words) or len(digits) < _LEAST_DIGITS:
            return None
        is_code = not self._writing.codes.isdisjoint(self._words[max(0, span.begin - _CODE_WORDS) : span.begin])
        return digits if is_code or not is_counting(digits) else None

    def _date(self, span: NumberSpan) -> str | None:
        """Write a date as it was said; None where its day is no day of that language's dates."""
        words = self._words[span.begin : span.end]
        at = next(place for place, word in enumerate(words) if word in self._lexicon.months)
        named = european_numbers(words[:at], self._language)  # "uno" alone is no number, and may be a day
        value, end = (named[0].value, named[0].end) if named else ("1", 1)
        year = "".join(number.value for number in european_numbers(words[at:], self._language))
        ordinal = bool(named) and named[0].kind is NumberKind.ORDINAL
        if self._language == "de":
            return f"{value}. {words[at].title()} {year}".rstrip() if ordinal else None
        if ordinal and value != "1":
            return None
        first = "1er" if ordinal and self._language == "fr" else value
        of = [*words[end:at], words[at], *(word for word in words[at + 1 :] if word in self._lexicon.of), year]
        return " ".join(filter(None, [first, *of]))

    def _ordinal(self, span: NumberSpan) -> str | None:
        if int(span.value) < _LEAST or self._word(span.begin - 1) in self._lexicon.articles:
            return None
        if self._language == "de":
            return f"{self._grouped(span.value)}." if self._word(span.end) else None
        french = self._language == "fr" and self._word(span.end) not in _OF_A_PART
        return f"{self._grouped(span.value)}e" if french else None
