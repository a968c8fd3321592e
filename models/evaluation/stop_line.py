"""False stops against true ends as a line: what a network knows of an end, apart from how often it says so.

A constant added to the scores of period and question moves both shares at once (``false_stops``), so
two networks are told apart by the false stops that each has where as many true ends get a mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from caesura.schemas.labels import Punctuation

_ENDS = [mark.value for mark in Punctuation if mark.ends_sentence]
_CONSTANTS = np.arange(-80, 81) / 20


@dataclass(frozen=True, slots=True, kw_only=True)
class OnLine:
    """One place of the line. constant: of period and question. false, ends: stops in mid-sentence, at ends, in %."""

    constant: float
    false: float
    ends: float


@dataclass(frozen=True, slots=True)
class StopLine:
    """The places that were computed, by constant; none of the shares falls from one to the next."""

    places: Sequence[OnLine]

    @property
    def as_it_is(self) -> OnLine:
        """The place without a constant."""
        return min(self.places, key=lambda place: abs(place.constant))

    def where(self, ends: float) -> OnLine:
        """Return the place at which ``ends`` % of the true ends get a mark, between two that were computed.

        ValueError where the line does not reach so far.
        """
        lowest, highest = self.places[0].ends, self.places[-1].ends
        if not lowest <= ends <= highest:
            raise ValueError(f"the line has {lowest:.1f} to {highest:.1f} % of the true ends, not {ends:.1f}")
        first = next(number for number, place in enumerate(self.places) if place.ends >= ends)
        before, after = self.places[max(first - 1, 0)], self.places[first]
        share = (ends - before.ends) / (after.ends - before.ends) if after.ends > before.ends else 1.0
        return OnLine(
            constant=before.constant + share * (after.constant - before.constant),
            false=before.false + share * (after.false - before.false),
            ends=ends,
        )


def stop_line(said: NDArray[np.float64], marks: NDArray[np.int8]) -> StopLine:
    """Return the line of flushes. said: log probabilities (points, P) of the last words. marks: the text's (points,).

    ValueError where no point lies at an end, or none inside a sentence.
    """
    at_end = np.isin(marks, _ENDS)
    if at_end.all() or not at_end.any():
        raise ValueError("a line wants points at ends of sentences and inside them")
    places = []
    for constant in _CONSTANTS:
        moved = said.copy()
        moved[:, _ENDS] += constant
        stops = np.isin(moved.argmax(axis=1), _ENDS)
        false, ends = (100 * float(stops[asked].mean()) for asked in (~at_end, at_end))
        places.append(OnLine(constant=float(constant), false=false, ends=ends))
    return StopLine(places)
