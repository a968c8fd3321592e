"""Labels by a reader that sees no later word, for the training steps in which the network sees none either.

The reader is given the text as people wrote it, capitals and marks and all, up to each word; what it expects next is
turned into the network's classes by a regression on the marks that people set, one for each corpus, because how sure
a reader is, and what it takes for a comma, is no matter of the network's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from caesura.models.data.packing import PackedText
from caesura.models.training.causal_reader import Reader
from caesura.models.training.regression import regress
from caesura.schemas.labels import Casing, Punctuation
from caesura.worker.core.language.casing import cased

SIGNS = {Punctuation.COMMA: ",", Punctuation.PERIOD: ".", Punctuation.QUESTION: "?"}
_READ_AT_ONCE = 800
_WITHOUT_CONTEXT = 10  # words at the beginning of what is read at once, of which too little is known


def written(text: PackedText, vocabulary: Sequence[str], begin: int, end: int) -> tuple[list[str], list[str]]:
    """Return the words from ``begin`` to ``end`` with their capitals, and the mark after each."""
    words: list[str] = []
    for place in range(begin, end):
        casing = Casing(max(text.casing[place], Casing.AS_GIVEN))  # nobody may know it
        if text.starts_sentence[place] and casing is not Casing.ALL_CAPITALS:
            casing = Casing.CAPITAL_FIRST
        words.append(cased(text.word(place, vocabulary), casing))
    signs = {int(mark): sign for mark, sign in SIGNS.items()}
    return words, [signs.get(mark, "") for mark in text.punctuation[begin:end].tolist()]


def read_packed(
    reader: Reader,
    text: PackedText,
    vocabulary: Sequence[str],
    *,
    words: int,
    progress: Callable[[int], None] = lambda _: None,
) -> NDArray[np.float32]:
    """Return what the reader says after each of the first ``words`` words; zeros where it had too little to read."""
    words = min(words, text.words)
    said: list[NDArray[np.float32]] = []
    for begin in range(0, words, _READ_AT_ONCE):
        rows = reader.said(*written(text, vocabulary, begin, min(begin + _READ_AT_ONCE, words)))
        rows[:_WITHOUT_CONTEXT] = 0
        said.append(rows)
        progress(len(rows))
    return np.concatenate(said)


def fitted(said: NDArray[np.float32], marks: NDArray[np.int8], classes: int) -> NDArray[np.float16]:
    """Return probabilities (words, classes) fitted to the marks people set; zeros where nothing was said.

    said: log probabilities (words, groups). marks: (words,), negative where nobody knows one.
    """
    read: NDArray[np.bool_] = np.any(said != 0, axis=1)
    known = torch.from_numpy(read & (marks >= 0))
    rows, wanted = torch.from_numpy(said), torch.from_numpy(marks.astype(np.int64))
    scaled = (rows - rows[known].mean(dim=0)) / (rows[known].std(dim=0) + 1e-3)
    head = nn.Linear(said.shape[1], classes)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    regress(head, scaled[known], wanted[known], ridge=1e-4)
    with torch.no_grad():
        probable = head(scaled).softmax(dim=-1).numpy()
    return np.asarray(np.where(read[:, None], probable, 0), dtype=np.float16)
