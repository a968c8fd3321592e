"""How many sessions are tried next, to find the most that a machine carries: twice as many, then between the two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

__all__ = ["rising"]


def rising(first: int, most: int, carried: Mapping[int, bool], *, between: int) -> Iterator[int]:
    """Yield how many sessions next: doubled up to ``most`` while they are carried, then the middle, ``between`` times.

    carried: whether so many were; the caller adds each number's answer before it asks for the next. Where the first is
    too many, what lies between none and it is tried: nothing is taken for carried that was not.
    """
    sessions = first
    while sessions <= most:
        yield sessions
        if not carried[sessions]:
            break
        sessions *= 2
    else:
        return
    least, beyond = (sessions // 2 if sessions > first else 0), sessions
    for _ in range(between):
        middle = (least + beyond) // 2
        if middle == least:
            return
        yield middle
        least, beyond = (middle, beyond) if carried[middle] else (least, middle)
