"""English numbers as digits: which of the numbers that are said are sure enough, and how each is written.

    we paid twenty dollars and fifty cents on august fourth  ->  [$20.50], [August 4]

Rules, in this order:

1. Times: an hour and a minute with a.m. or p.m., o'clock, a part of the day, or behind "at" and its like.
2. Amounts: with a percentage, a currency, "million" behind a decimal, or a unit, the number may be below ten.
3. Dates; years behind a preposition, or said in three words; ordinals from the tenth on.
4. Digit strings of three or more; telephone numbers that are said in groups. Counting ("one two three") stays.
5. Cardinals from ten on, and below ten behind what has numbers (room, chapter, page).

A number stays in words where it is not sure: beside another number, at a border of the stretch behind which words may
go on, across a mark (but a date's), with "and a half", as "a hundred", or beside one that stays ("two or three").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from caesura.worker.core.language.normalisation import word_set
from caesura.worker.core.numbers.english_numbers import UNITS, ZEROS
from caesura.worker.core.numbers.spoken_numbers import MONTHS, NumberKind, NumberSpan, number_spans
from caesura.worker.core.overlays.overlay import Overlay, Stretch, in_groups, is_counting

_MONTHS = [month.title() for month in MONTHS]
_VERBS_TOO = ("may", "march")
_SCALES = {10**12: "trillion", 10**9: "billion", 10**6: "million"}
_SCALE_WORDS = word_set("hundred thousand million billion trillion")
_CURRENCIES = {"dollar": "$", "dollars": "$", "euro": "€", "euros": "€"}
_UNITS = word_set(
    """kilometer kilometers kilometre kilometres meter meters metre metres centimeter centimeters centimetre
    centimetres millimeter millimeters millimetre millimetres mile miles inch inches feet yards acres hectares gram
    grams kilogram kilograms kilo kilos milligram milligrams ounce ounces pound pounds ton tons tonne tonnes liter
    liters litre litres milliliter milliliters millilitre millilitres gallon gallons pint pints degrees celsius
    fahrenheit volts volt watt watts kilowatt kilowatts amps hertz megahertz gigahertz megabyte megabytes gigabyte
    gigabytes terabyte terabytes kilobytes bits bytes megabits gigabits megapixels calories percentage decibels pence
    cents cent bucks yen rupees yuan francs pesos"""
)
_TIME_UNITS = word_set(
    """second seconds minute minutes hour hours day days week weeks month months year years milliseconds millisecond
    decades centuries"""
)
_WITH_UNIT = _UNITS | _TIME_UNITS | frozenset(("percent", *_CURRENCIES))
_NUMBERED = word_set(
    """number chapter page room gate flight step version platform section part episode season line level apartment
    suite question lesson exercise figure table item volume grade route bus track channel extension building block
    option phase highway interstate terminal seat row lane ward article appendix paragraph windows"""
)
_CODES = _NUMBERED | word_set("code pin zip dial card account order reference phone ending id ticket confirmation call")
_PHONES = word_set("phone telephone call called calling cell mobile dial fax reach text landline")
_YEAR_CUES = word_set(
    """in since of from until till by before after during around circa year late early mid spring summer fall autumn
    winter"""
)
_DATE_CUES = word_set("on in of by since from until till before after")
_CLOCK_CUES = word_set("at by until till around before after since")
_BEHIND_A_DAY = word_set(
    "at in and to for is was from until till or the we i on by he she they it you this that then if because with so"
)
_THEIRS = word_set("the my his her its our their your this that every each")
_UNSURE_BEFORE = word_set("point dot colon slash dash hyphen underscore catch half past whole foot")
_UNSURE_BEHIND = word_set(
    """point dot colon slash dash hyphen underscore thirds quarters fourths fifths sixths sevenths eighths ninths
    tenths hundredths thousandths halves twenties thirties forties fifties sixties seventies eighties nineties hundreds
    thousands something somethings odd ish past"""
)
BESIDE_ONE = (
    _WITH_UNIT | _NUMBERED | frozenset(("per", "point", "m", "am", "pm", "a.m", "p.m", "oh", "o'clock", *MONTHS))
)
"""Words of which one stands beside "one" or a small ordinal that is written with digits."""
_DIGIT_WORDS = frozenset((*ZEROS, *UNITS, *"0123456789"))
_HOURS_BELOW_TEN = frozenset("123456789")
_LETTERS = frozenset("bcdefghjklmnopqrstuvwxyz")
"""Of a house or a room, not words: no time stands before one."""
_JOINED = ("or", "to", "and", "through", "by")
_WITH_PENCE = frozenset(("pound", "pounds", *_CURRENCIES))
_BETWEEN_YEARS = ("to", "and", "or", "until", "till", "through")
_DOZENS = ("dozen", "score")
_HALVES = ("half", "quarter", "third")
_DAY_PARTS = (("in", "the", "morning"), ("in", "the", "afternoon"), ("in", "the", "evening"), ("at", "night"))
_LEAST, _MOST_HOUR, _MINUTES = 10, 12, range(60)
_CENTS, _COUNTRY_DIGITS, _MINUTE_DIGITS = 100, 11, 2
_CLOCK_WORDS, _PHONE_WORDS, _CODE_WORDS = 4, 8, 3
_LEAST_DIGITS, _PHONE_DIGITS, _GROUPS = 3, (7, 10, 11), {7: (3, 4), 10: (3, 3, 4)}
_YEARS, _LATE_CENTURIES = range(1100, 2100), (19, 20)
_YEAR_WORDS = 3
_DATE = re.compile(r"(?:(?P<year>\d{4})|-)-(?P<month>\d\d)(?:-(?P<day>\d\d))?")
_ORDINAL_ENDINGS, _NO_ORDINALS = ("st", "nd", "rd", "th"), ("august", "thousand", "and")


def english_digits(stretch: Stretch) -> list[Overlay]:
    """Return the numbers of a stretch that are sure, in order, with their digits; places are the stretch's."""
    words = stretch.words
    spans = [span for span in _spans(stretch) if all(word.isascii() for word in words[span.begin : span.end])]
    return _Finder(stretch, spans).found() if spans else []


def _spans(stretch: Stretch) -> Iterator[NumberSpan]:
    """Yield the numbers of a stretch, none across a mark, but for a date's comma."""
    for span in number_spans(stretch.words):
        begin = span.begin
        for end in range(span.begin + 1, span.end + 1):
            if span.kind is NumberKind.DATE or end == span.end or stretch.marks[end - 1] != "none":
                if span.kind is NumberKind.DATE or (begin == span.begin and end == span.end):
                    yield span
                    break
                yield from (part.moved(begin) for part in number_spans(stretch.words[begin:end]))
                begin = end


def _ordinal(value: str) -> str:
    ending = "th" if value[-2:-1] == "1" else {"1": "st", "2": "nd", "3": "rd"}.get(value[-1], "th")
    return f"{_grouped(value)}{ending}"


def _grouped(value: str) -> str:
    whole, point, rest = value.partition(".")
    return f"{int(whole):,}{point}{rest}"


@dataclass(slots=True)
class _Finder:
    """The numbers of a stretch; ``_at`` is the one to decide about."""

    _stretch: Stretch
    _spans: Sequence[NumberSpan]
    _at: int = 0
    _by_begin: dict[int, NumberSpan] = field(init=False)
    _by_end: dict[int, NumberSpan] = field(init=False)

    def __post_init__(self) -> None:
        self._by_begin = {span.begin: span for span in self._spans}
        self._by_end = {span.end: span for span in self._spans}

    def found(self) -> list[Overlay]:
        overlays: list[Overlay] = []
        while self._at < len(self._spans):
            span = self._spans[self._at]
            overlay = self._time() or self._telephone()
            if overlay is None and not self._follows_number(span):
                overlay = self._amount(span) or (None if self._precedes_number(span) else self._alone(span))
            end = span.end if overlay is None else overlay.end
            if overlay is not None and self._is_unbroken(overlay, span):
                overlays.append(overlay)
            while self._at < len(self._spans) and self._spans[self._at].begin < end:
                self._at += 1
        return overlays

    # --- what stands around a number

    def _word(self, place: int) -> str:
        words = self._stretch.words
        return words[place] if 0 <= place < len(words) else ""

    def _span_at(self, place: int) -> NumberSpan | None:
        return self._by_begin.get(place)

    def _precedes_number(self, span: NumberSpan) -> bool:
        """Tell whether a number, but the time of a date, stands right behind this one, without a mark between."""
        behind = self._span_at(span.end) is not None and self._stretch.marks[span.end - 1] == "none"
        if behind and span.kind is NumberKind.DATE:
            clock = self._clock(span.end)
            behind = clock is None or not (clock[2] or self._half_of_day(clock[0])[0])
        return behind

    def _follows_number(self, span: NumberSpan) -> bool:
        """Tell whether a number, but a date, stands right before this one, or with a currency, without a mark."""
        if not self._at or self._stretch.marks[span.begin - 1] != "none":
            return False
        before = self._spans[self._at - 1]
        money = before.end == span.begin - 1 and self._word(before.end) in _CURRENCIES
        return (before.end == span.begin and before.kind is not NumberKind.DATE) or money

    def _goes_on(self, span: NumberSpan, end: int) -> bool:
        """Tell whether more of a number that ends at ``end`` may stand where it cannot be seen."""
        stretch = self._stretch
        return (span.begin == 0 and not stretch.begins) or (end == len(stretch.words) and not stretch.ends)

    def _is_unbroken(self, overlay: Overlay, span: NumberSpan) -> bool:
        """Tell whether no mark stands within, but a comma before the year of a date."""
        inside = self._stretch.marks[overlay.begin : overlay.end - 1]
        return all(mark == "none" or (mark == "comma" and span.kind is NumberKind.DATE) for mark in inside)

    def _is_written(self, span: NumberSpan) -> bool:
        """Tell whether the recogniser wrote digits itself."""
        return self._word(span.begin)[:1].isdecimal()

    def _value(self, span: NumberSpan) -> str:
        """Return a cardinal or decimal as it is written: with "million" where that is the last word said."""
        if self._is_written(span):
            return self._word(span.begin)
        if span.kind is NumberKind.CARDINAL:
            scale = next((size for size, word in _SCALES.items() if self._word(span.end - 1) == word), 0)
            if scale and not int(span.value) % scale:
                return f"{_grouped(str(int(span.value) // scale))} {_SCALES[scale]}"
        return _grouped(span.value)

    # --- times

    def _clock(self, place: int) -> tuple[int, str, bool] | None:
        """Return an hour, alone or with its minutes, that is said at a place: its end, text, and whether with them."""
        span = self._span_at(place)
        if span is None or self._is_written(span) or span.kind not in (NumberKind.CARDINAL, NumberKind.DIGITS):
            return None
        if span.kind is NumberKind.DIGITS:
            hour, minute, end = span.value[:-2], span.value[-2:], span.end
            second = self._word(span.begin + 1)
            if hour not in _HOURS_BELOW_TEN or (self._says_digit(second) and second not in ZEROS):
                return None
        else:
            hour, minute, end = span.value, "", span.end
            behind = self._span_at(end)
            if (
                behind is not None
                and behind.kind in (NumberKind.CARDINAL, NumberKind.DIGITS)
                and len(behind.value) == _MINUTE_DIGITS
            ):
                minute, end = behind.value, behind.end
        if not 1 <= int(hour) <= _MOST_HOUR or (minute and int(minute) not in _MINUTES):
            return None
        return end, f"{hour}:{minute}" if minute else hour, bool(minute)

    def _time(self) -> Overlay | None:
        span = self._spans[self._at]
        clock = self._clock(span.begin)
        if clock is None or self._follows_number(span):
            return None
        end, text, exact = clock
        half, length = self._half_of_day(end)
        if half:
            return (
                None if span.begin == 0 and not self._stretch.begins else Overlay(span.begin, end + length, text + half)
            )
        if self._goes_on(span, end):
            return None
        if self._word(end) in ("o'clock", "oclock"):
            return Overlay(span.begin, end, text)
        if (
            not exact
            or self._word(end) in _CURRENCIES
            or self._word(end) in _SCALE_WORDS
            or self._word(end) == "percent"
            or self._word(end) in _LETTERS
        ):
            return None
        words = self._stretch.words
        day_part = any(words[end : end + len(part)] == part for part in _DAY_PARTS)
        return Overlay(span.begin, end, text) if day_part or self._says_when(span, end) else None

    def _says_when(self, span: NumberSpan, end: int) -> bool:
        """Tell whether a time is behind "at" or one of its like, or is one of "from" and "to"."""
        before = self._word(span.begin - 1)
        if before in _CLOCK_CUES:
            return True
        link = {"from": ("to", "until", "till"), "between": ("and",)}.get(before, ())
        other = self._clock(end + 1) if self._word(end) in link else None
        if other is not None and other[2]:
            return True
        joined = before in ("to", "and", "or") and self._at > 0 and self._spans[self._at - 1].end == span.begin - 1
        begins = [place for place in range(max(0, span.begin - _CLOCK_WORDS), span.begin - 1) if self._clock(place)]
        return joined and any(self._word(place - 1) in (*_CLOCK_CUES, "from", "between") for place in begins)

    def _half_of_day(self, place: int) -> tuple[str, int]:
        """Return a.m. or p.m. as it is written and how many words say it; "" where they do not."""
        word, behind = self._word(place), self._word(place + 1)
        for letter, written in (("a", " AM"), ("p", " PM")):
            if word == letter and behind == "m":
                return written, 2
            if word in (f"{letter}m", f"{letter}.m") and not (word == "am" and behind in ("i", "not")):
                return written, 1
        return "", 0

    # --- telephone numbers

    def _telephone(self) -> Overlay | None:
        """Return a telephone number that is said in digits and groups of them: numbers beside each other."""
        group, value = [self._spans[self._at]], self._group_of_digits(self._spans[self._at])
        while (behind := self._span_at(group[-1].end)) is not None and self._stretch.marks[group[-1].end - 1] == "none":
            digits = self._group_of_digits(behind)
            if not value or not digits or len(value) > _PHONE_DIGITS[-1]:
                return None
            group.append(behind)
            value += digits
        if len(group) == 1:
            return None
        begin, end = group[0].begin, group[-1].end
        spelled = any(span.kind is NumberKind.DIGITS and len(span.value) >= _LEAST_DIGITS for span in group)
        if len(value) not in _PHONE_DIGITS or not spelled or self._goes_on(group[0], end):
            return None
        return Overlay(begin, end, self._phone_text(value, begin, sure=True))

    def _group_of_digits(self, span: NumberSpan) -> str:
        """Return the digits that a number is in a telephone number ("eight hundred five": 8005); "" where none."""
        if span.kind is NumberKind.DIGITS:
            return span.value
        if span.kind is not NumberKind.CARDINAL or self._is_written(span):
            return ""
        match self._stretch.words[span.begin : span.end]:
            case (first, "hundred", *rest) if first in _DIGIT_WORDS and len(rest) <= 1:
                return f"{span.value[0]}00{span.value[-1] if rest else ''}"
            case words:
                return span.value if _SCALE_WORDS.isdisjoint(words) else ""

    def _phone_text(self, value: str, begin: int, *, sure: bool = False) -> str:
        """Write digits in groups where they are a telephone number, else one after another."""
        prefix = value[:1] if len(value) == _COUNTRY_DIGITS and value.startswith("1") else ""
        local, groups = value[len(prefix) :], [prefix] if prefix else []
        before = self._stretch.words[max(0, begin - _PHONE_WORDS) : begin]
        if len(local) not in _GROUPS or not (sure or not _PHONES.isdisjoint(before)):
            return value
        return "-".join([*groups, *in_groups(local, _GROUPS[len(local)])])

    # --- amounts

    def _amount(self, span: NumberSpan) -> Overlay | None:
        """Return a number with its percentage, currency, "million" or unit; it may be below ten."""
        if not self._may_be_amount(span):
            return None
        value, end = self._value(span), span.end
        if span.kind is NumberKind.DECIMAL and self._word(end) in _SCALES.values():
            value, end = f"{value} {self._word(end)}", end + 1
        unit = self._word(end)
        if unit in _CURRENCIES:
            return self._money(span, value, end)
        percent = 1 if unit == "percent" else 2 * ((unit, self._word(end + 1)) == ("per", "cent"))
        if percent:
            return Overlay(span.begin, end + percent, f"{value}%")
        timed = unit in _TIME_UNITS and span.value != "1" and not self._is_bare_scale(span)
        wanted = (unit in _UNITS or timed) and not self._is_written(span)
        beside = self._span_at(end) is not None and self._stretch.marks[end - 1] == "none"
        beside |= unit in _WITH_PENCE and self._are_pence(end + 1)
        return Overlay(span.begin, end, value) if (wanted or end > span.end) and not beside else None

    def _are_pence(self, place: int) -> bool:
        """Tell whether a number behind a currency says its cents alone: "two pounds fifty", "a dollar fifty"."""
        pence = self._span_at(place)
        alone = (
            pence is not None and self._word(pence.end) not in _WITH_UNIT and self._stretch.marks[place - 1] == "none"
        )
        return alone and pence is not None and pence.kind is NumberKind.CARDINAL and int(pence.value) < _CENTS

    def _may_be_amount(self, span: NumberSpan) -> bool:
        kinds, follows = (NumberKind.CARDINAL, NumberKind.DECIMAL), span.begin > 0
        if span.kind not in kinds or not (follows or self._stretch.begins):
            return False
        of_more = follows and self._word(span.begin) in _SCALE_WORDS  # "a few hundred"
        return not (of_more or self._is_part_of_more(span) or self._is_joined_to_small(span))

    def _money(self, span: NumberSpan, value: str, end: int) -> Overlay | None:
        """Return an amount of a currency, its cents with it; None where a number follows that says something else."""
        sign, place = _CURRENCIES[self._word(end)], end + 1
        cents = self._span_at(place + (self._word(place) == "and"))
        if cents is not None and self._word(cents.end) in ("cent", "cents") and span.kind is NumberKind.CARDINAL:
            whole = cents.kind is NumberKind.CARDINAL and int(cents.value) < _CENTS and " " not in value
            return Overlay(span.begin, cents.end + 1, f"{sign}{value}.{int(cents.value):02}") if whole else None
        if self._span_at(place) is not None and self._stretch.marks[end] == "none":
            return None
        return Overlay(span.begin, end + 1, f"{sign}{value}")

    # --- numbers alone

    def _alone(self, span: NumberSpan) -> Overlay | None:
        text: str | None = None
        if self._is_written(span):
            return None
        match span.kind:
            case NumberKind.DIGITS:
                text = self._digits(span)
            case NumberKind.DATE:
                text = None if self._goes_on(span, span.end) else self._date(span)
            case _ if self._goes_on(span, span.end) or self._is_part_of_more(span):
                return None
            case NumberKind.YEAR:
                text = span.value if self._is_year(span) else None
            case NumberKind.ORDINAL:
                text = _ordinal(span.value) if self._is_sure_ordinal(span) else None
            case NumberKind.DECIMAL:
                text = _grouped(span.value)
            case NumberKind.CARDINAL:
                text = self._cardinal(span)
        return None if text is None else Overlay(span.begin, span.end, text)

    def _is_part_of_more(self, span: NumberSpan) -> bool:
        before, behind = self._word(span.begin - 1), self._word(span.end)
        if before in ("to", "past") and self._word(span.begin - 2) in _HALVES:
            return True
        if before == "and" and self._word(span.begin - 2) in _DOZENS:
            return True
        if (self._word(span.end - 1), behind) == ("hundred", "hours") and before in _CLOCK_CUES:
            return True
        half = (
            behind == "and" and self._word(span.end + 1) in ("a", "an", "one") and self._word(span.end + 2) in _HALVES
        )
        return half or before in _UNSURE_BEFORE or behind in _UNSURE_BEHIND

    def _digits(self, span: NumberSpan) -> str | None:
        before = self._stretch.words[max(0, span.begin - _CODE_WORDS) : span.begin]
        is_code = not _CODES.isdisjoint(before)
        single = all(
            self._says_digit(word) or word in ("double", "triple")
            for word in self._stretch.words[span.begin : span.end]
        )
        if len(span.value) < _LEAST_DIGITS or self._is_part_of_more(span):
            return None
        if not is_code and (not single or is_counting(span.value)):
            return None
        if not single and self._goes_on(span, span.end):
            return None
        return self._phone_text(span.value, span.begin)

    def _says_digit(self, word: str) -> bool:
        return word in _DIGIT_WORDS

    def _cardinal(self, span: NumberSpan) -> str | None:
        value, before = int(span.value), self._word(span.begin - 1)
        if (unit := self._unit_of_range(span)) is not None:
            return f"{_CURRENCIES.get(unit, '')}{self._value(span)}"
        if before in _WITH_PENCE and self._are_pence(span.begin):
            return None
        if value < _LEAST:
            numbered = before in _NUMBERED and (value > 1 or before != "number") and not self._is_joined_to_small(span)
            return span.value if numbered else None
        out_of_ten = value == _LEAST and (self._word(span.begin - 2), before) == ("out", "of")
        if out_of_ten or self._is_bare_scale(span) or self._is_joined_to_small(span):
            return None
        is_year = before in _YEAR_CUES or self._is_of_years(span)
        if value in _YEARS and is_year and self._word(span.end) not in _TIME_UNITS:
            return span.value
        return self._value(span)

    def _unit_of_range(self, span: NumberSpan) -> str | None:
        """Return the unit of the range that a number begins: "five to ten percent"; None where it begins none."""
        link = self._word(span.end)
        other = self._span_at(span.end + 1)
        if other is None or other.kind is not NumberKind.CARDINAL or self._is_joined_to_small(span):
            return None
        is_range = link in ("to", "by") or (link == "and" and self._word(span.begin - 1) == "between")
        unit = self._word(other.end)
        return unit if is_range and unit in _WITH_UNIT else None

    def _is_small(self, span: NumberSpan) -> bool:
        return span.kind is NumberKind.CARDINAL and int(span.value) < _LEAST

    def _is_bare_scale(self, span: NumberSpan) -> bool:
        """Tell whether a number is said without a number: "a hundred", "thousand"."""
        last = self._word(span.end - 1)
        first = self._word(span.begin)
        return (
            last in _SCALE_WORDS
            and (first == "a" or first in _SCALE_WORDS)
            and span.end - span.begin <= 1 + (first == "a")
        )

    def _is_joined_to_small(self, span: NumberSpan) -> bool:
        """Tell whether a word such as "or" joins a number to one below ten, or to a scale: "ten or twelve thousand"."""
        before = self._by_end.get(span.begin - 1) if self._word(span.begin - 1) in _JOINED else None
        behind = self._by_begin.get(span.end + 1) if self._word(span.end) in _JOINED else None
        return (before is not None and self._is_loose(before, span)) or (
            behind is not None and self._is_loose(span, behind)
        )

    def _is_loose(self, first: NumberSpan, second: NumberSpan) -> bool:
        if any(span.kind is not NumberKind.CARDINAL or self._is_written(span) for span in (first, second)):
            return False
        with_unit = self._word(second.end) in _WITH_UNIT and self._word(first.end) != "or"
        shared = self._word(second.end - 1) in _SCALE_WORDS and self._word(first.end - 1) not in _SCALE_WORDS
        return (shared or self._is_small(first) or self._is_small(second)) and (shared or not with_unit)

    def _is_sure_ordinal(self, span: NumberSpan) -> bool:
        before = self._word(span.begin - 1)
        if int(span.value) < _LEAST or before in ("a", "an", "one"):
            return False
        return self._word(span.end - 1) != "second" or before in _THEIRS

    def _is_year(self, span: NumberSpan) -> bool:
        if self._word(span.end) in _WITH_UNIT:
            return False
        late = int(span.value) // _CENTS in _LATE_CENTURIES and span.end - span.begin >= _YEAR_WORDS
        before = self._word(span.begin - 1)
        return late or before in _YEAR_CUES or before in MONTHS or self._is_of_years(span)

    def _is_of_years(self, span: NumberSpan) -> bool:
        """Tell whether a number is one of two years: "from nineteen ninety to two thousand and ten"."""
        pairs = [(span, self._by_begin.get(span.end + 1)), (self._by_end.get(span.begin - 1), span)]
        for first, second in pairs:
            if first is None or second is None or self._word(first.end) not in _BETWEEN_YEARS:
                continue
            kinds, before = {first.kind, second.kind}, self._word(first.begin - 1)
            sure = before in _YEAR_CUES or (before == "between" and NumberKind.YEAR in kinds)
            if sure and kinds <= {NumberKind.YEAR, NumberKind.CARDINAL} and int(first.value) in _YEARS:
                return self._word(second.end) not in _WITH_UNIT
        return False

    def _date(self, span: NumberSpan) -> str | None:
        """Write a date in the order in which it was said; None where it may be none."""
        date = _DATE.fullmatch(span.value)
        if date is None:
            return None
        words = self._stretch.words[span.begin : span.end]
        year, month, day = date["year"] or "", _MONTHS[int(date["month"]) - 1], (date["day"] or "").lstrip("0")
        month_first, before = words[0].title() == month, self._word(span.begin - 1)
        verb_too = words[0 if month_first else -1] in _VERBS_TOO and "of" not in words
        joined = before in _JOINED and self._at > 0 and self._spans[self._at - 1].end == span.begin - 1
        after_date = joined and self._spans[self._at - 1].kind is NumberKind.DATE
        if verb_too and not year and not (month_first and (before in _DATE_CUES or after_date)):
            return None
        is_ordinal = any(word.endswith(_ORDINAL_ENDINGS) and word not in _NO_ORDINALS for word in words)
        if month_first:
            if day and not (year or is_ordinal or self._ends_phrase(span.end)):
                return None
            return f"{month} {day}, {year}" if day and year else f"{month} {day or year}"
        of = " of" if "of" in words else ""
        return f"{_ordinal(day) if is_ordinal else day}{of} {month}" + (f" {year}" if year else "")

    def _ends_phrase(self, end: int) -> bool:
        """Tell whether the word behind a number is none that it counts: "on august four we met"."""
        return self._word(end) in ("", *_BEHIND_A_DAY) or self._stretch.marks[end - 1] != "none"
