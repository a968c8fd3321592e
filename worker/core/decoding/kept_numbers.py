"""Numbers go out whole: which tags and marks of a model would change or cut a number that was said.

    tags   "six hundred [and forty] seven" loses no word; "the second no the twelfth" loses the second, not "no" alone.
    marks  "august fourth. two thousand and two" is one date; no comma stands between the digits of a code.

Rules of tags:

1. Words taken back stay where a number among them goes on behind them, or where they hold a number or a part of one
   and no cue (a filler or an editing term) follows. What is said again at once may go, where the two are not read
   together ("five five" are), and so may "one" alone, also before another ("one one thing").
2. A number whose first words are frozen as kept stays whole.
3. Of two numbers of one kind with an editing term between them, the first was taken back, with no more before it than
   stands before the second one as well: "the second no the twelfth", 大街二十七号不对二十九号.

Rules of marks: none inside of a number, but a comma before the year of a date that begins with its month; none between
single digits and letters, unless commas between them are wanted. No sentence ends between the parts of an address or a
Chinese amount (八块 七毛, 三号楼 一四八), between a date and its hour, behind a number with its preposition alone
("at ten metres"), or behind a bare topic before a date (博物馆 七月四日).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.core.numbers.spoken_numbers import NumberKind, NumberSpan, is_number_word, number_spans

__all__ = ["keep_numbers", "marks_around_numbers"]

_WINDOW = 16
"""Words around those to decide about that are searched for numbers."""

_OUT = Disfluency.O.value
_REPARANDUM = (Disfluency.B_RM.value, Disfluency.I_RM.value)
_FILLER = (Disfluency.B_IM.value, Disfluency.I_IM.value)
_DAYS = (NumberKind.ORDINAL, NumberKind.DATE)
_JOINED_OVER_FILLERS = (NumberKind.CARDINAL, NumberKind.DECIMAL, NumberKind.DATE)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SOUNDS = _set("um umm uh uhh er erm ah eh hm hmm mm 嗯 呃 啊")
_AMOUNT_WORDS = _set(
    """and point dollar dollars cent cents pound pounds pence euro euros percent of the 块 元 角 毛 分 号 月 年 日 点
    岁 度 单元 楼 号楼 栋 层 室"""
)
_ONE, _BEFORE_ONE = ("one",), _set("the this that which each every")
_MOST_LEAD_IN, _MOST_UNITS = 3, 2
_ENDS = (Punctuation.PERIOD.value, Punctuation.QUESTION.value)
_COMMAS = (Punctuation.COMMA.value, Punctuation.ENUMERATION_COMMA.value)
_CODE_WORDS = _set("zero oh one two three four five six seven eight nine double triple underscore dot slash")
_ALSO_WORDS = frozenset("ai")
_MONTHS = _set("january february march april may june july august september october november december")
_INSIDE = frozenset(("and", "of", "point", "the"))
_BETWEEN_NUMBERS = _set("over point times plus minus to by")
_ADDRESS_PARTS = _set("apartment flat room suite unit building block floor gate door")
_TIME_WORDS = _set(
    "in on at for within since by until till between from to and the of around about before after 在 从 到"
)
_LISTED = 6
_BEFORE_AMOUNTS = _set("then us me him them cost costs paid is are was were about around only than of the a an")
_YEARS = range(1000, 2200)
_CODE_LETTERS = 3
_NONE = Punctuation.NONE.value
_MONEY_UNITS, _PLACE_UNITS = tuple("块元角毛度"), ("楼", "单元", "栋", "幢", "层", "座", "弄")
_BEHIND_NUMBERS = _set("的 室 号 房 房间 块 元 人 个 度 米 克")
_BEHIND_DATES = _set("早上 上午 中午 下午 傍晚 晚上 夜里 凌晨 在 at")
_BEFORE_DATES = frozenset("在从于自到最晚迟早截至止")
_TOPIC_CHARACTERS, _READ_OUT_DIGITS = 3, 4
_ANSWERS = _set("yes yeah yep no nope okay ok right sure hm mm-hm uh-huh")
_CHINESE_ANSWERS = _set(
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


class _Numbers:
    """The numbers near the words to decide about; all places are the buffer's."""

    def __init__(
        self, words: Sequence[str], tags: bytearray, unfrozen: range, near: range, editing: frozenset[int]
    ) -> None:
        self._words = words
        self._tags = tags
        self._unfrozen = unfrozen
        self._editing = editing
        self._spans = _found(words, near)
        sounds = {place for place in near if words[place] in _SOUNDS}
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
        self._numbered = {place for span in self._spans for place in range(span.begin, span.end)}

    def apply(self) -> None:
        for one, other in zip(self._spans, self._spans[1:], strict=False):
            self._correct(one, other)
        for begin, end in self._taken_back():
            if self._is_meant(begin, end):
                self._keep(begin, end)
        for begin, end in self._stretches:
            if begin < self._unfrozen.start < end and self._tag(self._unfrozen.start - 1) == _OUT:
                self._keep(self._unfrozen.start, end)
        for place in self._unfrozen:  # "oh" in a digit string
            if self._words[place] == "oh" and place in self._numbered and self._tag(place) in _FILLER:
                self._tags[place] = _OUT

    def _tag(self, place: int) -> int:
        return self._tags[place] if 0 <= place < len(self._tags) else _OUT

    def _keep(self, begin: int, end: int) -> None:
        for place in range(max(begin, self._unfrozen.start), min(end, self._unfrozen.stop)):
            self._tags[place] = _OUT

    def _taken_back(self) -> list[tuple[int, int]]:
        """Return where each run of words taken back begins and ends, of those not yet all frozen."""
        runs: list[tuple[int, int]] = []
        place = len(self._tags)
        while place > self._unfrozen.start:
            place -= 1
            if self._tags[place] in _REPARANDUM:
                end = place + 1
                while place and self._tags[place] != Disfluency.B_RM and self._tags[place - 1] in _REPARANDUM:
                    place -= 1
                runs.append((place, end))
        return runs

    def _is_meant(self, begin: int, end: int) -> bool:
        """Tell whether words taken back hold a number, or a part of one, and no repair of it."""
        goes_on = [(first, stop) for first, stop in self._stretches if first < end < stop]
        slip = begin > 0 and self._words[begin - 1] not in _BEFORE_ONE
        if any(list(self._words[first:stop]) != [*_ONE, *_ONE] or not slip for first, stop in goes_on):
            return True
        cut = any(first < begin < stop for first, stop in self._stretches)
        said = [self._words[place] for place in range(begin, end) if place in self._numbered]
        if not cut and (said or [*_ONE]) == [*_ONE] and not self._belongs_to_amount(begin, end):
            return False
        return not self._is_repaired(end) and not self._is_said_again(begin, end)

    def _belongs_to_amount(self, begin: int, end: int) -> bool:
        """Tell whether the words are those that stand between numbers: "dollars and"."""
        beside = {begin - 1, end, end + (list(self._words[end : end + 1]) == ["and"])}
        return not beside.isdisjoint(self._numbered) and _AMOUNT_WORDS.issuperset(self._words[begin:end])

    def _is_repaired(self, end: int) -> bool:
        """Tell whether a cue follows: a filler or an editing term, behind all that is taken back."""
        while self._tag(end) in _REPARANDUM:
            end += 1
        if end < len(self._tags):
            return self._tag(end) in _FILLER or end in self._editing
        return end < len(self._words) and (self._words[end] in _SOUNDS or end in self._editing)

    def _is_said_again(self, begin: int, end: int) -> bool:
        """Tell whether the words, at least up to their last number, follow once more."""
        numbers = [place for place in range(begin, end) if place in self._numbered]
        length = (numbers[-1] + 1 if numbers else end) - begin
        return list(self._words[begin : begin + length]) == list(self._words[end : end + length])

    def _correct(self, wrong: NumberSpan, right: NumberSpan) -> None:
        """Take ``wrong`` back, and no more, where an editing term corrects it to ``right``."""
        cue = [place for place in range(wrong.end, right.begin) if place in self._editing]
        if not cue or (wrong.kind in _DAYS) != (right.kind in _DAYS):
            return
        last = cue[-1] + 1
        while last < right.begin and (self._words[last] in _SOUNDS or self._tag(last) in _FILLER):
            last += 1
        first = cue[0]
        while first > wrong.end and (self._words[first - 1] in _SOUNDS or self._tag(first - 1) in _FILLER):
            first -= 1
        begin, units = wrong.begin - (right.begin - last), first - wrong.end
        repeated = list(self._words[max(begin, 0) : wrong.begin]) == list(self._words[last : right.begin])
        same_unit = list(self._words[wrong.end : first]) == list(self._words[right.end : right.end + units])
        doubted = any(self._tag(place) for place in range(wrong.begin, last))
        if not (repeated and same_unit and doubted) or begin < self._unfrozen.start or units > _MOST_UNITS:
            return
        if right.begin - last > _MOST_LEAD_IN:
            return
        before = begin
        while self._tag(before - 1) in _REPARANDUM and self._tag(before) == Disfluency.I_RM:
            before -= 1
        self._keep(before, begin)
        self._take_back(begin, first, Disfluency.B_RM, Disfluency.I_RM)
        self._take_back(first, last, Disfluency.B_IM, Disfluency.I_IM)
        self._keep(last, right.end)

    def _take_back(self, begin: int, end: int, first: Disfluency, other: Disfluency) -> None:
        for place in range(begin, min(end, self._unfrozen.stop, len(self._tags))):
            self._tags[place] = first if place == begin else other


def _found(words: Sequence[str], near: range) -> list[NumberSpan]:
    return [
        NumberSpan(span.begin + near.start, span.end + near.start, span.kind, span.value)
        for span in number_spans(words[near.start : near.stop])
    ]


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
        )
    ]
    if not doubtful:
        return
    near = range(max(0, doubtful[0] - _WINDOW), min(len(words), doubtful[-1] + _WINDOW))
    number = {place: span for span in _found(words, near) for place in range(span.begin, span.end)}
    for place in doubtful:
        span, behind = number.get(place), number.get(place + 1)
        if span is not None and span is behind:
            marks[place] = _mark_within(words, span, place, marks[place], digit_commas=digit_commas)
        elif _is_code(words, place) and _is_code(words, place + 1):
            marks[place] = _mark_in_code(marks[place], digit_commas=digit_commas)
        elif _within_amount(words, number, place) or (
            marks[place] in _ENDS
            and (
                _goes_on_unseen(words, number, place, look_ahead_words)
                or (span is not None and _goes_on_behind(words, number, span, place))
                or _opens_sentence(words, marks, number, place)
                or (behind is not None and words[place] in _BEFORE_AMOUNTS)
                or (_lists_number(words, place) and not number.keys().isdisjoint(range(place - _LISTED, place + 1)))
                or (behind is not None and words[place].endswith(_PLACE_UNITS))
                or _is_topic_of_number(words, marks, number, place)
            )
        ):
            marks[place] = _NONE


def _goes_on_unseen(words: Sequence[str], number: Mapping[int, NumberSpan], place: int, look_ahead_words: int) -> bool:
    """Tell whether a number is all that the model saw behind a word, and so no sentence of its own."""
    seen = range(place + 1, min(place + 1 + look_ahead_words, len(words)))
    return (
        words[place] not in _ANSWERS
        and len(seen) == look_ahead_words > 1
        and all(spot in number or words[spot] in _AMOUNT_WORDS for spot in seen)
    )


def _lists_number(words: Sequence[str], place: int) -> bool:
    """Tell whether "and", or "and then", leads from a word to a number: "six grams of salt and two eggs"."""
    behind = list(words[place + 1 : place + 4])
    return behind[:1] == ["and"] and any(map(is_number_word, behind[1 : 2 + (behind[1:2] == ["then"])]))


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
        return not link.isascii() or place + 2 in number
    return link in (*_BETWEEN_NUMBERS, *_ADDRESS_PARTS) and place + 2 in number


def _is_topic_of_number(words: Sequence[str], marks: bytearray, number: Mapping[int, NumberSpan], place: int) -> bool:
    """Tell whether Chinese words that answer nothing are all of a sentence, and what they lack follows.

    That is a number read out digit by digit (记下我的号码 一三八零) or, behind a few characters, a date.
    """
    if words[place].isascii():
        return False
    first = place + 1
    while first < len(words) and _may_lead_to_date(words[first]):
        first += 1
    begin = place
    while begin and marks[begin - 1] not in _ENDS:
        begin -= 1
    topic, behind, date = "".join(words[begin : place + 1]), number.get(place + 1), number.get(first)
    if topic in _CHINESE_ANSWERS:
        return False
    read_out = behind is not None and behind.kind is NumberKind.DIGITS and len(behind.value) >= _READ_OUT_DIGITS
    dated = date is not None and date.kind in (NumberKind.DATE, NumberKind.YEAR)
    return read_out or (dated and len(topic) <= _TOPIC_CHARACTERS)


def _opens_sentence(words: Sequence[str], marks: bytearray, number: Mapping[int, NumberSpan], place: int) -> bool:
    """Tell whether a date, or a number and its unit, are all of a sentence with a preposition, and answer nothing."""
    span = number.get(place)
    if span is None:
        span = number.get(place - 1)
        if span is None or span.end != place:
            return False
    elif span.end != place + 1 or not (span.kind in (NumberKind.DATE, NumberKind.YEAR) or _is_year(span)):
        return False
    begin = span.begin
    while begin and marks[begin - 1] not in _ENDS:
        begin -= 1
        if begin not in number and words[begin] not in _TIME_WORDS and not is_number_word(words[begin]):
            return False
    return begin < span.begin and not (begin and marks[begin - 1] == Punctuation.QUESTION)


def _is_year(span: NumberSpan) -> bool:
    return span.kind is NumberKind.CARDINAL and span.value.isdecimal() and int(span.value) in _YEARS


def _may_go_on(word: str) -> bool:
    return is_number_word(word) or word in _CODE_WORDS or word in _MONTHS or word in _INSIDE or len(word) == 1


def _mark_within(words: Sequence[str], span: NumberSpan, place: int, mark: int, *, digit_commas: bool) -> int:
    """Return the mark of a word within a number: none, but a comma before a year and what is wanted between digits."""
    if span.kind is NumberKind.DIGITS:
        apart = mark in _ENDS and len(span.value) < _CODE_LETTERS
        return mark if apart else _mark_in_code(mark, digit_commas=digit_commas)
    before_year = span.kind is NumberKind.DATE and words[span.begin] in _MONTHS and span.begin < place
    return Punctuation.COMMA.value if before_year else _NONE


def _mark_in_code(mark: int, *, digit_commas: bool) -> int:
    return mark if digit_commas and mark in _COMMAS else _NONE


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
