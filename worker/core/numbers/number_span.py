"""A number found among words: what ``spoken_numbers`` and its two readers return."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["NumberKind", "NumberSpan"]


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
