"""Keeps numbers whole: corrects tags and marks that would change or cut a spoken number.

    tags   "six hundred [and forty] seven" loses no word; "the second no the twelfth" loses the second, not "no" alone.
    marks  "august fourth. two thousand and two" is one date; no comma stands between the digits of a code.

Rules of tags:

1. Tagged words stay if a number among them goes on after them, or if they hold a number or a part of one and no cue (a
   filler or an editing term) follows. Exceptions: words that are repeated at once may go, if both copies are not one
   number ("five five" is); so may "one" alone, also before another ("one one thing"). In Chinese a number with its
   lead-in may go if it soon comes again, and 一 if it counts nothing; and 两 before 两个.
2. A number whose first words are frozen as kept stays whole.
3. Of two numbers of one kind with an editing term between them, the first was taken back (``corrections``).

Rules of marks: no mark stands inside a number, except a comma before the year of a date that begins with its month.
None stands between single digits and letters, unless commas between them are wanted. No sentence ends between the parts
of an address or a Chinese amount (八块 七毛, 三号楼 一四八), between a date and its hour, before or after a number
that has only its preposition ("at ten metres"), or after a bare topic before a date (博物馆 七月四日).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from caesura.schemas.labels import COMMAS, SENTENCE_ENDS, Disfluency, Punctuation
from caesura.worker.core.decoding.corrections import MOST_UNITS, SOUNDS, Corrections
from caesura.worker.core.decoding.unfrozen_tags import IN_FILLER, IN_REPARANDUM, OUT
from caesura.worker.core.language.normalisation import word_set
from caesura.worker.core.numbers.chinese_numbers import NUMERALS
from caesura.worker.core.numbers.spoken_numbers import MONTHS, NumberKind, NumberSpan, is_number_word, number_spans

_WINDOW = 16
"""Words around those to decide about that are searched for numbers; a longer sentence is no bare date or amount."""

_DAYS = (NumberKind.ORDINAL, NumberKind.DATE)
_JOINED_OVER_FILLERS = (NumberKind.CARDINAL, NumberKind.DECIMAL, NumberKind.DATE)


_AMOUNT_WORDS = word_set(
    """and point dollar dollars cent cents pound pounds pence euro euros percent of the 块 元 角 毛 分 号 月 年 日 点
    岁 度 单元 楼 号楼 栋 层 室"""
)
_SOON = 3
_ONE, _ONE_OF, _BEFORE_ONE = ("one",), word_set("一 一个"), word_set("the this that which each every")
_PARTICLES = frozenset("的地得了")
_COUNTED, _UNITS = frozenset("个只条张次种天位本件块点岁"), frozenset("十百千万亿点")
_SCALES = frozenset("十百千万亿")
_CODE_WORDS = word_set("zero oh one two three four five six seven eight nine double triple underscore dot slash")
_ALSO_WORDS = frozenset("ai")
_INSIDE = frozenset(("and", "of", "point", "the"))
_GOING_ON = _CODE_WORDS | MONTHS.keys() | _INSIDE
_THEN, _THEN_WORDS = word_set("后来 又 再 还 另外"), 4
_BETWEEN_NUMBERS = word_set("over point times plus minus to by")
_ADDRESS_PARTS = word_set("apartment flat room suite unit building block floor gate door")
_TIME_WORDS = word_set(
    "in on at for within since by until till between from to and the of around about before after 在 从 到"
)
_LISTED = 6
_BEFORE_AMOUNTS = word_set("then us me him them cost costs paid is are was were about around only than of the a an")
_YEARS = range(1000, 2200)
_CODE_LETTERS = 3
_NONE = Punctuation.NONE.value
_MONEY_UNITS, _PLACE_UNITS = tuple("块元角毛度"), ("楼", "单元", "栋", "幢", "层", "座", "弄")
_BEHIND_NUMBERS = word_set("的 室 号 房 房间 块 元 人 个 度 米 克")
_BEHIND_DATES = word_set("早上 上午 中午 下午 傍晚 晚上 夜里 凌晨 在 at")
_HOURS = word_set("half quarter noon midnight")
_BEFORE_DATES = frozenset("在从于自到最晚迟早截至止")
_TOPIC_CHARACTERS, _TOPIC_WORDS, _READ_OUT_DIGITS = 3, 4, 4
_ANSWERS = word_set("yes yeah yep no nope okay ok right sure hm mm-hm uh-huh")
_CHINESE_ANSWERS = word_set(
    "好 好的 好吧 行 行吧 可以 对 对的 对吧 是 是的 嗯 哦 没有 没 没错 不 不是 不行 不对 有 谢谢 再见 明白 知道了 当然"
)


def keep_numbers(words: Sequence[str], tags: bytearray, start: int, end: int, editing: frozenset[int]) -> None:
    """Change the tags of the words from ``start`` to ``end`` that would change a number, in place.

    words: the model's view of each word of a buffer. tags: as far as there are any; those before ``start`` are frozen.
    editing: where the words of editing terms stand.
    """
    tagged = (place for place in range(start, len(tags)) if tags[place])
    if any(is_number_word(word) for place in tagged for word in words[max(place - 2, 0) : place + 3]):
        near = range(max(0, start - _WINDOW), min(len(words), end + _WINDOW))
        _Numbers(words, tags, range(start, end), near, editing).apply()


class _Numbers(Corrections):
    """The numbers near the words to decide about; all places are the buffer's."""

    def __init__(
        self, words: Sequence[str], tags: bytearray, unfrozen: range, near: range, editing: frozenset[int]
    ) -> None:
        super().__init__(words, tags, unfrozen, editing)
        self._spans = _found(words, near)
        sounds = {place for place in near if words[place] in SOUNDS}
        spoken = [place for place in near if place not in sounds]
        over_fillers = (
            (spoken[span.begin], spoken[span.end - 1] + 1)
            for span in (number_spans([words[place] for place in spoken]) if sounds else ())
            if span.kind in _JOINED_OVER_FILLERS
        )
        self._stretches = [
            *((span.begin, span.end) for span in self._spans),
            *((begin, stop) for begin, stop in over_fillers if not sounds.isdisjoint(range(begin, stop))),
        ]
        self._across: dict[int, list[tuple[int, int]]] = {}
        for begin, stop in self._stretches:
            for place in range(begin + 1, stop):
                self._across.setdefault(place, []).append((begin, stop))
        self._numbered = {place for span in self._spans for place in range(span.begin, span.end)}
        self._untagged: dict[int, int] = {}

    def apply(self) -> None:
        for one, other in zip(self._spans, self._spans[1:], strict=False):
            if (one.kind in _DAYS) == (other.kind in _DAYS):
                self._correct(range(one.begin, one.end), range(other.begin, other.end))
        for begin, end in self._taken_back():
            if self._is_meant(begin, end):
                self._keep(begin, end)
        for begin, end in self._stretches:
            if begin < self._unfrozen.start < end and self._tag(self._unfrozen.start - 1) == OUT:
                self._keep(self._unfrozen.start, end)
        for place in self._unfrozen:  # "oh" in a digit string
            if self._words[place] == "oh" and place in self._numbered and self._tag(place) in IN_FILLER:
                self._tags[place] = OUT

    def _taken_back(self) -> list[tuple[int, int]]:
        """Return where each run of words taken back begins and ends, of those not yet all frozen."""
        runs: list[tuple[int, int]] = []
        place = len(self._tags)
        while place > self._unfrozen.start:
            place -= 1
            if self._tags[place] in IN_REPARANDUM:
                end = place + 1
                while place and self._tags[place] != Disfluency.B_RM and self._tags[place - 1] in IN_REPARANDUM:
                    place -= 1
                runs.append((place, end))
        return runs

    def _is_meant(self, begin: int, end: int) -> bool:
        """Tell whether words taken back hold a number, or a part of one, and no repair of it."""
        if self._goes_on_in_a_word(end):
            return True
        goes_on = self._across.get(end, ())
        if not (all(self._is_slip(first, stop) for first, stop in goes_on) or self._is_restarted(begin, end)):
            return True
        said = [self._words[place] for place in range(begin, end) if place in self._numbered]
        if begin not in self._across:
            if (goes_on and begin + 1 == end) or (said and self._comes_again(begin, end, said)):
                return False
            if (said or [*_ONE]) == [*_ONE] and not self._belongs_to_amount(begin, end):
                return False
        return not self._is_repaired(end) and not self._is_said_again(begin, end)

    def _goes_on_in_a_word(self, end: int) -> bool:
        """Tell whether a Chinese number goes on in a word that is no number: 五 十五分钟, 三 万公里."""
        number, behind = self._words[end - 1], self._words[end] if end < len(self._words) else ""
        return frozenset(NUMERALS).issuperset(number) and behind[:1] in _SCALES and not behind.startswith(number)

    def _comes_again(self, begin: int, end: int, said: Sequence[str]) -> bool:
        """Tell whether Chinese words that end in a number come again soon, or 一 does where it counts nothing."""
        words = list(self._words[begin:end])
        if words[0].isascii() or len(words) > _WINDOW:
            return False
        behind = list(self._words[end : end + len(words) + _SOON])
        leads, counts_nothing = begin not in self._numbered, _ONE_OF.issuperset(said)
        if counts_nothing and (leads or len(words) == 1):
            stems = (word[:1] if word in _ONE_OF else word for word in words if word not in _PARTICLES)
            return all(any(again.startswith(stem) for again in behind) for stem in stems)
        ends_in_number = leads and end - 1 in self._numbered
        again = any(behind[at : at + len(words)] == words for at in range(_SOON + 1))
        return again and (counts_nothing or ends_in_number)

    def _is_slip(self, first: int, stop: int) -> bool:
        """Tell whether two words that read as one number are one said again: "one one thing", 两 两个."""
        one, again = self._words[first], self._words[stop - 1]
        if stop - first != len((one, again)):
            return False
        if one.isascii():
            return one == again == "one" and first > 0 and self._words[first - 1] not in _BEFORE_ONE
        counts = again[1:] in _COUNTED or again[1:2] in _UNITS
        return len(one) == 1 and again[:1] == one and counts

    def _is_restarted(self, begin: int, end: int) -> bool:
        """Tell whether a Chinese number with a unit, which no digit string has, is said again at once: 六十 六十多."""
        said = "".join(self._words[begin:end])
        again = "".join(self._words[end : end + end - begin])
        numbered = self._numbered.issuperset(range(begin, end)) and not _UNITS.isdisjoint(said)
        return numbered and again.startswith(said) and not again[len(said) :].startswith(tuple(NUMERALS))

    def _belongs_to_amount(self, begin: int, end: int) -> bool:
        """Tell whether the words are those that stand between numbers: "dollars and"."""
        beside = {begin - 1, end, end + (list(self._words[end : end + 1]) == ["and"])}
        return not beside.isdisjoint(self._numbered) and _AMOUNT_WORDS.issuperset(self._words[begin:end])

    def _is_repaired(self, end: int) -> bool:
        """Tell whether a cue follows: a filler or an editing term, behind all that is taken back."""
        at = end
        while self._tag(end) in IN_REPARANDUM:
            end = self._untagged.get(end, end + 1)
        self._untagged[at] = end
        if end < len(self._tags):
            return self._tag(end) in IN_FILLER or end in self._editing
        return end < len(self._words) and (self._words[end] in SOUNDS or end in self._editing)

    def _is_said_again(self, begin: int, end: int) -> bool:
        """Tell whether the words, at least up to their last number and its unit, follow once more."""
        numbers = [place for place in range(begin, end) if place in self._numbered]
        stop = numbers[-1] + 1 if numbers else end
        units = 0 < end - stop <= MOST_UNITS and _AMOUNT_WORDS.issuperset(self._words[stop:end])
        length = (end if units else stop) - begin
        if self._words[begin].isascii():
            return list(self._words[begin : begin + length]) == list(self._words[end : end + length])
        said, again = ("".join(self._words[at : at + length]) for at in (begin, end))
        return again.startswith(said) and not again[len(said) :].startswith(tuple(NUMERALS))


def _found(words: Sequence[str], near: range) -> list[NumberSpan]:
    return [span.moved(near.start) for span in number_spans(words[near.start : near.stop])]


def marks_around_numbers(
    words: Sequence[str], marks: bytearray, first: int, *, look_ahead_words: int, digit_commas: bool
) -> None:
    """Change the marks that cut a number, from the word ``first`` on, in place.

    words: of the buffer. marks: of its first words. look_ahead_words: L. digit_commas: whether commas between single
    digits and letters stay.
    """
    doubtful = [
        place
        for place in range(first, min(len(marks), len(words) - 1))
        if marks[place]
        and (
            _may_go_on(words[place])
            or (place and is_number_word(words[place - 1]))
            or is_number_word(words[place + 1])
            or _may_lead_to_date(words[place + 1])
            or _lists_number(words, place)
            or words[place + 1] in _TIME_WORDS
        )
    ]
    if not doubtful:
        return
    near = range(max(0, doubtful[0] - _WINDOW), min(len(words), doubtful[-1] + _WINDOW))
    number = {place: span for span in _found(words, near) for place in range(span.begin, span.end)}
    for place in doubtful:
        span, behind = number.get(place), number.get(place + 1)
        if _is_said_twice(words, marks, place):
            marks[place] = _NONE
        elif span is not None and span is behind:
            marks[place] = _mark_within(words, span, place, marks[place], digit_commas=digit_commas)
        elif _is_code(words, place) and _is_code(words, place + 1):
            marks[place] = _mark_in_code(marks[place], digit_commas=digit_commas)
        elif _within_amount(words, number, place) or (
            marks[place] in SENTENCE_ENDS
            and (
                _goes_on_unseen(words, number, place, look_ahead_words)
                or (span is not None and _goes_on_behind(words, number, span, place))
                or opens_sentence(words, marks, number, place, beside=_may_open)
                or closes_sentence(words, marks, number, place, beside=_may_open)
                or (behind is not None and words[place] in _BEFORE_AMOUNTS)
                or (
                    _lists_number(words, place)
                    and (words[place + 1] in _THEN or not number.keys().isdisjoint(range(place - _LISTED, place + 1)))
                )
                or (behind is not None and words[place].endswith(_PLACE_UNITS))
                or _is_topic_of_number(words, marks, number, place)
            )
        ):
            marks[place] = Punctuation.COMMA.value if words[place + 1] in _THEN else _NONE


def _goes_on_unseen(words: Sequence[str], number: Mapping[int, NumberSpan], place: int, look_ahead_words: int) -> bool:
    """Tell whether a number is all that the model saw behind a word, and so no sentence of its own."""
    seen = range(place + 1, min(place + 1 + look_ahead_words, len(words)))
    return (
        words[place] not in _ANSWERS
        and len(seen) == look_ahead_words > 1
        and all(spot in number or words[spot] in _AMOUNT_WORDS for spot in seen)
    )


def _is_said_twice(words: Sequence[str], marks: bytearray, place: int) -> bool:
    """Tell whether a number ends a statement and is all of the next sentence: "the score was six. six."."""
    word, again = words[place : place + 2]
    is_lone = marks[place + 1 : place + 2] == bytes([Punctuation.PERIOD]) and marks[place] == Punctuation.PERIOD
    goes_before = place > 0 and marks[place - 1] not in SENTENCE_ENDS
    return word == again and is_lone and goes_before and is_number_word(word)


def _lists_number(words: Sequence[str], place: int) -> bool:
    """Tell whether a link leads from a word to a number: "six grams of salt and then two eggs", 后来又来了五只."""
    link, behind = words[place + 1], words[place + 2 : place + 2 + _THEN_WORDS]
    if link in _THEN:
        return any(map(_counts, words[max(place - _LISTED, 0) : place + 1])) and any(map(_counts, behind))
    return link == "and" and any(map(is_number_word, behind[: 1 + ("then" in behind[:1])]))


def _counts(word: str) -> bool:
    """Tell whether a word is a number, or begins with a Chinese one: 十三只."""
    return is_number_word(word) or (is_number_word(word[:1]) and not word.isascii())


def _may_lead_to_date(word: str) -> bool:
    return _BEFORE_DATES.issuperset(word)


def _within_amount(words: Sequence[str], number: Mapping[int, NumberSpan], place: int) -> bool:
    """Tell whether a Chinese amount goes on behind its larger unit: 八块 七毛, 八十五 元 八角."""
    amount = place in number or place - 1 in number
    return amount and place + 1 in number and words[place].endswith(_MONEY_UNITS)


def _goes_on_behind(words: Sequence[str], number: Mapping[int, NumberSpan], span: NumberSpan, place: int) -> bool:
    """Tell whether the next word joins a number to another or to a noun, or a date to its hour or place."""
    link = words[place + 1]
    if link in _BEHIND_NUMBERS:
        return True
    if span.kind is NumberKind.DATE and link in _BEHIND_DATES:
        return not link.isascii() or place + 2 in number or not _HOURS.isdisjoint(words[place + 2 : place + 4])
    return link in (*_BETWEEN_NUMBERS, *_ADDRESS_PARTS) and place + 2 in number


def _is_topic_of_number(words: Sequence[str], marks: bytearray, number: Mapping[int, NumberSpan], place: int) -> bool:
    """Tell whether Chinese words that answer nothing are all of a sentence, and what they lack follows.

    That is a number read out digit by digit (记下我的号码 一三八零) or, behind a few characters, a date.
    """
    if words[place].isascii():
        return False
    first = place + 1
    while first < min(len(words), place + _WINDOW) and _may_lead_to_date(words[first]):
        first += 1
    begin = place
    while begin and place - begin < _TOPIC_WORDS and marks[begin - 1] not in SENTENCE_ENDS:
        begin -= 1
    topic, behind, date = "".join(words[begin : place + 1]), number.get(place + 1), number.get(first)
    if topic in _CHINESE_ANSWERS:
        return False
    read_out = behind is not None and behind.kind is NumberKind.DIGITS and len(behind.value) >= _READ_OUT_DIGITS
    dated = date is not None and date.kind in (NumberKind.DATE, NumberKind.YEAR)
    return read_out or (dated and len(topic) <= _TOPIC_CHARACTERS)


def opens_sentence(
    words: Sequence[str],
    marks: bytearray,
    number: Mapping[int, NumberSpan],
    place: int,
    *,
    beside: Callable[[str], bool],
) -> bool:
    """Tell whether a date, or a number and its unit, are all of a sentence with a preposition, and answer nothing.

    number: the number that each place belongs to. beside: tells which words may stand there with the number.
    """
    span = number.get(place)
    if span is None:
        span = number.get(place - 1)
        if span is None or span.end != place:
            return False
    elif span.end != place + 1 or not (span.kind in (NumberKind.DATE, NumberKind.YEAR) or _is_year(span)):
        return False
    begin = span.begin
    while begin and span.begin - begin < _WINDOW and marks[begin - 1] not in SENTENCE_ENDS:
        begin -= 1
        if begin not in number and not beside(words[begin]):
            return False
    whole = not begin or marks[begin - 1] in SENTENCE_ENDS
    return whole and begin < span.begin and not (begin and marks[begin - 1] == Punctuation.QUESTION)


def closes_sentence(
    words: Sequence[str],
    marks: bytearray,
    number: Mapping[int, NumberSpan],
    place: int,
    *,
    beside: Callable[[str], bool],
) -> bool:
    """Tell whether a preposition and a date or number are all of the sentence behind a statement of several words.

    number: the number that each place belongs to. beside: tells which words may stand there with the number.
    """
    if marks[place] != Punctuation.PERIOD or place == 0 or marks[place - 1] in SENTENCE_ENDS or place + 1 in number:
        return False
    end = place + 1
    while end < len(marks) and (end in number or beside(words[end])) and marks[end] not in SENTENCE_ENDS:
        end += 1
    return end in number and end < len(marks) and marks[end] == Punctuation.PERIOD and beside(words[place + 1])


def _may_open(word: str) -> bool:
    return word in _TIME_WORDS or is_number_word(word)


def _is_year(span: NumberSpan) -> bool:
    return span.kind is NumberKind.CARDINAL and span.value.isdecimal() and int(span.value) in _YEARS


def _may_go_on(word: str) -> bool:
    return word in _GOING_ON or len(word) == 1 or is_number_word(word)


def _mark_within(words: Sequence[str], span: NumberSpan, place: int, mark: int, *, digit_commas: bool) -> int:
    """Return the mark of a word within a number: none, but a comma before a year and what is wanted between digits."""
    if span.kind is NumberKind.DIGITS:
        apart = mark in SENTENCE_ENDS and len(span.value) < _CODE_LETTERS
        return mark if apart else _mark_in_code(mark, digit_commas=digit_commas)
    before_year = span.kind is NumberKind.DATE and words[span.begin] in MONTHS and span.begin < place
    return Punctuation.COMMA.value if before_year else _NONE


def _mark_in_code(mark: int, *, digit_commas: bool) -> int:
    return mark if digit_commas and mark in COMMAS else _NONE


def _is_code(words: Sequence[str], place: int) -> bool:
    """Tell whether a word is a single digit or letter; "a" and "I" only with one on both sides or two behind."""
    if words[place] not in _ALSO_WORDS:
        return _is_code_letter(words[place])
    before, behind = words[max(place - 1, 0) : place], words[place + 1 : place + 3]
    return any(
        len(near) == size and all(_is_code_letter(word) and word not in _ALSO_WORDS for word in near)
        for near, size in (([*before, *behind[:1]], 2), (behind, 2))
    )


def _is_code_letter(word: str) -> bool:
    return word in _CODE_WORDS or (len(word) == 1 and word.isascii() and word.isalnum())
