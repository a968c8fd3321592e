"""Which overlays a rendering has: numbers as digits, spellings of one's own.

Overlays are found within one sentence, and share no word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from worker.core.overlays.chinese_digits import chinese_digits
from worker.core.overlays.english_digits import english_digits
from worker.core.overlays.overlay import Overlay, Stretch, disjoint
from worker.core.spoken_numbers import is_number_word

__all__ = ["NO_OVERLAYS", "OverlayRules"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayRules:
    """What is written otherwise than it was said. digits: numbers that are sure."""

    digits: bool = False

    def over(self, stretches: Sequence[Stretch]) -> list[Overlay]:
        """Return the overlays of stretches in their order, disjoint; places are those of the stretches' words."""
        return [overlay.moved(stretch.places) for stretch in stretches for overlay in self._found(stretch)]

    def __bool__(self) -> bool:
        """Tell whether there may be an overlay at all."""
        return self.digits

    def _found(self, stretch: Stretch) -> list[Overlay]:
        if not self.digits:
            return []
        spoken = english_digits(stretch) if any(map(is_number_word, stretch.words)) else []
        return disjoint(spoken, chinese_digits(stretch))


NO_OVERLAYS = OverlayRules()
