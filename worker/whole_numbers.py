"""Whole numbers in text from outside."""

from __future__ import annotations

MAX_PORT = 2**16 - 1
MAX_PARTITION = 2**31 - 1
MAX_OFFSET = 2**63 - 1


def whole_number(text: str, at_most: int) -> int | None:
    """Return the number that a text of ASCII digits says; None for another text, and for a number above the limit.

    ``str.isdigit`` takes digits that ``int`` does not read, and ``int`` raises for more than 4,300 digits.
    """
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(at_most)):
        return None
    number = int(text)
    return number if number <= at_most else None
