"""The head for the marks of a word that none follows, fitted to flushes in packed text; the rest of the network stays.

A flush decides on a last word whose next one nobody knows. The head that marks all the others has seen few such words,
and the layers tell more of them than it takes (ADR 0019). So:

1. a sentence gives two flushes: after one of its words but the last, drawn at random, and after its last one, as they
   are counted (``false_stops``);
2. each is one pass over the words before it, from a sentence's start on;
3. the head is a logistic regression on the last layer's output there. It begins as the other one.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from caesura.models.data.packing import PackedText
from caesura.models.data.samples import LONGEST_WORDS, Sample
from caesura.models.networks.ct_transformer import CTTransformer
from caesura.models.networks.pretrained import with_closing_of_marks
from caesura.models.networks.task_dependency import TaskDependency
from caesura.models.training.regression import regress
from caesura.schemas.labels import Punctuation

_ENDS = [mark.value for mark in Punctuation if mark.ends_sentence]
_WORDS_BEFORE = (0, 10, 40)
"""What stands before a sentence at least, where there is as much: nothing, a sentence or two, a turn."""


def closing_flushes(text: PackedText, rng: random.Random, *, sentences: int) -> list[Sample]:
    """Return two flushes for each of ``sentences`` sentences at most: the words (first, stop) that each has seen."""
    starts = np.flatnonzero(text.starts_sentence)
    ended = np.flatnonzero(np.isin(text.punctuation[starts[1:] - 1], _ENDS)).tolist()
    flushes: list[Sample] = []
    for number in rng.sample(ended, min(sentences, len(ended))):
        start, stop = int(starts[number]), int(starts[number + 1])
        before = number
        wanted = rng.choice(_WORDS_BEFORE)
        while before and start - starts[before] < wanted:
            before -= 1
        first = int(starts[before])
        if stop - first > LONGEST_WORDS:
            continue
        inside = [place for place in range(start, stop - 1) if text.punctuation[place] >= 0]
        flushes += [(first, last + 1) for last in ([rng.choice(inside)] if inside else []) + [stop - 1]]
    return flushes


def with_closing(network: CTTransformer) -> CTTransformer:
    """Return such a network that has the head, where there is none yet as that of all other words; the rest is alike.

    ValueError where labels depend on other labels: a fit to the layers' output does not see those.
    """
    if isinstance(network, TaskDependency):
        raise ValueError(  # noqa: TRY004 - of all kinds it is the one that cannot
            "a joint network's marks are not those of its head alone"
        )
    made = type(network)(replace(network.config, closing=True))
    made.load_state_dict(with_closing_of_marks(network.state_dict()))
    return made.eval()


def fit_closing(
    network: CTTransformer,
    rows: Tensor,
    marks: NDArray[np.int8],
    *,
    ridge: float,
    constants: NDArray[np.float64],
) -> float:
    """Fit the network's closing head; return the loss of a flush, in nats.

    rows: (flushes, D); marks: what the text has there (flushes,). ridge: times the squared distance of the weights to
    where they began, beside the loss. constants: (classes,), added to what it says after the fit. ValueError for a
    network without that head.
    """
    if network.closing is None:
        raise ValueError("the network has no closing head")
    head = network.closing.double()
    network.requires_grad_(requires_grad=False)
    head.requires_grad_(requires_grad=True)
    reached = regress(head, rows.double(), torch.from_numpy(marks).long(), ridge=ridge)
    with torch.no_grad():
        head.bias.add_(torch.from_numpy(constants))
    network.requires_grad_(requires_grad=True)
    head.float()
    return reached
