"""A number found among words: what ``spoken_numbers`` and its two readers return."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class NumberKind(StrEnum):
    """What a number says."""

    CARDINAL = "cardinal"
    DECIMAL = "decimal"
    ORDINAL = "ordinal"
    DIGITS = "digits"
    YEAR = "year"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class NumberSpan:
    """The words from ``begin`` to before ``end`` and the number that they say; the module says what ``value`` is."""

    begin: int
    end: int
    kind: NumberKind
    value: str

    def moved(self, by: int) -> NumberSpan:
        """Return this so many words further on."""
        return replace(self, begin=self.begin + by, end=self.end + by)
