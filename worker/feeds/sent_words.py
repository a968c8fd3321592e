"""Finds where in a hypothesis the unsent words begin, even if it changes words that were sent.

The sent words are matched with the beginning of the hypothesis by edit distance: how far each diagonal reaches after so
many edits (Ukkonen, "Algorithms for approximate string matching", 1985). The cost is words times edits, and edits are
few. If both are too different, each word is matched with the one at its place.
"""

from __future__ import annotations

from collections.abc import Sequence

MAX_EDITS = 64
"""So many edits are looked for: so many words sent, after those that are alike, are always matched exactly."""

_MAX_COMPARED = 200_000
"""About so many words are compared at most, twice over, besides each word of a hypothesis once."""


def words_alike(*several: Sequence[str]) -> int:
    """Return how many words all of them begin with; compares each word once."""
    count = 0
    for first, *others in zip(*several, strict=False):
        if any(other != first for other in others):
            break
        count += 1
    return count


def after_sent(sent: Sequence[str], texts: Sequence[str]) -> tuple[int, int]:
    """Return where in a hypothesis the words begin that were not sent yet, and how many sent ones it has otherwise.

    Of several places that are as good, the one that takes the words one for one.
    """
    alike = words_alike(sent, texts)
    if alike == len(sent):
        return alike, 0
    begin, edits = _matched(sent[alike:], texts[alike:])
    return alike + begin, edits


def _matched(sent: Sequence[str], texts: Sequence[str]) -> tuple[int, int]:
    """Return the length of the beginning that is most like what was sent, and the edits between them."""
    used: dict[int, int] = {}  # by diagonal (words of the hypothesis less those sent): the most sent words matched
    for edits in range(min(MAX_EDITS, _MAX_COMPARED // len(sent)) + 1):
        above, used = used, {}
        for diagonal in range(-min(edits, len(sent)), min(edits, len(texts)) + 1):
            furthest = max(above.get(diagonal, -1) + 1, above.get(diagonal - 1, -1), above.get(diagonal + 1, -1) + 1)
            end = min(len(sent), len(texts) - diagonal)
            count = min(furthest, end)
            while count < end and sent[count] == texts[count + diagonal]:
                count += 1
            used[diagonal] = count
        whole = [diagonal for diagonal, count in used.items() if count == len(sent)]
        if whole:
            nearest = min(whole, key=lambda diagonal: (abs(diagonal), diagonal))
            return len(sent) + nearest, edits
    begin = min(len(sent), len(texts))
    return begin, len(sent) - sum(one == other for one, other in zip(sent, texts, strict=False))
