"""What a step computes of a buffer, layer by layer, so that no row is computed twice (docs/design.md, *The engine*).

Words are numbered from 1, the leading piece is word 0; a row is a piece; layer k looks L_k words ahead, and
c_k = L_1 + … + L_k. What layer k says of word p depends on the words up to p + c_k and on nothing later. With a
look-back W each layer sees W words before a word, and the leading piece (docs/engine.md); without one it sees them all.

Rules:

1. **Wavefront.** Where n words are in, layer k's rows up to word n - c_k are final; a step computes those that became
   final by it, and they are kept as the keys and values of layer k + 1.
2. **Tail.** Of the rows behind them a step computes what the wanted labels need, and nothing of it is kept: layer k's
   up to word e_k, where e_K is the last wanted word and e_(k-1) = min(e_k + L_k, n).
3. So what a layer computes is one stretch of rows, and what the next layer takes in is the same stretch.
4. The last layer computes the wanted words' last rows alone: labels are read there, and nothing else is.
5. What a layer has taken in and cannot use yet waits: the rows that are final before it and not final behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

import msgspec


class Step(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One step of one buffer; index k of a sequence is layer k's, 0 standing for the embedding.

    computed: first row and the one behind the last that layer k computes (k < K). wanted: the rows of layer K whose
    labels are wanted, ascending. final: how many rows of layer k are final behind the step (0 … K).
    waited: how many were final before it. visible: how many rows there are up to the last that each computed row of
    layer k sees (k > 0; those of layer K belong to ``wanted``), and since: the first that it sees but for the leading
    piece's. sees_as_before: whether layer k's, both of them, are those of layer k - 1. needed: the first row
    that a later step may look at, but for the leading piece's. layer_rows: words computed, over all layers; the leading
    piece is none.
    """

    computed: tuple[tuple[int, int], ...]
    wanted: tuple[int, ...]
    final: tuple[int, ...]
    waited: tuple[int, ...]
    visible: tuple[tuple[int, ...], ...]
    since: tuple[tuple[int, ...], ...]
    sees_as_before: tuple[bool, ...]
    needed: int
    layer_rows: int


def plan(
    look_ahead: Sequence[int],
    ends: Sequence[int],
    word_of: Sequence[int],
    *,
    done_words: int | None,
    first: int,
    end: int,
    look_back: int | None = None,
) -> Step | None:
    """Plan the step that brings a buffer to its ``len(ends) - 1`` words; None where a wanted row is gone.

    ends: the row behind each word's last one, word 0 first. word_of: each row's word.
    done_words: how many words were in at the last step; None: there was none.
    first, end: the labels of words first + 1 … end are wanted.
    """
    words, layers = len(ends) - 1, len(look_ahead)
    ahead, below = _sums(tuple(look_ahead))
    final = _final(ahead, ends, words)
    waited = (0,) * len(ahead) if done_words is None else _final(ahead, ends, done_words)
    wanted = tuple([ends[word] - 1 for word in range(first + 1, end + 1)])
    if wanted and wanted[0] < waited[-1]:
        return None
    heard = end + ahead[-1]  # the last word that a wanted label looks at, if it is there; behind it there is no tail
    stops = [ends[min(heard - c, words)] for c in ahead[:-1]] if wanted and heard > words else final[:-1]
    computed = tuple(zip(waited[:-1], stops, strict=True))
    before = words if look_back is None else look_back
    # What the rows see that any layer but the last computes: no layer begins before the one above it, or ends later.
    low, high = (computed[-1][0], computed[1][1]) if layers > 1 else (0, 0)
    seers = word_of[low:high]
    begins = _begins(seers, ends, before)
    sees = {further: _ends(seers, ends, words, further) for further in below}
    visible: list[tuple[int, ...]] = [()]
    since: list[tuple[int, ...]] = [()]
    same = [False] * (layers + 1)
    layer_rows, computed_words = len(wanted), 0
    for k in range(1, layers):
        further, (start, stop) = look_ahead[k - 1], computed[k]
        if k > 1 and further == look_ahead[k - 2] and computed[k] == computed[k - 1]:
            same[k] = True
            visible.append(visible[-1])
            since.append(since[-1])
        else:
            computed_words = word_of[stop - 1] - (word_of[start] or 1) + 1 if start < stop else 0
            visible.append(sees[further][start - low : stop - low])
            since.append(begins[start - low : stop - low])
        layer_rows += computed_words
    asked = range(first + 1, end + 1)
    visible.append(_ends(asked, ends, words, look_ahead[-1]))
    since.append(_begins(asked, ends, before))
    return Step(
        computed=computed,
        wanted=wanted,
        final=final,
        waited=waited,
        visible=tuple(visible),
        since=tuple(since),
        sees_as_before=tuple(same),
        needed=ends[max(words - ahead[-1] - before, 0)],
        layer_rows=layer_rows,
    )


@lru_cache(maxsize=64)
def _sums(look_ahead: tuple[int, ...]) -> tuple[tuple[int, ...], frozenset[int]]:
    """Return c_0 … c_K of a network's layers, and the L of all of them but the last."""
    return tuple(accumulate(look_ahead, initial=0)), frozenset(look_ahead[:-1])


def _ends(seers: Sequence[int], ends: Sequence[int], words: int, further: int) -> tuple[int, ...]:
    """Return up to which row the rows of these words see."""
    return tuple([ends[min(word + further, words)] for word in seers])


def _begins(seers: Sequence[int], ends: Sequence[int], before: int) -> tuple[int, ...]:
    """Return from which row on they do."""
    return tuple([ends[word - before - 1] if word > before else 1 for word in seers])


def _final(ahead: Sequence[int], ends: Sequence[int], words: int) -> tuple[int, ...]:
    return tuple([ends[words - count] if words >= count else 0 for count in ahead])
