"""Which overlays a rendering has: spellings of one's own, and numbers as digits.

Overlays are found within one sentence, and share no word. A spelling goes before a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from caesura.schemas.segments import NumberForm
from caesura.worker.core.language.normalisation import model_view
from caesura.worker.core.language.traditional import simplified
from caesura.worker.core.numbers.chinese_numbers import NUMERALS
from caesura.worker.core.numbers.spoken_numbers import is_number_word
from caesura.worker.core.overlays.chinese_digits import chinese_digits
from caesura.worker.core.overlays.english_digits import BESIDE_ONE, english_digits
from caesura.worker.core.overlays.overlay import Overlay, Stretch, disjoint
from caesura.worker.core.overlays.spellings import NO_SPELLINGS, Spellings

__all__ = ["NO_OVERLAYS", "OverlayRules"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayRules:
    """What is written otherwise than it was said. numbers: as digits, those that are sure, or as they were said.

    french_spaces: a narrow no-break space before a French question mark; it is no overlay of words.
    """

    numbers: NumberForm = NumberForm.WORDS
    spellings: Spellings = NO_SPELLINGS
    french_spaces: bool = False

    def __bool__(self) -> bool:
        """Tell whether there may be an overlay at all."""
        return self.numbers is NumberForm.DIGITS or bool(self.spellings)

    def joined(self, numbers: NumberForm, spellings: Mapping[str, str] | None) -> OverlayRules:
        """Return these rules with a session's wishes besides, as ``segments`` carry them; its spellings win."""
        if numbers is NumberForm.WORDS and not spellings:
            return self
        digits = NumberForm.DIGITS if NumberForm.DIGITS in (numbers, self.numbers) else NumberForm.WORDS
        return replace(self, numbers=digits, spellings=_joined(self.spellings, tuple((spellings or {}).items())))

    def may_apply(self, texts: Sequence[str]) -> bool:
        """Tell whether words may have an overlay: most have none."""
        if self.numbers is NumberForm.DIGITS:
            signs = 0
            for text in texts:
                signs |= _signs(text)
            if signs & _NUMBER or signs == _ONE | _BESIDE_ONE:
                return True
        return bool(self.spellings) and self.spellings.may_begin(texts)

    def over(self, stretches: Sequence[Stretch]) -> list[Overlay]:
        """Return the overlays of stretches in their order, disjoint; places are those of the stretches' words."""
        return [overlay.moved(stretch.places) for stretch in stretches for overlay in self._found(stretch)]

    def _found(self, stretch: Stretch) -> list[Overlay]:
        spelled = self.spellings.found(stretch) if self.spellings else ()
        if self.numbers is NumberForm.WORDS:
            return disjoint(spelled)
        spoken = english_digits(stretch) if any(map(is_number_word, stretch.words)) else ()
        return disjoint(spelled, spoken, chinese_digits(stretch))


@lru_cache(maxsize=1024)
def _joined(spellings: Spellings, others: tuple[tuple[str, str], ...]) -> Spellings:
    return spellings.joined(dict(others))


_NUMBER, _ONE, _BESIDE_ONE = 1, 2, 4
_ONES = frozenset("one first second third fourth fifth sixth seventh eighth ninth".split())  # noqa: SIM905


@lru_cache(maxsize=2**14)
def _signs(text: str) -> int:
    """Return whether a word may be of a number, is one that is written only beside certain words, or is such a word."""
    view = model_view(text)
    if view in _ONES:
        return _ONE
    number = is_number_word(view) or any(char in NUMERALS for char in simplified(view))
    return _NUMBER if number else _BESIDE_ONE * (view in BESIDE_ONE)


NO_OVERLAYS = OverlayRules()
