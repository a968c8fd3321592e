"""Packed tests labelled in double-overlap windows, many at once, on whatever device the network is.

Discriminative self-training (Chen et al. 2021), section 3.3: a window of ``size`` words moves on by what is left of it
without ``left`` words of context before and ``right`` after; only the labels between are kept. Its values for English
are 120, 35 and 15. Parts that fit a window are read whole, so a test cut into sentences is read a sentence at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from caesura.models.data.packed_tests import PackedTest
from caesura.models.data.resident_text import ResidentText
from caesura.models.decoding.checkpoint_engine import CheckpointEngine
from caesura.models.decoding.constrained_decoder import labeller
from caesura.models.decoding.labelling_runs import label_streams
from caesura.models.decoding.overlapping_chunks import CHUNK_WORDS, MIN_WORDS_CUT, WINDOW_WORDS, Chunk, split
from caesura.models.networks.arithmetic import quick_arithmetic
from caesura.models.networks.registry import Network

_MAX_WORDS = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubleOverlap:
    """How text is read: windows of ``size`` words, of which ``left`` and ``right`` are context only."""

    size: int = 120
    left: int = 35
    right: int = 15

    def __post_init__(self) -> None:
        """Refuse a window that keeps nothing."""
        if min(self.left, self.right) < 0 or self.size <= self.left + self.right:
            raise ValueError(f"{self} keeps no word of a window")

    @property
    def step(self) -> int:
        """How many words a window moves on by."""
        return self.size - self.left - self.right

    def windows(self, begin: int, end: int) -> list[Chunk]:
        """Return the windows over the words from ``begin`` to ``end``, numbered as these are."""
        found = split(end - begin, chunk=self.size, window=self.step, min_words_cut=self.right)
        return [
            Chunk(start=one.start + begin, end=one.end + begin, first=one.first + begin, last=one.last + begin)
            for one in found
        ]


CHUNKS = DoubleOverlap(size=CHUNK_WORDS, left=CHUNK_WORDS - WINDOW_WORDS - MIN_WORDS_CUT, right=MIN_WORDS_CUT)
"""How a network that sees all it is given labels a stream (``overlapping_chunks``)."""


def label_test(
    network: Network,
    test: PackedTest,
    cut: str,
    *,
    leading: int,
    overlap: DoubleOverlap | None = None,
    device: str = "cpu",
) -> NDArray[np.int8]:
    """Return the marks and tags (2, words) of a test, cut one way. leading: the piece that stands before the words."""
    label = labeller(network.to(device).eval())
    overlap = overlap or DoubleOverlap()
    text = ResidentText(test.text, leading, device=device)
    windows = [window for begin, end in test.cut(cut).tolist() for window in overlap.windows(begin, end)]
    labels = np.zeros((2, test.text.words), dtype=np.int8)
    for group in _groups(windows):
        batch = text.batch([(window.start, window.end) for window in group])
        with torch.no_grad(), quick_arithmetic(device):
            scores = label(batch.pieces, batch.word_index)
        heads = [head.argmax(dim=-1).cpu().numpy() for head in scores[:2]]
        for row, window in enumerate(group):
            last_pieces = (
                test.text.first_piece[window.first + 1 : window.last + 1] - test.text.first_piece[window.start]
            )
            for kept, head in zip(labels, heads, strict=True):
                kept[window.first : window.last] = head[row, last_pieces]
    return labels


def stream_test(
    network: Network, test: PackedTest, vocabulary: Sequence[str], *, device: str = "cpu"
) -> NDArray[np.int8]:
    """Return the marks and tags (2, words) that are frozen where each part of running text is a stream of its own.

    The words go through the worker's own decoding, all streams at once. vocabulary: of the pieces of the test.
    """
    words = test.words(vocabulary)
    engine = CheckpointEngine(network, vocabulary, device=device)
    streams = [words[begin:end] for begin, end in test.running.tolist()]
    labelled = label_streams(engine, streams, language=engine.models[0].language)
    return np.array([[label for one in labelled for label in one[head]] for head in (0, 1)], dtype=np.int8)


def _groups(windows: Sequence[Chunk]) -> Iterator[list[Chunk]]:
    """Yield the windows that hold a word in groups of like length, of ``_MAX_WORDS`` padded words at most."""
    group: list[Chunk] = []
    for window in sorted((w for w in windows if w.end > w.start), key=lambda window: window.end - window.start):
        if group and (window.end - window.start) * (len(group) + 1) > _MAX_WORDS:
            yield group
            group = []
        group.append(window)
    if group:
        yield group
