"""The parity gate: torch, ONNX in fp32 and ONNX in int8 must say the same, or the export is refused.

1. fp32: every score within ``SCORE_TOLERANCE`` of torch's, and every label equal whose margin (best score less second
   best) is above twice that;
2. int8: labels equal to fp32's for ``INT8_AGREEMENT`` of the words at least;
3. int8 in one batch of buffers of mixed length against one buffer at a time: no label differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from caesura.models.networks.ct_transformer import CTTransformer
from caesura.worker.inference.model.heads import Scores
from caesura.worker.inference.model.wordpiece import WordPiece
from caesura.worker.inference.network.full_network import PADDING_WORD
from caesura.worker.inference.network.inference_session import open_graph

SCORE_TOLERANCE = 2e-3
INT8_AGREEMENT = 0.985
BATCH = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Parity:
    """What was compared and how far apart it was; ``failures`` says what the gate refuses.

    labels: how many there were, one a head and word.
    """

    words: int
    labels: int
    fp32_largest_difference: float
    fp32_labels_differing: int
    int8_labels_differing: int
    int8_batch_labels_differing: int

    @property
    def failures(self) -> list[str]:
        """Return the rules broken, in words; none where the gate is open."""
        broken: list[str] = []
        if self.fp32_largest_difference > SCORE_TOLERANCE:
            broken.append(f"fp32 scores differ by {self.fp32_largest_difference:.2e}, more than {SCORE_TOLERANCE}")
        if self.fp32_labels_differing:
            broken.append(f"{self.fp32_labels_differing} fp32 labels differ outside the margin")
        if self.int8_labels_differing > (1 - INT8_AGREEMENT) * self.labels:
            broken.append(f"{self.int8_labels_differing} of {self.labels} int8 labels differ from fp32")
        if self.int8_batch_labels_differing:
            broken.append(f"{self.int8_batch_labels_differing} int8 labels depend on the batch")
        return broken


def mixed_buffers(words: Sequence[str]) -> list[list[str]]:
    """Cut running words into buffers of 3 to 150 words, their lengths well mixed."""
    buffers: list[list[str]] = []
    start, length = 0, 3
    while start < len(words):
        buffers.append(list(words[start : start + length]))
        start += length
        length = length * 7 % 148 + 3
    return buffers


def encode(
    buffers: Sequence[Sequence[str]], tokenizer: WordPiece, leading: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[list[int]]]:
    """Return pieces (B, S), word numbers (B, S), and the places of each buffer's last pieces."""
    rows = [[tokenizer.pieces(word) for word in words] for words in buffers]
    length = 1 + max(sum(map(len, row)) for row in rows)
    pieces = np.zeros((len(rows), length), dtype=np.int64)
    word_index = np.full((len(rows), length), PADDING_WORD, dtype=np.int64)
    last: list[list[int]] = []
    for place, row in enumerate(rows):
        flat = [leading, *(number for word in row for number in word)]
        pieces[place, : len(flat)] = flat
        word_index[place, : len(flat)] = [0, *(k for k, word in enumerate(row, start=1) for _ in word)]
        last.append(np.cumsum([len(word) for word in row]).tolist())
    return pieces, word_index, last


def check_parity(
    network: CTTransformer,
    fp32: Path,
    int8: Path,
    buffers: Sequence[Sequence[str]],
    tokenizer: WordPiece,
    leading: int,
) -> Parity:
    """Compare the three on the same buffers of words, ``BATCH`` at a time."""
    single, whole = open_graph("exported", fp32, threads=1), open_graph("exported", int8, threads=1)
    words = compared = largest = outside = quantised = batched = 0.0
    for start in range(0, len(buffers), BATCH):
        pieces, word_index, last = encode(buffers[start : start + BATCH], tokenizer, leading)
        with torch.no_grad():
            outputs = network.eval()(torch.from_numpy(pieces), torch.from_numpy(word_index))
        ours: Scores = [head.numpy() for head in outputs]
        theirs, small = _run(single, pieces, word_index), _run(whole, pieces, word_index)
        if not len(ours) == len(theirs) == len(small):
            raise ValueError(f"the network has {len(ours)} heads, its exports {len(theirs)} and {len(small)}")
        for row, places in enumerate(last):
            words += len(places)
            end = places[-1] + 1
            alone = _run(whole, pieces[row : row + 1, :end], word_index[row : row + 1, :end])
            compared += len(ours) * len(places)
            for head in range(len(ours)):
                reference, exported = ours[head][row, places], theirs[head][row, places]
                largest = max(largest, float(np.abs(reference - exported).max()))
                ranked = np.sort(reference, axis=-1)
                differs = reference.argmax(-1) != exported.argmax(-1)
                outside += int((differs & (ranked[:, -1] - ranked[:, -2] > 2 * SCORE_TOLERANCE)).sum())
                labels = small[head][row, places].argmax(-1)
                quantised += int((labels != exported.argmax(-1)).sum())
                batched += int((labels != alone[head][0, places].argmax(-1)).sum())
    return Parity(
        words=int(words),
        labels=int(compared),
        fp32_largest_difference=largest,
        fp32_labels_differing=int(outside),
        int8_labels_differing=int(quantised),
        int8_batch_labels_differing=int(batched),
    )


def _run(session: Any, pieces: NDArray[np.int64], word_index: NDArray[np.int64]) -> Scores:  # noqa: ANN401 - untyped
    """Return the scores as the network gives them: those of the closing head stand where the rows end."""
    names = [output.name for output in session.get_outputs()]
    scores = dict(zip(names, session.run(names, {"pieces": pieces, "word_index": word_index}), strict=True))
    closing = scores.pop("closing", None)
    if closing is not None:
        rows, last = np.arange(len(pieces)), (word_index < PADDING_WORD).sum(axis=1) - 1
        scores["punctuation"][rows, last] = closing[rows, last]
    return list(scores.values())
