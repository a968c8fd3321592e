"""What a network says of a flush's last word, of which no later word is known: one pass over each point's words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.data.packing import pack
from caesura.models.decoding.last_words import of_last_words
from caesura.models.evaluation.false_stops import FlushPoint
from caesura.models.networks.registry import Network
from caesura.worker.inference.model.wordpiece import WordPiece

__all__ = ["flush_scores"]


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
    ends = np.cumsum([len(point.words) for point in points]).tolist()
    samples = [(end - len(point.words), end) for point, end in zip(points, ends, strict=True)]
    of_last = of_last_words(lambda *given: network(*given)[0], text, samples, leading, device=device, progress=progress)
    return of_last.log_softmax(dim=-1).double().numpy()


def _unlabelled(point: FlushPoint) -> AlignedDocument:
    words, unknown = list(point.words), [UNKNOWN] * len(point.words)
    return AlignedDocument("", "", words, unknown, unknown, unknown)
