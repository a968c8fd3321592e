"""Redaction: which words of a segment a route does not carry, by index, whatever their labels.

    my card is four one one one ... one thank you  ->  my card is [CARD] thank you

Kinds:

``numbers``  every number word, but a lone one below ten: digits, amounts, dates, ordinals beside others.
``cards``    13 to 19 digits that pass the check of card numbers (ISO/IEC 7812-1, annex B), also among others.
``emails``   "john dot smith at gmail dot com", spelled or written.
``letters``  three or more letters that are spelled, also as "b as in bravo".
``names``    the phrases of the operator's list.

What is recognised is too much rather than too little. A segment's border may cut what is redacted, and its other part
cannot be seen: what may be a part of it, up to the border, is redacted as well. It is no promise of completeness: a
number that a recogniser misheard, a name that is not on the list, an address that is said in other words stay.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from msgspec.structs import replace

from caesura.schemas.labels import kind_of
from caesura.schemas.segments import Segment, SegmentWord
from caesura.schemas.tentative import Tentative
from caesura.worker.core.language.normalisation import model_view
from caesura.worker.core.language.traditional import simplified
from caesura.worker.core.numbers.chinese_numbers import NUMERALS, chinese_number_at
from caesura.worker.core.numbers.english_numbers import english_numbers
from caesura.worker.core.numbers.spoken_numbers import is_number_word
from caesura.worker.core.overlays.beside import NOTHING_BESIDE, Beside
from caesura.worker.core.rendering.cleaning import compared, is_sound

__all__ = ["NO_REDACTION", "Around", "Redacted", "Redaction"]


class Redacted(StrEnum):
    """What is redacted."""

    NUMBERS = "numbers"
    CARDS = "cards"
    EMAILS = "emails"
    LETTERS = "letters"
    NAMES = "names"


_SHOWN = {
    Redacted.NAMES: "[NAME]",
    Redacted.EMAILS: "[EMAIL]",
    Redacted.CARDS: "[CARD]",
    Redacted.NUMBERS: "[NUMBER]",
    Redacted.LETTERS: "[LETTERS]",
}
"""What stands for a word, in the order in which kinds go before one another."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ZEROS = _set("oh o zero nought")
_TIMES = {"double": 2, "triple": 3}
_PARTLY = frozenset(("oh", "o", *_TIMES))
_SMALL_ORDINALS = _set("first second third fourth fifth sixth seventh eighth ninth")
_WEAK = _set("one 一个 一")
_BRIDGES = _set("and then dash hyphen space slash point dot the is it's 杠 空格 点 然后")
_GAP = 3
_CARD_DIGITS = range(13, 20)
_ISSUERS = {16: ("2", "3", "4", "5", "6"), 15: ("34", "37"), 14: ("30", "36", "38", "39")}
_AT = _set("at @ 艾特 at-sign")
_DOTS = _set("dot point 点 點")
_CONNECTORS = _DOTS | _set("underscore dash hyphen plus 下划线 杠 减号")
_ENDINGS = _set(
    """com org net edu gov io co uk de fr es it nl ch cn jp info biz me tv ai app dev eu us ca au in hk tw be pl se no
    fi dk pt br mx ru at c d u"""
)
_SURE_ENDINGS = _set("com org net edu gov io co uk de fr es nl cn jp biz tv dev eu au hk tw pl br mx ru")
_WRITTEN_ADDRESS = re.compile(r"\S*@\S*|[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|edu|gov|io|co|uk|de|fr|es|it|cn|me|info)")
_NO_LOCAL_PART = _set(
    """is email e-mail mail address to my me his her their our your the a an it it's its that that's and or on in of
    for was are be send write reach contact us you can i we so yes okay ok um uh called named by 邮箱 是 我 的 邮件 地址
    发 到"""
)
_ADDRESS_CUES = _set("email e-mail mail address gmail 邮箱 邮件 地址")
_ADDRESS_WORDS = _CONNECTORS | _ADDRESS_CUES | _SURE_ENDINGS
_NUMBER_SIGN, _LETTER_SIGN, _ADDRESS_SIGN, _NAME_SIGN = 1, 2, 4, 8
_MOST_KNOWN, _LEAST_PART = 2**14, 3
_MOST_PLAIN, _MOST_DOMAIN, _CUE_WORDS = 4, 6, 12
_HELD_BACK = _MOST_PLAIN + 1
_LEAST_LETTERS = 3
_ALSO_WORDS = frozenset("ai")


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is known of the words before and behind those that are searched.

    before, behind: the model's view of some of them. begins, ends: whether the session's words begin and end with all
    of these. opens, closes: whether a sentence does.
    """

    before: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    begins: bool = True
    ends: bool = True
    opens: bool = True
    closes: bool = True


_ALONE = Around()


@dataclass(frozen=True, slots=True)
class _Chain:
    """Number words that are near one another. weight: how many digits they count for. is_cut: by an open border."""

    places: list[int]
    weight: int
    is_cut: bool


@dataclass(slots=True)
class _Said:
    """The words to search, those around them among them: their views, and how they begin and end."""

    views: Sequence[str]
    around: Around
    _chains: list[_Chain] | None = None

    def chains(self) -> list[_Chain]:
        """Return the number words, in chains."""
        if self._chains is None:
            self._chains = list(_chains(self))
        return self._chains


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Redaction:
    """What is redacted. names: the operator's list."""

    kinds: frozenset[Redacted] = frozenset()
    names: tuple[str, ...] = ()
    _finders: Mapping[Redacted, Callable[[_Said], set[int]]] = field(init=False, repr=False)
    _whole: frozenset[str] = field(init=False, repr=False)
    _first_words: frozenset[str] = field(init=False, repr=False)
    _last_words: frozenset[str] = field(init=False, repr=False)
    _beginnings: frozenset[str] = field(init=False, repr=False)
    _name_words: frozenset[str] = field(init=False, repr=False)
    _redacted_signs: int = field(init=False, repr=False)
    _known: dict[str, int] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        names = [_parts(name) for name in self.names]
        whole = frozenset(filter(None, map("".join, names)))
        object.__setattr__(self, "_whole", whole)
        object.__setattr__(self, "_first_words", _joined(name[:end] for name in names for end in range(1, len(name))))
        object.__setattr__(self, "_last_words", _joined(name[end:] for name in names for end in range(1, len(name))))
        beginnings = (name[:end] for name in (*whole, *self._last_words) for end in range(1, len(name) + 1))
        object.__setattr__(self, "_beginnings", frozenset(beginnings))
        object.__setattr__(self, "_name_words", frozenset(word for name in names for word in name))
        signs = {
            Redacted.NUMBERS: _NUMBER_SIGN,
            Redacted.CARDS: _NUMBER_SIGN,
            Redacted.EMAILS: _ADDRESS_SIGN,
            Redacted.LETTERS: _LETTER_SIGN,
        }
        wanted = {signs[kind] for kind in self.kinds if kind in signs}
        object.__setattr__(self, "_redacted_signs", sum(wanted))
        finders: dict[Redacted, Callable[[_Said], set[int]]] = {
            Redacted.NAMES: self._names,
            Redacted.EMAILS: _emails,
            Redacted.CARDS: _cards,
            Redacted.NUMBERS: _numbers,
            Redacted.LETTERS: _letters,
        }
        object.__setattr__(self, "_finders", {kind: finders[kind] for kind in _SHOWN if kind in self.kinds})

    def __bool__(self) -> bool:
        """Tell whether anything is redacted."""
        return bool(self.kinds)

    def found(self, words: Sequence[SegmentWord], around: Around) -> dict[int, str]:
        """Return what stands for each word that is redacted, by index.

        All words are searched, and once more without fillers and what is taken back, which may stand within a number.
        """
        views = [_view(word.text) for word in words]
        finders = self._wanted(views, around)
        if not finders:
            return {}
        first = len(around.before)
        fluent = [at for at, word in enumerate(words) if not kind_of(word.disfluency) and not is_sound(word.text)]
        shown: dict[int, str] = {}
        for places in ([*range(len(words))], fluent) if len(fluent) < len(words) else (fluent,):
            said = _Said([*around.before, *(views[at] for at in places), *around.behind], around)
            for kind, finder in finders:
                for place in finder(said):
                    if first <= place < first + len(places):
                        shown.setdefault(places[place - first], _SHOWN[kind])
        return shown

    def _wanted(self, views: Sequence[str], around: Around) -> list[tuple[Redacted, Callable[[_Said], set[int]]]]:
        """Return the finders that may find something: most words are no sign of anything."""
        signs = beside = 0
        for view in views:
            signs |= self._signs_of(view)
        for view in around.before:
            beside |= self._signs_of(view)
        for view in around.behind:
            beside |= self._signs_of(view)
        if not signs | beside:
            return []
        wanted = {
            Redacted.NAMES: (signs | beside) & _NAME_SIGN,
            Redacted.EMAILS: (signs | beside) & _ADDRESS_SIGN,
            Redacted.CARDS: signs & _NUMBER_SIGN,
            Redacted.NUMBERS: signs & _NUMBER_SIGN,
            Redacted.LETTERS: (signs | beside) & _LETTER_SIGN,
        }
        return [(kind, finder) for kind, finder in self._finders.items() if wanted[kind]]

    def _signs_of(self, view: str) -> int:
        """Return what a word may be a sign of, as far as it is redacted; kept, since words recur."""
        known = self._known.get(view)
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            text = compared(view)
            long = len(text) >= _LEAST_PART or not text.isascii()
            is_name = text in self._name_words or (long and text in self._beginnings)
            known = self._known[view] = (_signs(view) & self._redacted_signs) | _NAME_SIGN * is_name
        return known

    def segment(self, segment: Segment, beside: Beside = NOTHING_BESIDE) -> tuple[Segment, dict[int, str]]:
        """Return a segment without the words that are redacted, and what stands for each of them, by index.

        Its speaker and attributes, which are a producer's, and what its spellings write are redacted as texts of their
        own.
        """
        around = Around(
            before=beside.before,
            behind=beside.behind,
            begins=segment.first_word == 0,
            ends=segment.session_end,
            opens=segment.sentence_start and not beside.before,
            closes=segment.sentence_end and not beside.behind,
        )
        shown = self.found(segment.words, around)
        if not (shown or segment.speaker or segment.attributes or segment.spellings):
            return segment, {}
        attributes = segment.attributes and {key: self.text(text) for key, text in segment.attributes.items()}
        spellings = segment.spellings and {
            said: text for said, text in segment.spellings.items() if self.text(text) == text
        }
        bare = replace(
            segment,
            words=_without(segment.words, shown),
            speaker=self._speaker(segment.speaker),
            attributes=attributes,
            spellings=spellings,
        )
        return bare, shown

    def tentative(self, tentative: Tentative, before: tuple[str, ...] = ()) -> Tentative:
        """Return unfrozen words without those that are redacted, and without the session's own spellings.

        before: the model's view of frozen words before them. Where addresses are redacted, the last words are held
        back: they may be the beginning of one.
        """
        around = Around(
            before=before,
            begins=tentative.first_word == 0,
            ends=False,
            opens=tentative.sentence_start and not before,
            closes=False,
        )
        shown = self.found(tentative.words, around)
        known = _without(tentative.words, shown)[: -_HELD_BACK if Redacted.EMAILS in self.kinds else None]
        return replace(
            tentative,
            words=known,
            labelled_words=min(tentative.labelled_words, len(known)),
            speaker=self._speaker(tentative.speaker),
            spellings=None,
        )

    def text(self, text: str) -> str:
        """Return a text, its words separated by spaces, without the words that are redacted."""
        return _redacted_text(self, text)

    def found_in(self, texts: Sequence[str]) -> dict[int, str]:
        """Return what stands for each word of a text that is redacted, by index."""
        return self.found([SegmentWord(text=text, punctuation="none", disfluency="O") for text in texts], _ALONE)

    def _speaker(self, speaker: str | None) -> str | None:
        return None if speaker is None else self.text(speaker)

    def _names(self, said: _Said) -> set[int]:
        words = [compared(view) for view in said.views]
        found: set[int] = set()
        for begin in range(len(words)):
            text = ""
            for end in range(begin + 1, len(words) + 1):
                text += words[end - 1]
                if text not in self._beginnings:
                    break
                cut_behind = end == len(words) and not said.around.ends and text in self._first_words
                cut_before = begin == 0 and not said.around.begins and text in self._last_words
                if text in self._whole or cut_behind or cut_before:
                    found.update(range(begin, end))
        return found


def _parts(name: str) -> list[str]:
    """Return a name's words as they are compared; the characters of one that is written without spaces."""
    parts = [part for part in map(compared, name.split()) if part]
    return parts if len(parts) != 1 or parts[0].isascii() else list(parts[0])


def _joined(parts: Iterable[list[str]]) -> frozenset[str]:
    return frozenset("".join(part) for part in parts)


def _without(words: Sequence[SegmentWord], shown: Mapping[int, str]) -> tuple[SegmentWord, ...]:
    return (
        tuple(words)
        if not shown
        else tuple(
            replace(word, text=shown[at], casing="as_given", piece=None) if at in shown else word
            for at, word in enumerate(words)
        )
    )


@lru_cache(maxsize=1024)
def _redacted_text(redaction: Redaction, text: str) -> str:
    words = text.split()
    shown = redaction.found_in(words)
    return " ".join(shown.get(at, word) for at, word in enumerate(words)) if shown else text


@lru_cache(maxsize=2**14)
def _view(text: str) -> str:
    return simplified(model_view(text))


@lru_cache(maxsize=2**14)
def _signs(view: str) -> int:
    """Return what a word may be a sign of: a number, a letter, an address."""
    number = _NUMBER_SIGN * (_is_number(view) or view in _PARTLY)
    letter = _LETTER_SIGN * (_is_letter(view) and view not in _ALSO_WORDS)
    address = view in _ADDRESS_WORDS or "@" in view or _WRITTEN_ADDRESS.fullmatch(view) is not None
    return number | letter | _ADDRESS_SIGN * (address or bool(letter))


# --- numbers and cards


@lru_cache(maxsize=2**14)
def _is_number(view: str) -> bool:
    """Tell whether a word says a number or a part of one."""
    if view in _ZEROS or is_number_word(view) or any(char.isdecimal() for char in view):
        return True
    return sum(char in NUMERALS for char in view) > 1


def _places(views: Sequence[str]) -> list[int]:
    """Return where number words stand: "oh", "double" and the like only beside others, or among nothing else."""
    alone = all(view in _PARTLY or _is_number(view) or _is_bridge([view]) for view in views)
    places: list[int] = []
    for part, run in itertools.groupby(range(len(views)), key=lambda at: views[at] in _PARTLY or _is_number(views[at])):
        found = list(run)
        if part and (alone or not _PARTLY.issuperset(views[at] for at in found)):
            places += found
    return places


def _weight(views: Sequence[str], at: int) -> int:
    """Return how many digits a number word counts for: none for "first", and for a "one" that stands alone."""
    view = views[at]
    if view in _SMALL_ORDINALS or view in _TIMES:
        return 0
    if view in _WEAK:
        return int(any(_is_number(views[beside]) for beside in (at - 1, at + 1) if 0 <= beside < len(views)))
    return _digit_count(view)


@lru_cache(maxsize=2**14)
def _digit_count(view: str) -> int:
    digits = sum(char.isdecimal() or char in NUMERALS for char in view)
    return digits or (1 if len(_digits_of(view)) == 1 else len("10"))


def _digits_of(view: str) -> str:
    """Return the digits that a word alone says; "" where it says none."""
    if view in _ZEROS:
        return "0"
    spans = english_numbers([view])
    return spans[0].value if spans and spans[0].value.isdecimal() else ""


def _chains(said: _Said) -> Iterator[_Chain]:
    """Yield number words that are near one another.

    A border may part them from others where nothing but bridges stands between; "one" alone goes on over it only within
    a sentence.
    """
    views, places, around = said.views, _places(said.views), said.around
    chain: list[int] = []
    for at, behind in itertools.zip_longest(places, places[1:]):
        chain.append(at)
        if behind is None or behind - at > _GAP + 1:
            strong = any(views[place] not in _WEAK and views[place] not in _SMALL_ORDINALS for place in chain)
            before = not around.begins and (strong or not around.opens) and _is_bridge(views[: chain[0]])
            after = not around.ends and (strong or not around.closes) and _is_bridge(views[chain[-1] + 1 :])
            yield _Chain(chain, sum(_weight(views, place) for place in chain), before or after)
            chain = []


def _is_bridge(views: Sequence[str]) -> bool:
    return all(view in _BRIDGES or is_sound(view) or not view for view in views)


def _numbers(said: _Said) -> set[int]:
    return {at for chain in said.chains() for at in chain.places if chain.is_cut or chain.weight > 1}


def _cards(said: _Said) -> set[int]:
    return {
        at
        for chain in said.chains()
        if chain.is_cut
        or (
            chain.weight >= _CARD_DIGITS.start
            and _holds_card(_digits(said.views[chain.places[0] : chain.places[-1] + 1]))
        )
        for at in chain.places
    }


def _digits(views: Sequence[str]) -> str:
    """Return the digits that words say one after another; numbers of several words by their value."""
    digits, at = "", 0
    numbers = {span.begin: span for span in english_numbers(views)}
    while at < len(views):
        times = _TIMES.get(views[at], 1)
        span = numbers.get(at + (times > 1))
        if span is not None:
            digits += re.sub(r"\D", "", span.value) * times
            at = span.end
            continue
        view, place = views[at], 0
        while place < len(view):
            found = chinese_number_at(view, place) if view[place] in NUMERALS else None
            digits += found[2] if found is not None else view[place] if view[place].isdecimal() else ""
            place = found[0] if found is not None else place + 1
        at += 1
    return digits


def _holds_card(digits: str) -> bool:
    """Tell whether digits are a card's number, or hold one among others: then of an issuer's length and beginning."""
    return (len(digits) in _CARD_DIGITS and _passes_check(digits)) or any(
        _passes_check(digits[begin : begin + length])
        for length, beginnings in _ISSUERS.items()
        for begin in range(len(digits) - length + 1)
        if digits.startswith(beginnings, begin)
    )


def _passes_check(digits: str) -> bool:
    """Tell whether digits pass the check of card numbers (Luhn)."""
    doubled = (int(digit) * (1 + at % 2) for at, digit in enumerate(reversed(digits)))
    return sum(value - 9 * (value > 9) for value in doubled) % 10 == 0


# --- letters


def _is_letter(view: str) -> bool:
    return len(view) == 1 and view.isascii() and view.isalpha()


def _letters(said: _Said) -> set[int]:
    """Return letters that are spelled, with the words that name them: "b as in bravo", "b for bravo"."""
    found: set[int] = set()
    views, at = said.views, 0
    while at < len(views):
        run: list[int] = []
        end = at
        while end < len(views) and _is_letter(views[end]):
            named = (
                3 if list(views[end + 1 : end + 3]) == ["as", "in"] else 2 * (list(views[end + 1 : end + 2]) == ["for"])
            )
            named = named if named and views[end] not in _ALSO_WORDS else 0
            run += range(end, min(end + named + 1, len(views)))
            end += named + 1
        letters = [place for place in run if _is_letter(views[place])]
        sure = any(views[place] not in _ALSO_WORDS for place in letters)
        is_cut = (run[:1] == [0] and not said.around.begins) or (run[-1:] == [len(views) - 1] and not said.around.ends)
        if sure and (len(letters) >= _LEAST_LETTERS or is_cut or len(run) > len(letters)):
            found.update(run)
        at = max(end, at + 1)
    return found


# --- addresses


def _emails(said: _Said) -> set[int]:
    views, count = said.views, len(said.views)
    found = {at for at, view in enumerate(views) if "@" in view}
    for at, view in enumerate(views):
        if view in _AT:
            end = _domain_end(views, at + 1)
            rest = count - at - 1
            if end is None and not said.around.ends and rest <= _MOST_DOMAIN and _may_be_address(views, at):
                end = count if rest <= _GAP or any(word in _DOTS for word in views[at + 1 :]) else None
            if end is not None:
                found.update(range(_local_begin(views, at), end))
    if not said.around.begins:
        found.update(range(_cut_domain_end(views)))
    if not said.around.ends:
        found.update(range(_cut_local_begin(views), count))
    return found


def _domain_end(views: Sequence[str], begin: int) -> int | None:
    """Return the end of the domain that begins at a place; None where none does."""
    if begin < len(views) and _WRITTEN_ADDRESS.fullmatch(views[begin]):
        return begin + 1
    dot = next((at for at in range(begin, min(begin + _MOST_DOMAIN, len(views))) if views[at] in _DOTS), None)
    if dot is None or dot + 1 >= len(views) or views[dot + 1] not in _ENDINGS:
        return None
    end = dot + 2
    while end < len(views) and (_is_letter(views[end]) or (views[end] in _DOTS and end + 1 < len(views))):
        end += 2 if views[end] in _DOTS else 1
    return end


def _local_begin(views: Sequence[str], at: int) -> int:
    """Return where the part of an address before its "at" begins: at least one word, if there is one."""
    begin, plain = at, 0
    while begin > 0:
        word = views[begin - 1]
        connected = any(view in _CONNECTORS for view in views[max(0, begin - 2) : begin + 1])
        if not connected and not _is_letter(word) and not _is_number(word):
            plain += 1
            if word in _NO_LOCAL_PART or plain > _MOST_PLAIN:
                break
        begin -= 1
    return begin


def _may_be_address(views: Sequence[str], at: int) -> bool:
    """Tell whether the words before "at" are an address's, where its domain cannot be seen whole."""
    before = views[max(0, at - _CUE_WORDS) : at]
    spelled = sum(_is_letter(view) and view not in _ALSO_WORDS for view in before)
    return spelled > 1 or not _ADDRESS_CUES.isdisjoint(before) or any(view in _CONNECTORS for view in before)


def _cut_domain_end(views: Sequence[str]) -> int:
    """Return where the rest of an address that began before a border ends; 0 where there is none."""
    end = _domain_end(views, 0)
    dot = next((at for at, view in enumerate(views[:_MOST_DOMAIN]) if view in _DOTS), _MOST_DOMAIN)
    if end is not None and dot <= _GAP:
        return end
    return int(bool(views) and (views[0] in _SURE_ENDINGS or _WRITTEN_ADDRESS.fullmatch(views[0]) is not None))


def _cut_local_begin(views: Sequence[str]) -> int:
    """Return where an address begins whose rest is behind a border; the count of words where none does."""
    count = len(views)
    tail = views[max(0, count - 2) :]
    if any(view in _CONNECTORS or (_is_letter(view) and view not in _ALSO_WORDS) for view in tail):
        return _local_begin(views, count)
    cue = next(
        (at for at in range(count - 1, max(-1, count - 2 - _MOST_PLAIN), -1) if views[at] in _ADDRESS_CUES), None
    )
    is_said = cue is not None and any(view in ("is", "是") for view in views[cue + 1 : cue + 2])
    return cue + 2 if cue is not None and is_said else count


NO_REDACTION = Redaction()
