"""Packed text cut into training samples, and samples grouped into batches of like length.

As the paper trains (section 3.3): a sample is one or more whole sentences, so it begins where a sentence does; to half
of the samples the next sentence is appended up to a random word, so that the network does not learn to end every
input with a mark. The tail is also what a decoder's cut at T words reads: look-ahead that is not there yet. Some
samples may begin up to ten words before their sentence, as a buffer does after a cut (ADR 0014).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from models.data.aligned import UNKNOWN
from models.data.packing import PackedText
from models.data.taught import Taught
from models.networks.ct_transformer import PADDING_WORD

__all__ = ["TAIL_SHARE", "Batch", "batches", "collate", "cut_samples", "with_left_context"]

_IGNORED = -100
_SHORTEST_WORDS, _LONGEST_WORDS = 8, 150
TAIL_SHARE = 0.5
_CONTEXT_WORDS = 10
_POOL_BATCHES = 40


@dataclass(frozen=True, slots=True)
class Batch:
    """pieces, word_index, punctuation, disfluency: each (B, S); labels stand at last pieces, elsewhere -100.

    taught: a teacher's probabilities (B, S, P + Q) at last pieces, zeros where it said nothing; None without a teacher.
    """

    pieces: Tensor
    word_index: Tensor
    punctuation: Tensor
    disfluency: Tensor
    words: int
    taught: Tensor | None = None

    def to(self, device: str) -> Batch:
        """Return the batch on a device."""
        return Batch(
            self.pieces.to(device),
            self.word_index.to(device),
            self.punctuation.to(device),
            self.disfluency.to(device),
            self.words,
            None if self.taught is None else self.taught.to(device),
        )


def cut_samples(text: PackedText, rng: random.Random, tail_share: float = TAIL_SHARE) -> Iterator[tuple[int, int]]:
    """Yield samples as (first word, word after the last); their whole sentences cover the text once, in order.

    tail_share: the share of the samples with a first part of the next sentence at their end.
    """
    starts = [*np.flatnonzero(text.starts_sentence).tolist(), text.words]
    k = 0
    while k < len(starts) - 1:
        begin = starts[k]
        wanted = int(_SHORTEST_WORDS * (_LONGEST_WORDS / _SHORTEST_WORDS) ** rng.random())
        k += 1
        while k < len(starts) - 1 and starts[k + 1] - begin <= wanted:
            k += 1
        end = min(starts[k], begin + _LONGEST_WORDS)
        if k < len(starts) - 1 and end == starts[k] and rng.random() < tail_share:
            end += rng.randint(1, max(1, min(starts[k + 1] - starts[k] - 1, 40)))
        yield begin, min(end, text.words)


def collate(text: PackedText, samples: Sequence[tuple[int, int]], leading: int, taught: Taught | None = None) -> Batch:
    """Return one batch of samples, padded to the longest, each beginning with the piece ``leading``."""
    lengths = [int(text.first_piece[end] - text.first_piece[begin]) + 1 for begin, end in samples]
    shape = (len(samples), max(lengths))
    pieces = np.zeros(shape, dtype=np.int64)
    word_index = np.full(shape, PADDING_WORD, dtype=np.int64)
    punctuation = np.full(shape, _IGNORED, dtype=np.int64)
    disfluency = np.full(shape, _IGNORED, dtype=np.int64)
    told = None if taught is None else np.zeros((*shape, taught.shape[1]), dtype=np.float32)
    for row, (begin, end) in enumerate(samples):
        firsts = text.first_piece[begin : end + 1]
        size = lengths[row]
        pieces[row, 0], word_index[row, 0] = leading, 0
        pieces[row, 1:size] = text.pieces[firsts[0] : firsts[-1]]
        word_index[row, 1:size] = np.repeat(np.arange(1, end - begin + 1), np.diff(firsts))
        last = firsts[1:] - firsts[0]
        punctuation[row, last] = _masked(text.punctuation[begin:end])
        disfluency[row, last] = _masked(text.disfluency[begin:end])
        if taught is not None and told is not None:
            told[row, last] = taught[begin:end]
    return Batch(
        torch.from_numpy(pieces),
        torch.from_numpy(word_index),
        torch.from_numpy(punctuation),
        torch.from_numpy(disfluency),
        words=sum(end - begin for begin, end in samples),
        taught=None if told is None else torch.from_numpy(told),
    )


def _masked(labels: np.ndarray[tuple[int], np.dtype[np.int8]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.where(labels == UNKNOWN, _IGNORED, labels.astype(np.int64))


def with_left_context(
    samples: Sequence[tuple[int, int]], rng: random.Random, share: float
) -> Iterator[tuple[int, int]]:
    """Yield the samples, a ``share`` of them with 1 to 10 of the words before them, whose labels count as well."""
    for begin, end in samples:
        before = rng.randint(1, _CONTEXT_WORDS) if rng.random() < share else 0
        yield max(begin - before, 0), end


def batches(
    text: PackedText,
    leading: int,
    *,
    max_pieces: int,
    seed: int,
    taught: Taught | None = None,
    left_context: float = 0.0,
    tails: float = TAIL_SHARE,
) -> Iterator[Batch]:
    """Yield batches of at most ``max_pieces`` padded pieces over all of the text, in a random order set by ``seed``.

    taught: what a teacher says of each word. left_context: the share of the samples that begin before their sentence.
    tails: the share that ends inside a sentence (``cut_samples``).
    """
    rng = random.Random(seed)
    samples = list(cut_samples(text, rng, tails))
    rng.shuffle(samples)
    samples = list(with_left_context(samples, random.Random(seed), left_context))
    per_pool = max_pieces * _POOL_BATCHES
    pool: list[tuple[int, tuple[int, int]]] = []
    pieces = 0
    for begin, end in samples:
        length = int(text.first_piece[end] - text.first_piece[begin]) + 1
        pool.append((length, (begin, end)))
        pieces += length
        if pieces >= per_pool:
            yield from (collate(text, group, leading, taught) for group in _groups(pool, max_pieces, rng))
            pool, pieces = [], 0
    yield from (collate(text, group, leading, taught) for group in _groups(pool, max_pieces, rng))


def _groups(
    pool: list[tuple[int, tuple[int, int]]], max_pieces: int, rng: random.Random
) -> list[list[tuple[int, int]]]:
    """Return the samples of ``pool`` in groups of like length, in random order."""
    groups: list[list[tuple[int, int]]] = []
    longest = 0
    for length, sample in sorted(pool):
        longest = max(longest, length)
        if not groups or longest * (len(groups[-1]) + 1) > max_pieces:
            groups.append([])
            longest = length
        groups[-1].append(sample)
    rng.shuffle(groups)
    return groups
