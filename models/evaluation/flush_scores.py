"""What a network says of a flush's last word, of which no later word is known: one pass over each point's words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from models.data.aligned_words import UNKNOWN, AlignedDocument
from models.data.packing import pack
from models.data.resident_text import ResidentText
from models.evaluation.false_stops import FlushPoint
from models.networks.arithmetic import quick_arithmetic
from models.networks.registry import Network
from worker.adapters.onnx.wordpiece import WordPiece

__all__ = ["flush_scores"]

_AT_ONCE = 64


def flush_scores(
    network: Network,
    points: Sequence[FlushPoint],
    tokenizer: WordPiece,
    leading: int,
    *,
    device: str = "cpu",
    progress: Callable[[int], None] = lambda _: None,
) -> NDArray[np.float64]:
    """Return the log probabilities (points, P) of each point's last word; there is a point at least.

    leading: the number of the piece before the words.
    progress: told how many points are done since it was told last.
    """
    network.to(device).eval()
    text = pack([_unlabelled(point) for point in points], tokenizer)
    resident = ResidentText(text, leading, device=device)
    ends = np.cumsum([len(point.words) for point in points])
    samples = [(end - len(point.words), end) for point, end in zip(points, ends.tolist(), strict=True)]
    pieces = np.diff(text.first_piece[np.concatenate([[0], ends])])  # of each point
    by_length = np.argsort(pieces, kind="stable")
    said: list[NDArray[np.float64]] = []
    for first in range(0, len(points), _AT_ONCE):
        some = by_length[first : first + _AT_ONCE]
        batch = resident.batch([samples[k] for k in some])
        with torch.no_grad(), quick_arithmetic(batch.pieces.device.type):
            marks = network(batch.pieces, batch.word_index)[0]
        last = torch.from_numpy(pieces[some])  # the leading piece is the first
        of_last = marks.float().cpu()[torch.arange(len(some)), last]
        said.append(of_last.log_softmax(dim=-1).double().numpy())
        progress(len(some))
    return np.concatenate(said)[np.argsort(by_length)]


def _unlabelled(point: FlushPoint) -> AlignedDocument:
    words, unknown = list(point.words), [UNKNOWN] * len(point.words)
    return AlignedDocument("", "", words, unknown, unknown, unknown)
