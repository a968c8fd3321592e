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

from caesura.schemas.segments import Segment, SegmentWord
from caesura.schemas.tentative import Tentative
from caesura.worker.core.language.normalisation import model_view, word_set
from caesura.worker.core.language.rules import primary_language
from caesura.worker.core.language.traditional import simplified
from caesura.worker.core.numbers.chinese_numbers import NUMERALS, chinese_number_at
from caesura.worker.core.numbers.english_numbers import UNIT_ORDINALS, ZEROS, english_numbers
from caesura.worker.core.numbers.european_numbers import EUROPEAN, european_numbers, is_european_number
from caesura.worker.core.numbers.number_span import NumberKind, NumberSpan
from caesura.worker.core.numbers.spoken_numbers import TIMES, is_number_word
from caesura.worker.core.overlays.beside import NOTHING_BESIDE, Beside
from caesura.worker.core.rendering.cleaning import compared, is_sound


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


_WEAK = word_set("one 一个 一")
_BRIDGES = word_set("and then dash hyphen space slash point dot the is it's 杠 空格 点 然后")
_GAP = 3
_CARD_DIGITS = range(13, 20)
_ISSUERS = {16: ("2", "3", "4", "5", "6"), 15: ("34", "37"), 14: ("30", "36", "38", "39")}
_AT = word_set("at @ 艾特 at-sign")
_DOTS = word_set("dot point 点 點")
_CONNECTORS = _DOTS | word_set("underscore dash hyphen plus 下划线 杠 减号")
_ENDINGS = word_set(
    """com org net edu gov io co uk de fr es it nl ch cn jp info biz me tv ai app dev eu us ca au in hk tw be pl se no
    fi dk pt br mx ru at c d u"""
)
_SURE_ENDINGS = word_set("com org net edu gov io co uk de fr es nl cn jp biz tv dev eu au hk tw pl br mx ru")
_PROVIDERS = word_set("gmail hotmail yahoo icloud gmx protonmail")
_AT_SIGN = re.compile(r"@|[\[({<]at[\])}>]")
_JOINED_LETTERS = re.compile(r"[a-z](?:[-.][a-z]){2,}\.?")
_SPELLING_WORDS = word_set(
    """alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november oscar papa
    quebec romeo sierra tango uniform victor whiskey x-ray xray yankee zulu"""
)
_SAID_LIKE = {"won": "one", "to": "two", "too": "two", "for": "four", "fore": "four", "ate": "eight"}
"""Words that a recogniser writes for a digit that sounds like them: read so within a run of digits."""
_DIGIT_NAMES = {"niner": "nine", "aught": "zero"}
_LEAST_DIGITS = 3
_NAMED_BY_INITIAL = word_set("like as")
_WRITTEN_ADDRESS = re.compile(r"\S*@\S*|[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|edu|gov|io|co|uk|de|fr|es|it|cn|me|info)")
_NO_LOCAL_PART = word_set(
    """is email e-mail mail address to my me his her their our your the a an it it's its that that's and or on in of
    for was are be send write reach contact us you can i we so yes okay ok um uh called named by 邮箱 是 我 的 邮件 地址
    发 到"""
)
_ADDRESS_CUES = word_set("email e-mail mail address gmail 邮箱 邮件 地址")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Speech:
    """A language's words in what is redacted.

    times: how often a digit is said. weak: no number alone. bridges: stand within a number. at, dots, connectors: of an
    address. endings, sure_endings: of its domain. no_local_part: words before an address. cues: announce one. naming:
    what stands between a letter and the word that names it. also_words: letters that are words too.
    """

    times: Mapping[str, int]
    weak: frozenset[str]
    bridges: frozenset[str]
    at: frozenset[str]
    dots: frozenset[str]
    connectors: frozenset[str]
    no_local_part: frozenset[str]
    cues: frozenset[str]
    verbs: frozenset[str] = frozenset(("is", "是"))
    endings: frozenset[str] = _ENDINGS
    sure_endings: frozenset[str] = _SURE_ENDINGS
    naming: tuple[tuple[str, ...], ...] = (("as", "in"), ("for",))
    also_words: frozenset[str] = frozenset("ai")
    partly: frozenset[str] = field(init=False)
    address_words: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "partly", frozenset(("oh", "o", *self.times)))
        object.__setattr__(
            self, "address_words", self.at - _AT | self.connectors | self.cues | self.sure_endings | _PROVIDERS
        )


_ENGLISH = _Speech(
    times={**TIMES, "quadruple": 4},
    weak=_WEAK,
    bridges=_BRIDGES,
    at=_AT,
    dots=_DOTS,
    connectors=_CONNECTORS,
    no_local_part=_NO_LOCAL_PART,
    cues=_ADDRESS_CUES,
)
"""English and Chinese, and all languages that have no words of their own here."""

_SPEECHES: Mapping[str, _Speech] = {
    "de": _Speech(
        times={"doppel": 2},
        weak=word_set("ein eine"),
        bridges=_BRIDGES | word_set("und dann strich bindestrich leerzeichen schrägstrich punkt der die das ist"),
        at=_AT | word_set("ät klammeraffe"),
        dots=_DOTS | word_set("punkt"),
        connectors=_CONNECTORS | word_set("punkt unterstrich bindestrich"),
        no_local_part=_NO_LOCAL_PART
        | word_set(
            """ist lautet meine mein ihre seine unsere die der das an unter auf und oder von zu bitte ich sie mir er wir
            adresse mailadresse e-mail-adresse schreiben schicken senden also ja äh ähm"""
        ),
        cues=_ADDRESS_CUES | word_set("adresse mailadresse e-mail-adresse emailadresse"),
        verbs=word_set("ist lautet"),
        naming=(("wie",),),
        also_words=frozenset(),
    ),
    "es": _Speech(
        times={"doble": 2, "triple": 3},
        weak=word_set("un una uno"),
        bridges=_BRIDGES | word_set("y luego guion guión espacio barra punto el la es"),
        at=_AT | word_set("arroba"),
        dots=_DOTS | word_set("punto"),
        connectors=_CONNECTORS | word_set("punto guion guión subguion subguión"),
        no_local_part=_NO_LOCAL_PART
        | word_set("es mi su tu el la los a en y o de por con correo dirección escriba escribe envíe pues bueno eh yo"),
        cues=_ADDRESS_CUES | word_set("correo dirección"),
        verbs=word_set("es"),
        endings=_ENDINGS - {"de"},
        sure_endings=_SURE_ENDINGS - {"de", "es"},
        naming=(("de",), ("como",)),
        also_words=frozenset("aeouy"),
    ),
    "fr": _Speech(
        times={"double": 2, "triple": 3},
        weak=word_set("un une"),
        bridges=_BRIDGES | word_set("et puis ensuite tiret espace le la est c'est"),
        at=_AT | word_set("arobase arrobase arobas"),
        dots=_DOTS,
        connectors=(_CONNECTORS - {"plus"}) | word_set("tiret"),
        no_local_part=_NO_LOCAL_PART
        | word_set(
            "est c'est mon ma votre le la les à en et ou de par sur adresse mail écrivez envoyez alors oui euh je"
        ),
        cues=_ADDRESS_CUES | word_set("adresse courriel mél"),
        verbs=word_set("est c'est"),
        endings=_ENDINGS - {"de"},
        sure_endings=_SURE_ENDINGS - {"de", "es"},
        naming=(("comme",),),
        also_words=frozenset("aycdjlmnstà"),
    ),
}

_NUMBER_SIGN, _LETTER_SIGN, _ADDRESS_SIGN, _NAME_SIGN = 1, 2, 4, 8
_SMALL_SIGN, _LIKE_SIGN, _BRIDGE_SIGN, _SOUND_SIGN = 16, 32, 64, 128
_NUMBER_SIGNS = _NUMBER_SIGN | _SMALL_SIGN
_DIGIT_SIGNS = _NUMBER_SIGNS | _LIKE_SIGN
_MOST_KNOWN, _LEAST_PART = 2**14, 3
_MOST_PLAIN, _MOST_DOMAIN, _CUE_WORDS = 4, 6, 12
_HELD_BACK = _MOST_PLAIN + 1
_LEAST_LETTERS = 3


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
    language: str = ""
    _chains: list[_Chain] | None = None

    @property
    def speech(self) -> _Speech:
        """Return the language's words."""
        return _SPEECHES.get(self.language, _ENGLISH)

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
    _known: dict[str, dict[str, int]] = field(init=False, repr=False, default_factory=dict)

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
            Redacted.NAMES: _NAME_SIGN,
            Redacted.NUMBERS: _NUMBER_SIGNS,
            Redacted.CARDS: _NUMBER_SIGNS,
            Redacted.EMAILS: _ADDRESS_SIGN,
            Redacted.LETTERS: _LETTER_SIGN,
        }
        object.__setattr__(self, "_redacted_signs", sum({signs[kind] for kind in self.kinds}))
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

    def found(self, words: Sequence[SegmentWord], around: Around, lang: str = "en") -> dict[int, str]:
        """Return what stands for each word that is redacted, by index. lang: of the words (BCP-47).

        All words are searched, and once more without fillers, also those beside, and what is taken back: they may stand
        within a number or a name.
        """
        language = primary_language(lang)
        first, count = len(around.before), len(words)
        signs, together = self._signs_of(words, around, language)
        finders = self._wanted(words, signs, together, first) if together & self._redacted_signs else None
        if not finders:
            return {}
        views = [*map(_view, around.before), *[_view(word.text) for word in words], *map(_view, around.behind)]
        everything = range(len(views))
        taken_back = {first + at for at, word in enumerate(words) if word.disfluency != "O"}
        fluent = [at for at in everything if at not in taken_back and not signs[at] & _SOUND_SIGN]
        digits = bool(together & _NUMBER_SIGNS)
        shown: dict[int, str] = {}
        for places in (everything, fluent)[: 1 + (len(fluent) < len(everything))]:
            said = _Said(_as_meant([views[at] for at in places], around, language, digits=digits), around, language)
            for kind, finder in finders:
                for found in finder(said):
                    at = places[found] - first
                    if 0 <= at < count:
                        shown.setdefault(at, _SHOWN[kind])
        return shown

    def _signs_of(self, words: Sequence[SegmentWord], around: Around, language: str) -> tuple[list[int], int]:
        """Return what each word may be a sign of, those around them among them; and all of these signs together."""
        known = self._known.setdefault(language if language in _SPEECHES else "", {})
        texts = [*around.before, *[word.text for word in words], *around.behind]
        try:
            signs = [known[text] for text in texts]
        except KeyError:
            signs = [self._sign_of(text, language, known) for text in texts]
        together = 0
        for sign in signs:
            together |= sign
        return signs, together

    def _sign_of(self, text: str, language: str, known: dict[str, int]) -> int:
        """Return what a word may be a sign of. known: of the language; words recur."""
        signs = known.get(text)
        if signs is None:
            if len(known) >= _MOST_KNOWN:
                known.clear()
            name = compared(_view(text))
            long = len(name) >= _LEAST_PART or not name.isascii()
            is_name = name in self._name_words or (long and name in self._beginnings)
            signs = known[text] = _signs(_view(text), language) | _NAME_SIGN * is_name
        return signs

    def _wanted(
        self, words: Sequence[SegmentWord], signs: Sequence[int], together: int, first: int
    ) -> list[tuple[Redacted, Callable[[_Said], set[int]]]]:
        """Return the finders that may find something: most words are no sign of anything.

        signs: of the words and those around, the first of the words at ``first``. together: all of these signs.
        """
        own = 0
        for sign in signs[first : first + len(words)]:
            own |= sign
        numbers = (together if own & _LIKE_SIGN else own) & _NUMBER_SIGNS
        if numbers and not together & (_NUMBER_SIGN | _SOUND_SIGN) and all(word.disfluency == "O" for word in words):
            # a lone number below ten is redacted only if it may go on over a border
            at_border = (_outer(signs) | _outer(reversed(signs))) & _DIGIT_SIGNS
            numbers = at_border or sum(sign & _SMALL_SIGN for sign in signs) > _SMALL_SIGN
        wanted = {
            Redacted.NAMES: together & _NAME_SIGN,
            Redacted.EMAILS: together & _ADDRESS_SIGN,
            Redacted.CARDS: numbers,
            Redacted.NUMBERS: numbers,
            Redacted.LETTERS: together & _LETTER_SIGN,
        }
        return [(kind, finder) for kind, finder in self._finders.items() if wanted[kind]]

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
        shown = self.found(segment.words, around, segment.lang)
        if not (shown or segment.speaker or segment.attributes or segment.spellings):
            return segment, {}
        attributes = segment.attributes and {
            key: self.text(text, segment.lang) for key, text in segment.attributes.items()
        }
        spellings = segment.spellings and {
            said: text for said, text in segment.spellings.items() if self.text(text, segment.lang) == text
        }
        bare = replace(
            segment,
            words=_without(segment.words, shown),
            speaker=segment.speaker and self.text(segment.speaker, segment.lang),
            attributes=attributes,
            spellings=spellings,
        )
        return bare, shown

    def tentative(self, tentative: Tentative, before: tuple[str, ...] = ()) -> tuple[Tentative, dict[int, str]]:
        """Return unfrozen words as ``segment`` does a segment, also without the session's own spellings.

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
        shown = self.found(tentative.words, around, tentative.lang)
        known = _without(tentative.words, shown)[: -_HELD_BACK if Redacted.EMAILS in self.kinds else None]
        bare = replace(
            tentative,
            words=known,
            labelled_words=min(tentative.labelled_words, len(known)),
            speaker=tentative.speaker and self.text(tentative.speaker, tentative.lang),
            spellings=None,
        )
        return bare, {at: text for at, text in shown.items() if at < len(known)}

    def text(self, text: str, lang: str) -> str:
        """Return a text, its words separated by spaces, without the words that are redacted."""
        return _redacted_text(self, text, primary_language(lang))

    def _names(self, said: _Said) -> set[int]:
        words = [compared(view) for view in said.views]
        found: set[int] = set()
        for begin, word in enumerate(words):
            if word not in self._beginnings:
                continue
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


def without_own_words(segment: Segment) -> Segment:
    """Return a segment without the words that its session's options name: what is redacted may be among them."""
    if not (segment.own_fillers or segment.kept_phrases or segment.spellings):
        return segment
    return replace(segment, own_fillers=(), kept_phrases=(), spellings=None)


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
def _redacted_text(redaction: Redaction, text: str, language: str) -> str:
    words = text.split()
    said = [SegmentWord(text=word, punctuation="none", disfluency="O") for word in words]
    shown = redaction.found(said, _ALONE, language)
    return " ".join(shown.get(at, word) for at, word in enumerate(words)) if shown else text


@lru_cache(maxsize=2**14)
def _view(text: str) -> str:
    view = simplified(model_view(text))
    return _DIGIT_NAMES.get(view, view)


def _as_meant(views: list[str], around: Around, language: str, *, digits: bool) -> list[str]:
    """Return words with what a recogniser wrote for a digit or a dot as that: "five won two" within digits.

    At a border behind which digits may go on, a word that sounds like a digit is one. digits: whether one is among
    them.
    """
    speech = _SPEECHES.get(language, _ENGLISH)
    if "period" in views:
        for at, view in enumerate(views[:-1]):
            if view == "period" and views[at + 1] in speech.sure_endings:
                views[at] = "dot"
    if speech is not _ENGLISH or not digits:
        return views
    beside = [
        views[place]
        for at, view in enumerate(views)
        if view in _SAID_LIKE
        for place in (at - 1, at + 1)
        if 0 <= place < len(views)
    ]
    if not any(_is_digit_word(view, speech) for view in beside):
        return views
    for is_run, group in itertools.groupby(range(len(views)), key=lambda at: _is_digit_word(views[at], speech)):
        run = list(group)
        sure = [at for at in run if views[at] not in _SAID_LIKE]
        goes_on = run[0] == 0 and not around.begins, run[-1] == len(views) - 1 and not around.ends
        if is_run and len(sure) >= (1 if any(goes_on) else _LEAST_DIGITS):
            first, last = (run[0] if goes_on[0] else sure[0]), (run[-1] if goes_on[1] else sure[-1])
            for at in range(first, last + 1):
                views[at] = _SAID_LIKE.get(views[at], views[at])
    return views


def _is_digit_word(view: str, speech: _Speech) -> bool:
    return view in _SAID_LIKE or view in speech.partly or (_is_number(view, "en") and _digit_count(view, "en") == 1)


def _outer(signs: Iterable[int]) -> int:
    """Return the signs of the first word that is more than a bridge; those of every number if there is none."""
    return next((sign for sign in signs if sign & _DIGIT_SIGNS or not sign & _BRIDGE_SIGN), _DIGIT_SIGNS)


def _signs(view: str, language: str) -> int:
    """Return what a word may be a sign of: a number, one below ten, a letter, an address; or a part of them."""
    speech = _SPEECHES.get(language, _ENGLISH)
    partly, number = view in speech.partly, _is_number(view, language)
    small = partly or view in speech.weak or _is_small_ordinal(view, language) or _digit_count(view, language) == 1
    spelled = _is_letter(view) and view not in speech.also_words
    letter = spelled or view in _SPELLING_WORDS or _JOINED_LETTERS.fullmatch(view) is not None
    address = (
        view in speech.address_words
        or _AT_SIGN.search(view) is not None
        or _WRITTEN_ADDRESS.fullmatch(view) is not None
    )
    sound = is_sound(view)
    bridge = view in speech.bridges or view == "period" or not view or sound
    return (
        (_SMALL_SIGN if small else _NUMBER_SIGN) * (number or partly)
        | _LETTER_SIGN * letter
        | _ADDRESS_SIGN * (address or spelled)
        | _LIKE_SIGN * (view in _SAID_LIKE)
        | _BRIDGE_SIGN * bridge
        | _SOUND_SIGN * sound
    )


# --- numbers and cards


@lru_cache(maxsize=2**14)
def _is_number(view: str, language: str) -> bool:
    """Tell whether a word says a number or a part of one."""
    if any(char.isdecimal() for char in view):
        return True
    if language in EUROPEAN:
        return view != EUROPEAN[language].link and is_european_number(view, language)
    return view in ZEROS or is_number_word(view) or sum(char in NUMERALS for char in view) > 1


def _spans(views: Sequence[str], language: str) -> list[NumberSpan]:
    return european_numbers(views, language) if language in EUROPEAN else english_numbers(views)


def _places(said: _Said) -> list[int]:
    """Return where number words stand: "oh", "double" and the like only beside others, or among nothing else."""
    views, partly = said.views, said.speech.partly
    numbers = [view in partly or _is_number(view, said.language) for view in views]
    alone = all(number or _is_bridge([view], said) for view, number in zip(views, numbers, strict=True))
    places: list[int] = []
    for part, run in itertools.groupby(range(len(views)), key=numbers.__getitem__):
        found = list(run)
        if part and (alone or not partly.issuperset([views[at] for at in found])):
            places += found
    return places


def _weight(said: _Said, at: int) -> int:
    """Return how many digits a number word counts for: none for "first", and for a "one" that stands alone."""
    views, speech = said.views, said.speech
    view = views[at]
    if view in speech.times:
        return (speech.times[view] - 1) * (at + 1 < len(views) and _is_number(views[at + 1], said.language))
    if _is_small_ordinal(view, said.language):
        return 0
    if view in speech.weak:
        beside = [views[place] for place in (at - 1, at + 1) if 0 <= place < len(views)]
        return int(any(_is_number(word, said.language) or word in speech.times for word in beside))
    return _digit_count(view, said.language)


@lru_cache(maxsize=2**14)
def _is_small_ordinal(view: str, language: str) -> bool:
    """Tell whether a word is an ordinal below ten."""
    if language not in EUROPEAN:
        return view in UNIT_ORDINALS
    spans = european_numbers([view], language)
    return bool(spans) and spans[0].kind is NumberKind.ORDINAL and len(spans[0].value) == 1


@lru_cache(maxsize=2**14)
def _digit_count(view: str, language: str) -> int:
    digits = sum(char.isdecimal() or char in NUMERALS for char in view)
    spans = _spans([view], language)
    value = spans[0].value if spans and spans[0].value.isdecimal() else ""
    return digits or (1 if len(value) == 1 else len("10"))


def _chains(said: _Said) -> Iterator[_Chain]:
    """Yield number words that are near one another.

    A border may part them from others where nothing but bridges stands between; "one" alone goes on over it only within
    a sentence.
    """
    views, places, around = said.views, _places(said), said.around
    chain: list[int] = []
    for at, behind in itertools.zip_longest(places, places[1:]):
        chain.append(at)
        if behind is None or behind - at > _GAP + 1:
            strong = any(
                views[place] not in said.speech.weak and not _is_small_ordinal(views[place], said.language)
                for place in chain
            )
            before = not around.begins and (strong or not around.opens) and _is_bridge(views[: chain[0]], said)
            after = not around.ends and (strong or not around.closes) and _is_bridge(views[chain[-1] + 1 :], said)
            yield _Chain(chain, sum(_weight(said, place) for place in chain), before or after)
            chain = []


def _is_bridge(views: Sequence[str], said: _Said) -> bool:
    return all(view in said.speech.bridges or is_sound(view) or not view for view in views)


def _numbers(said: _Said) -> set[int]:
    return {at for chain in said.chains() for at in chain.places if chain.is_cut or chain.weight > 1}


def _cards(said: _Said) -> set[int]:
    return {
        at
        for chain in said.chains()
        if chain.is_cut
        or (
            chain.weight >= _CARD_DIGITS.start
            and _holds_card(_digits(said.views[chain.places[0] : chain.places[-1] + 1], said))
        )
        for at in chain.places
    }


def _digits(views: Sequence[str], said: _Said) -> str:
    """Return the digits that words say one after another; numbers of several words by their value."""
    digits, at = "", 0
    numbers = {span.begin: span for span in _spans(views, said.language)}
    while at < len(views):
        times = said.speech.times.get(views[at], 1)
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
    views, at, also_words = said.views, 0, said.speech.also_words
    while at < len(views):
        run: list[int] = []
        end = at
        while end < len(views):
            if run and views[end] in said.speech.times and end + 1 < len(views) and _is_letter(views[end + 1]):
                run.append(end)
                end += 1
            if not _is_letter(views[end]):
                break
            behind = tuple(views[end + 1 : end + 3])
            named = 0 if views[end] in also_words else _naming_words(views[end], behind, said.speech)
            run += range(end, min(end + named + 1, len(views)))
            end += named + 1
        letters = [place for place in run if _is_letter(views[place])]
        sure = any(views[place] not in also_words for place in letters)
        is_cut = (run[:1] == [0] and not said.around.begins) or (run[-1:] == [len(views) - 1] and not said.around.ends)
        if sure and (len(letters) >= _LEAST_LETTERS or is_cut or len(run) > len(letters)):
            found.update(run)
            if run[0] > 0 and views[run[0] - 1] in said.speech.times:
                found.add(run[0] - 1)
        at = max(end, at + 1)
    for is_named, group in itertools.groupby(range(len(views)), key=lambda at: views[at] in _SPELLING_WORDS):
        words = list(group)
        if is_named and len(words) >= _LEAST_LETTERS:
            found.update(words)
    return found | {at for at, view in enumerate(views) if _JOINED_LETTERS.fullmatch(view)}


def _naming_words(letter: str, behind: tuple[str, ...], speech: _Speech) -> int:
    """Return how many words behind a letter name it; "as" and "like" stand before a word that begins with it."""
    if len(behind) > 1 and behind[0] in _NAMED_BY_INITIAL and behind[1].startswith(letter):
        return 2
    return next((len(words) + 1 for words in speech.naming if behind[: len(words)] == words), 0)


# --- addresses


def _emails(said: _Said) -> set[int]:
    views, count, speech = said.views, len(said.views), said.speech
    found = {at for at, view in enumerate(views) if _AT_SIGN.search(view)}
    for at, view in enumerate(views):
        if view in speech.at:
            end = _domain_end(views, at + 1, speech)
            rest = count - at - 1
            if end is None and not said.around.ends and rest <= _MOST_DOMAIN and _may_be_address(views, at, speech):
                end = count if rest <= _GAP or any(word in speech.dots for word in views[at + 1 :]) else None
            if end is not None:
                found.update(range(_local_begin(views, at, said), end))
    if not said.around.begins:
        found.update(range(_cut_domain_end(views, speech)))
    if not said.around.ends:
        found.update(range(_cut_local_begin(views, said), count))
    return found


def _domain_end(views: Sequence[str], begin: int, speech: _Speech) -> int | None:
    """Return the end of the domain that begins at a place; None where none does."""
    if begin < len(views) and _WRITTEN_ADDRESS.fullmatch(views[begin]):
        return begin + 1
    dot = _dot_of_domain(views, begin, speech)
    known = dot is not None and views[dot + 1 : dot + 2] and views[dot + 1] in speech.endings
    if dot is None or not (known or _may_be_domain(views[begin : dot + 2], speech)):
        return begin + 1 if views[begin : begin + 1] and views[begin] in _PROVIDERS else None
    end = dot + 2
    while end < len(views) and (_is_letter(views[end]) or (views[end] in speech.dots and end + 1 < len(views))):
        end += 2 if views[end] in speech.dots else 1
    return end


def _dot_of_domain(views: Sequence[str], begin: int, speech: _Speech) -> int | None:
    """Return where the first dot of a domain is said: behind few words, of which letters beside one another are one."""
    words = 0
    for at in range(begin, len(views)):
        if views[at] in speech.dots:
            return at
        words += not (_is_letter(views[at]) and at > begin and _is_letter(views[at - 1]))
        if words >= _MOST_DOMAIN:
            break
    return None


def _may_be_domain(views: Sequence[str], speech: _Speech) -> bool:
    """Tell whether words are a name, "dot" and an ending that is not known: not "at the dot in front"."""
    if len(views) != len(("name", "dot", "ending")) or views[1] != "dot":
        return False
    return all(view.isalpha() and view not in speech.no_local_part | speech.dots for view in (views[0], views[2]))


def _local_begin(views: Sequence[str], at: int, said: _Said) -> int:
    """Return where the part of an address before its "at" begins: at least one word, if there is one."""
    begin, plain = at, 0
    while begin > 0:
        word = views[begin - 1]
        connected = any(view in said.speech.connectors for view in views[max(0, begin - 2) : begin + 1])
        if not connected and not _is_letter(word) and not _is_number(word, said.language):
            plain += 1
            if word in said.speech.no_local_part or plain > _MOST_PLAIN:
                break
        begin -= 1
    return begin


def _may_be_address(views: Sequence[str], at: int, speech: _Speech) -> bool:
    """Tell whether the words before "at" are an address's, where its domain cannot be seen whole."""
    before = views[max(0, at - _CUE_WORDS) : at]
    spelled = sum(_is_letter(view) and view not in speech.also_words for view in before)
    return spelled > 1 or not speech.cues.isdisjoint(before) or any(view in speech.connectors for view in before)


def _cut_domain_end(views: Sequence[str], speech: _Speech) -> int:
    """Return where the rest of an address that began before a border ends; 0 where there is none."""
    end = _domain_end(views, 0, speech)
    dot = next((at for at, view in enumerate(views[:_MOST_DOMAIN]) if view in speech.dots), _MOST_DOMAIN)
    if end is not None and dot <= _GAP:
        return end
    return int(bool(views) and (views[0] in speech.sure_endings or _WRITTEN_ADDRESS.fullmatch(views[0]) is not None))


def _cut_local_begin(views: Sequence[str], said: _Said) -> int:
    """Return where an address begins whose rest is behind a border; the count of words where none does."""
    count, speech = len(views), said.speech
    tail = views[max(0, count - 2) :]
    if any(view in speech.connectors or (_is_letter(view) and view not in speech.also_words) for view in tail):
        return _local_begin(views, count, said)
    cue = next((at for at in range(count - 1, max(-1, count - 2 - _MOST_PLAIN), -1) if views[at] in speech.cues), None)
    is_said = cue is not None and any(view in speech.verbs for view in views[cue + 1 : cue + 2])
    return cue + 2 if cue is not None and is_said else count


NO_REDACTION = Redaction()
