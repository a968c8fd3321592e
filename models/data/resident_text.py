"""Packed text as tensors of one device, and batches gathered from it there: what a training reads, step after step.

A GPU waits for a batch that is put together word by word on a core of the host, so the text lies where the network
does, once, and a batch is an index into it. On a CPU the same code gathers from the host's memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from caesura.models.data.packing import PackedText
from caesura.models.data.samples import LONGEST_WORDS, TAIL_SHARE, Sample, sample_groups
from caesura.models.data.soft_labels import Taught
from caesura.worker.inference.network.full_network import PADDING_WORD

IGNORED = -100
"""The label of a piece that is not a word's last, or whose word's label nobody knows."""

_LENGTHS = 8  # of a batch on a GPU, whose matrix units want a multiple of it


@dataclass(frozen=True, slots=True)
class Batch:
    """pieces, word_index, punctuation, disfluency, casing: each (B, S); labels stand at last pieces, elsewhere -100.

    taught: a teacher's probabilities (B, S, P + Q + C) at last pieces, zeros where it said nothing; None without a
    teacher.
    """

    pieces: Tensor
    word_index: Tensor
    punctuation: Tensor
    disfluency: Tensor
    casing: Tensor
    words: int
    taught: Tensor | None = None


class ResidentText:
    """The arrays of a packed text, and a teacher's rows if there are any, on a device."""

    def __init__(self, text: PackedText, leading: int, taught: Taught | None = None, *, device: str = "cpu") -> None:
        """Copy the text to ``device``. leading: the piece that each sample begins with."""
        sizes = np.diff(text.first_piece)
        last = np.zeros(len(text.pieces), dtype=np.bool_)
        last[text.first_piece[1:] - 1] = True
        self.text = text
        self._leading = leading
        self._device = device
        self._pieces = self._moved(text.pieces.astype(np.int32))
        self._word = self._moved(np.repeat(np.arange(text.words, dtype=np.int32), sizes))
        self._last = self._moved(last)
        self._labels = [self._moved(labels) for labels in (text.punctuation, text.disfluency, text.casing)]
        self._taught = None if taught is None else self._moved(np.ascontiguousarray(taught))

    def _moved(self, array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> Tensor:
        return torch.from_numpy(array).to(self._device)

    def batch(self, samples: Sequence[Sample]) -> Batch:
        """Return one batch of samples, padded to the longest."""
        bounds = np.asarray(samples, dtype=np.int64)
        first, end = self.text.first_piece[bounds[:, 0]], self.text.first_piece[bounds[:, 1]]
        longest = int((end - first).max()) + 1
        length = longest if self._device == "cpu" else -(-longest // _LENGTHS) * _LENGTHS
        begin, start, stop = (
            torch.from_numpy(np.stack([bounds[:, 0], first, end])).to(self._device, non_blocking=True).unsqueeze(-1)
        )
        place = start - 1 + torch.arange(length, device=self._device)  # (B, S), the leading piece one before the first
        inside = (place >= start) & (place < stop)
        place = place.clamp(0, len(self._pieces) - 1)
        word = self._word[place].long()
        ends_word = inside & self._last[place]
        numbers = torch.where(inside, word - begin + 1, PADDING_WORD)
        pieces = torch.where(inside, self._pieces[place].long(), 0)
        numbers[:, 0], pieces[:, 0] = 0, self._leading
        punctuation, disfluency, casing = (
            torch.where(ends_word & (labels[word] >= 0), labels[word].long(), IGNORED) for labels in self._labels
        )
        taught = None
        if self._taught is not None:
            taught = torch.where(ends_word.unsqueeze(-1), self._taught[word].float(), 0.0)
        words = int((bounds[:, 1] - bounds[:, 0]).sum())
        return Batch(pieces, numbers, punctuation, disfluency, casing, words, taught)


def batches(
    resident: ResidentText,
    *,
    max_pieces: int,
    seed: int,
    left_context: float = 0.0,
    tails: float = TAIL_SHARE,
    longest: int = LONGEST_WORDS,
) -> Iterator[Batch]:
    """Yield batches over all of the text, in a random order set by ``seed``; see ``samples``."""
    groups = sample_groups(
        resident.text,
        max_pieces=max_pieces,
        seed=seed,
        left_context=left_context,
        tails=tails,
        longest=longest,
    )
    return map(resident.batch, groups)
