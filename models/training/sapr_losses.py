"""SAPR's loss J_m + gamma J_s: of the label softmax, and of the word softmax (Wang et al. 2018, equation 8).

The paper's equation 7 has its weight at the label's loss instead, and its text says of gamma, 0.15, both that it
weakens the labels and that J_s is the words' loss. Here the words' loss is the weighted one: a constrained decoder
copies words, so what the word softmax learns serves the labels alone.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from caesura.models.data.punctuated_sequences import punctuated
from caesura.models.data.resident_text import Batch
from caesura.models.networks.arithmetic import quick_arithmetic
from caesura.models.networks.sapr import SAPR

__all__ = ["sapr_losses"]


def sapr_losses(network: SAPR, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return J_m and gamma J_s of a batch, each a mean over the steps of the targets whose label is known."""
    target = punctuated(batch.pieces, batch.word_index, batch.punctuation, network.config)
    with quick_arithmetic(batch.pieces.device.type):
        words, labels = network(batch.pieces, batch.word_index, target.words, target.labels)
    of_labels = functional.cross_entropy(labels.float().flatten(0, 1), target.next_labels.flatten())
    of_words = functional.cross_entropy(words.float().flatten(0, 1), target.next_words.flatten())
    return of_labels, network.config.word_weight * of_words
