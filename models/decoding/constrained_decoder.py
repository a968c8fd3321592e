"""SAPR's constrained decoder: it writes the input's words, with marks between them, whatever the weights.

Wang et al. 2018, section III-D, algorithm 1: where the label softmax says O, the next word is copied from the source
and fed back; where it says a mark, that mark is. It goes on until every source word is copied and the end is said. So
that it ends for any weights, and so that a mark stands after a word and never inside one:

1. inside a word, and before the first, O is the only label;
2. after ``MAX_RUN`` marks no further mark is taken;
3. the end is a label only after the last word, and there O is none.

Rows of a batch are decoded together, a step for each at a time. Shapes: B rows, S pieces of the source, T steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import torch
from torch import Tensor

from caesura.models.data.joint_marks import MAX_RUN
from caesura.models.networks.ct_transformer import following_words
from caesura.models.networks.registry import Network
from caesura.models.networks.sapr import SAPR, SAPRConfig
from caesura.worker.inference.network.full_network import PADDING_WORD


class ConstrainedDecoder:
    """Labels with a SAPR as the other networks do: scores of the classes at each word's last piece."""

    def __init__(self, network: SAPR) -> None:
        """Decode with ``network``, which must be in ``eval``."""
        self.network = network
        self.config = network.config
        self._classes = {run: number for number, run in enumerate(network.config.runs)}

    def __call__(self, pieces: Tensor, word_index: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scores of runs (B, S, P), 1 for the run that is written, and of tags (B, S, Q), all the same.

        A run that no class stands for scores as its longest beginning that one stands for.
        """
        written = self.write(pieces, word_index)
        marks = torch.zeros(*pieces.shape, self.config.punctuation_classes, device=pieces.device)
        for row, runs in enumerate(runs_of(written, self.config)):
            for place, run in runs.items():
                marks[row, place, self.class_of(run)] = 1
        return marks, torch.zeros(*pieces.shape, self.config.disfluency_classes, device=pieces.device)

    def class_of(self, run: tuple[int, ...]) -> int:
        """Return the class of a run, or of its longest beginning that has one."""
        return next(self._classes[run[:n]] for n in range(len(run), -1, -1) if run[:n] in self._classes)

    @torch.no_grad()
    def write(self, pieces: Tensor, word_index: Tensor) -> Tensor:
        """Return the words written (B, T): pieces of the source and marks, then borders."""
        config, device = self.config, pieces.device
        memory = self.network.read(pieces, word_index)
        real = (word_index > 0) & (word_index < PADDING_WORD)
        count = real.sum(dim=1)  # pieces to be copied; the first stands at place 1
        ends_word = word_index != following_words(word_index)
        copied, run = torch.zeros_like(count), torch.zeros_like(count)
        done = torch.zeros_like(count, dtype=torch.bool)
        word = torch.full((len(pieces), 1), config.border_word, device=device)
        label = torch.full_like(word, config.border_label)
        written: list[Tensor] = []
        for _ in range(int(count.max()) * (1 + MAX_RUN) + 1):
            scores = self.network.label(self.network.step(memory, word, label)[:, 0]).float()  # (B, A + 2)
            after_word = (copied > 0) & ends_word.gather(1, copied.unsqueeze(1))[:, 0]
            at_end = copied >= count
            allowed = torch.zeros_like(scores, dtype=torch.bool)
            allowed[:, 0] = ~at_end
            allowed[:, 1 : config.border_label] = (after_word & (run < MAX_RUN)).unsqueeze(1)
            allowed[:, config.border_label] = at_end
            chosen = scores.nan_to_num().masked_fill(~allowed, -torch.inf).argmax(dim=1)
            chosen = torch.where(done, config.border_label, chosen)
            done = chosen == config.border_label
            copies = chosen == 0
            source = pieces.gather(1, (copied + 1).clamp(max=pieces.shape[1] - 1).unsqueeze(1))[:, 0]
            said = torch.where(copies, source, config.mark_word(chosen))
            copied, run = copied + copies, torch.where(copies, 0, run + 1)
            word, label = said.unsqueeze(1), chosen.unsqueeze(1)
            written.append(said)
            if bool(done.all()):
                break
        return torch.stack(written, dim=1)


def runs_of(written: Tensor, config: SAPRConfig) -> list[dict[int, tuple[int, ...]]]:
    """Return for each row the run of atoms after the source's piece at each place, places counted from 1.

    Every place of a row is there, most of them with the empty run; marks before the first word are at place 0.
    """
    rows: list[dict[int, tuple[int, ...]]] = []
    for row in written.tolist():
        place, runs = 0, defaultdict[int, tuple[int, ...]](tuple)
        for word in row:
            if word < config.vocabulary_size:
                place += 1
                runs[place] = ()
            elif word < config.border_word:
                runs[place] += (word - config.vocabulary_size + 1,)
        rows.append(dict(runs))
    return rows


def labeller(network: Network) -> Callable[[Tensor, Tensor], tuple[Tensor, ...]]:
    """Return what labels with a network: itself, or the constrained decoder over a SAPR."""
    return ConstrainedDecoder(network) if isinstance(network, SAPR) else network
