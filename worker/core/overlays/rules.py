"""The overlays of a rendering: the operator's and the session's spellings, and numbers as digits.

An overlay lies within one sentence, and no word is in two overlays. A spelling takes precedence over a number.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from caesura.schemas.segments import NumberForm
from caesura.worker.core.language.normalisation import model_view
from caesura.worker.core.language.rules import primary_language
from caesura.worker.core.language.traditional import simplified
from caesura.worker.core.numbers.chinese_numbers import NUMERALS
from caesura.worker.core.numbers.english_numbers import UNIT_ORDINALS
from caesura.worker.core.numbers.european_numbers import EUROPEAN, is_european_number
from caesura.worker.core.numbers.spoken_numbers import is_number_word
from caesura.worker.core.overlays.chinese_digits import chinese_digits
from caesura.worker.core.overlays.english_digits import BESIDE_ONE, english_digits
from caesura.worker.core.overlays.european_digits import european_digits
from caesura.worker.core.overlays.overlay import Overlay, Stretch, disjoint
from caesura.worker.core.overlays.spellings import NO_SPELLINGS, Spellings

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayRules:
    """What a rendering writes differently from the spoken words. numbers: as words, or unambiguous ones as digits.

    french_spaces: a narrow no-break space before a French question mark; this replaces no words.
    """

    numbers: NumberForm = NumberForm.WORDS
    spellings: Spellings = NO_SPELLINGS
    french_spaces: bool = False

    def __bool__(self) -> bool:
        """Tell whether these rules can make an overlay."""
        return self.numbers is NumberForm.DIGITS or bool(self.spellings)

    def joined(self, numbers: NumberForm, spellings: Mapping[str, str] | None) -> OverlayRules:
        """Return these rules joined with a session's own, which its segments carry. The session's spellings win."""
        if numbers is NumberForm.WORDS and not spellings:
            return self
        digits = NumberForm.DIGITS if NumberForm.DIGITS in (numbers, self.numbers) else NumberForm.WORDS
        return replace(self, numbers=digits, spellings=_joined(self.spellings, tuple((spellings or {}).items())))

    def may_apply(self, texts: Sequence[str], lang: str) -> bool:
        """Tell whether words of a language (BCP-47) may have an overlay. A cheap test: most words have none."""
        primary = primary_language(lang)
        if self.numbers is NumberForm.DIGITS and primary in EUROPEAN:
            if any(_says_number(text, primary) for text in texts):
                return True
        elif self.numbers is NumberForm.DIGITS:
            signs = 0
            for text in texts:
                signs |= _signs(text)
            if signs & _NUMBER or signs == _ONE | _BESIDE_ONE:
                return True
        return bool(self.spellings) and self.spellings.may_begin(texts)

    def over(self, stretches: Sequence[Stretch], lang: str) -> list[Overlay]:
        """Return the overlays of stretches in their order, disjoint; places are those of the stretches' words.

        Where a rule raises, the stretch has none, so its words go out as they were said, and the log has the exception.

        lang: the words' language (BCP-47).
        """
        primary = primary_language(lang)
        found: list[Overlay] = []
        for stretch in stretches:
            try:
                found += [overlay.moved(stretch.places) for overlay in self._found(stretch, primary)]
            except MemoryError:
                raise
            except Exception:  # noqa: BLE001 - whatever it is, it must cost no word
                _LOG.exception("a rule of overlays raised")
        return found

    def _found(self, stretch: Stretch, language: str) -> list[Overlay]:
        spelled = self.spellings.found(stretch) if self.spellings else ()
        if self.numbers is NumberForm.WORDS:
            return disjoint(spelled)
        if language in EUROPEAN:
            return disjoint(spelled, european_digits(stretch, language))
        spoken = english_digits(stretch) if any(map(is_number_word, stretch.words)) else ()
        return disjoint(spelled, spoken, chinese_digits(stretch))


@lru_cache(maxsize=1024)
def _joined(spellings: Spellings, others: tuple[tuple[str, str], ...]) -> Spellings:
    return spellings.joined(dict(others))


_NUMBER, _ONE, _BESIDE_ONE = 1, 2, 4
_ONES = frozenset(("one", *UNIT_ORDINALS))


@lru_cache(maxsize=2**14)
def _signs(text: str) -> int:
    """Return whether a word may be of a number, is one that is written only beside certain words, or is such a word."""
    view = model_view(text)
    if view in _ONES:
        return _ONE
    number = is_number_word(view) or any(char in NUMERALS for char in simplified(view))
    return _NUMBER if number else _BESIDE_ONE * (view in BESIDE_ONE)


@lru_cache(maxsize=2**14)
def _says_number(text: str, language: str) -> bool:
    return is_european_number(model_view(text), language)


NO_OVERLAYS = OverlayRules()
