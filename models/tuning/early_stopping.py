"""Looks at the network while it is tuned: keeps the best one so far, and ends the training when it gets no better.

What is watched is the loss of the marks on text that is not trained on. What was seen is written beside the checkpoint,
so a tune that is stopped and started again counts on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import torch
from torch.nn import functional

from caesura.models.data.resident_text import Batch
from caesura.models.networks.checkpoints import write_checkpoint
from caesura.models.networks.ct_transformer import CTTransformer


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """One look. share: of the plan, 0 before training; loss: of the marks, mean over the words whose mark is known."""

    share: float
    loss: float


class _Seen(msgspec.Struct, kw_only=True):
    """Every look in order; ended: nothing is left to be trained."""

    looks: list[Look] = msgspec.field(default_factory=list)
    ended: bool = False


def held_out_loss(network: CTTransformer, batches: Sequence[Batch]) -> float:
    """Return the mean cross entropy of the marks over the known words of all batches; ``network`` is in evaluation."""
    total = words = 0.0
    with torch.no_grad():
        for batch in batches:
            scores = network(batch.pieces, batch.word_index)[0].flatten(0, 1)
            total += float(functional.cross_entropy(scores, batch.punctuation.flatten(), reduction="sum"))
            words += int((batch.punctuation >= 0).sum())
    return total / max(words, 1.0)


class EarlyStopping:
    """A ``loop.Watch``: ``best`` in its folder is always the network with the smallest loss so far."""

    def __init__(
        self, folder: Path, batches: Sequence[Batch], patience: int, *, tell: Callable[[str], None] = lambda _: None
    ) -> None:
        """Go on with what was seen in ``folder``; patience: so many looks in a row that are no better end it."""
        self.best = folder / "best.pt"
        self._seen_file = folder / "looks.json"
        self._batches, self._patience, self._tell = batches, patience, tell
        self._seen = _Seen()
        if self._seen_file.exists():
            self._seen = msgspec.json.decode(self._seen_file.read_bytes(), type=_Seen)

    @property
    def looks(self) -> tuple[Look, ...]:
        """What was seen so far."""
        return tuple(self._seen.looks)

    @property
    def ended(self) -> bool:
        """Tell whether the training is over, as planned or early."""
        return self._seen.ended

    @property
    def best_look(self) -> Look:
        """The look with the smallest loss, the first of equal ones."""
        return min(self._seen.looks, key=lambda look: look.loss)

    def __call__(self, network: CTTransformer, share: float) -> bool:
        """Take a look; tell whether it was the last one that is worth while."""
        look = Look(share=share, loss=held_out_loss(network, self._batches))
        self._seen.looks.append(look)
        best = self.best_look is look
        if best:
            write_checkpoint(self.best, network, {})
        early = len(self._seen.looks) - 1 - self._seen.looks.index(self.best_look) >= self._patience
        self._seen.ended = early or share >= 1
        partial = self._seen_file.with_suffix(".partial")
        partial.write_bytes(msgspec.json.encode(self._seen))
        partial.replace(self._seen_file)
        self._tell(f"{share:4.0%}  loss on the watched text {look.loss:.4f}{', the best so far' if best else ''}")
        return self._seen.ended
