"""An overlay, a text in place of a run of words; and the words among which overlays are looked for."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from caesura.schemas.segments import OverlayKind, PunctuationName


@dataclass(frozen=True, slots=True)
class Overlay:
    """A text in place of the words from ``begin`` to before ``end``."""

    begin: int
    end: int
    text: str
    kind: OverlayKind = "number"

    def moved(self, places: Sequence[int]) -> Overlay:
        """Return this with the places that its own places stand for; the last word's is the end's."""
        return replace(self, begin=places[self.begin], end=places[self.end - 1] + 1)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Words of one sentence that stand beside each other in a rendering.

    places: the index of each in its segment. words: the model's view of each. marks: the mark after each; only the
    last one's may end a sentence. begins, ends: whether the sentence begins and ends here; else words that are not
    seen may go on.
    """

    places: tuple[int, ...]
    words: tuple[str, ...]
    marks: tuple[PunctuationName, ...]
    begins: bool = True
    ends: bool = True


def disjoint(*found: Iterable[Overlay]) -> list[Overlay]:
    """Return overlays in order that share no word: those of an argument go before those of the next ones."""
    taken: list[Overlay] = []
    places: set[int] = set()
    for overlays in found:
        free = [overlay for overlay in overlays if places.isdisjoint(range(overlay.begin, overlay.end))]
        taken += free
        places.update(place for overlay in free for place in range(overlay.begin, overlay.end))
    return sorted(taken, key=lambda overlay: overlay.begin)


def in_groups(digits: str, lengths: Sequence[int]) -> Iterator[str]:
    """Yield digits in groups of these lengths, which add up to theirs."""
    at = 0
    for length in lengths:
        yield digits[at : at + length]
        at += length


def is_counting(digits: str) -> bool:
    """Tell whether digits count up or down one by one: 1234, 321."""
    return {int(second) - int(first) for first, second in itertools.pairwise(digits)} in ({1}, {-1})
