"""Packed text cut into training samples, and samples grouped by like length: what ``resident_text`` makes batches of.

As the paper trains (section 3.3): a sample is one or more whole sentences, so it begins where a sentence does; to half
of the samples the next sentence is appended up to a random word, so that the network does not learn to end every
input with a mark. The tail is also what a decoder's cut at T words reads: look-ahead that is not there yet. Some
samples may begin up to ten words before their sentence, as a buffer does after a cut (ADR 0014).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np

from caesura.models.data.packing import PackedText

Sample = tuple[int, int]
"""First word, and the word after the last."""

_SHORTEST_WORDS = 8
LONGEST_WORDS = 150
TAIL_SHARE = 0.5
_CONTEXT_WORDS = 10
_POOL_BATCHES = 40


def cut_samples(
    text: PackedText,
    rng: random.Random,
    tail_share: float = TAIL_SHARE,
    longest: int = LONGEST_WORDS,
    alone: float = 0.0,
) -> Iterator[Sample]:
    """Yield samples; their whole sentences cover the text once, in order.

    alone: the share of the samples that are one sentence by itself. tail_share: the share of the others with a first
    part of the next sentence at their end. longest: words.
    """
    starts = [*np.flatnonzero(text.starts_sentence).tolist(), text.words]
    k = 0
    while k < len(starts) - 1:
        begin = starts[k]
        if alone and rng.random() < alone:
            k += 1
            yield begin, min(starts[k], begin + longest)
            continue
        wanted = int(_SHORTEST_WORDS * (longest / _SHORTEST_WORDS) ** rng.random())
        k += 1
        while k < len(starts) - 1 and starts[k + 1] - begin <= wanted:
            k += 1
        end = min(starts[k], begin + longest)
        if k < len(starts) - 1 and end == starts[k] and rng.random() < tail_share:
            end += rng.randint(1, max(1, min(starts[k + 1] - starts[k] - 1, 40)))
        yield begin, min(end, text.words)


def with_left_context(samples: Sequence[Sample], rng: random.Random, share: float) -> Iterator[Sample]:
    """Yield the samples, a ``share`` of them with 1 to 10 of the words before them, whose labels count as well."""
    for begin, end in samples:
        before = rng.randint(1, _CONTEXT_WORDS) if rng.random() < share else 0
        yield max(begin - before, 0), end


def sample_groups(
    text: PackedText,
    *,
    max_pieces: int,
    seed: int,
    left_context: float = 0.0,
    alone: float = 0.0,
    tails: float = TAIL_SHARE,
    longest: int = LONGEST_WORDS,
) -> Iterator[list[Sample]]:
    """Yield groups of at most ``max_pieces`` padded pieces over all of the text, in a random order set by ``seed``.

    left_context: the share of the samples that begin before their sentence. alone, tails, longest: see ``cut_samples``.
    """
    rng = random.Random(seed)
    samples = list(cut_samples(text, rng, tails, longest, alone))
    rng.shuffle(samples)
    samples = list(with_left_context(samples, random.Random(seed), left_context))
    per_pool = max_pieces * _POOL_BATCHES
    pool: list[tuple[int, Sample]] = []
    pieces = 0
    for begin, end in samples:
        length = int(text.first_piece[end] - text.first_piece[begin]) + 1
        pool.append((length, (begin, end)))
        pieces += length
        if pieces >= per_pool:
            yield from _groups(pool, max_pieces, rng)
            pool, pieces = [], 0
    yield from _groups(pool, max_pieces, rng)


def _groups(pool: list[tuple[int, Sample]], max_pieces: int, rng: random.Random) -> list[list[Sample]]:
    """Return the samples of ``pool`` in groups of like length, in random order."""
    groups: list[list[Sample]] = []
    longest = 0
    for length, sample in sorted(pool):
        longest = max(longest, length)
        if not groups or longest * (len(groups[-1]) + 1) > max_pieces:
            groups.append([])
            longest = length
        groups[-1].append(sample)
    rng.shuffle(groups)
    return groups
