"""A shorter look-ahead in some steps of training, because a stream has one too.

The decoder cuts as soon as T words follow a sentence's end, fewer than the network's look-ahead L (T = 6, L = 9), so it
reads words whose look-ahead is not there yet; and every labelling but the last reads such words at the buffer's end.
The last word of a flush has none behind it: where no word of a step sees a later one, each is such a word.
"""

from __future__ import annotations

import random

_LEAST_WORDS = 3


def drawn_look_ahead(look_ahead: tuple[int, ...], seed: int, *, share: float, unseeing: float = 0.0) -> tuple[int, ...]:
    """Return the L_i of a step: the network's own, or in a ``share`` of the steps less, taken from the top layers.

    The sum is then drawn from 3 … one less than the network's; in another share, ``unseeing``, it is 0.
    ``seed``: another one for each step.
    """
    rng, total = random.Random(seed), sum(look_ahead)
    drawn = rng.random()
    if drawn >= 1 - unseeing:
        return (0,) * len(look_ahead)
    if drawn >= share or total <= _LEAST_WORDS:
        return look_ahead
    return shortened_to(look_ahead, rng.randrange(_LEAST_WORDS, total))


def shortened_to(look_ahead: tuple[int, ...], total: int) -> tuple[int, ...]:
    """Return the L_i whose sum is ``total``, no more than theirs; what is taken is taken from the top layers first."""
    spare, words = sum(look_ahead) - total, list(look_ahead)
    for k in reversed(range(len(words))):
        taken = min(spare, words[k])
        words[k], spare = words[k] - taken, spare - taken
    return tuple(words)
