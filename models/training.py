"""The training loop: packed text in, a checkpoint out; it resumes where it was stopped.

The loss is the sum of the two heads' cross entropies (CT-Transformer, section 3.1), each over the words whose label is
known. The learning rate rises for the first steps and falls linearly to zero over the words that were planned, or over
the time that was allowed where that ends sooner; an interrupted run goes on with the same batches in the same order.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.data.packing import PackedText
from models.data.samples import Batch, batches
from models.networks.ct_transformer import CTConfig, CTTransformer

__all__ = ["Report", "TrainingPlan", "Watch", "load_network", "losses", "train"]

Watch = Callable[[CTTransformer, float], bool]
"""Looks at a network in evaluation mode when its checkpoint was just written; told the share of the plan that is done.

True ends the training there. The time that it takes is no time of training.
"""

Report = Callable[[float, str], None]
"""Told now and then the share of the plan that is done, and a line of figures for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """How to train. max_words, max_s: stop after so many words, or after so many seconds of training, and be done then.

    max_pieces: padded pieces a step. checkpoint_s, checkpoint_words: seconds, and words, after which a checkpoint is
    due. leading: the number of the piece that stands before the words.
    """

    max_words: int
    leading: int
    max_s: float = float("inf")
    learning_rate: float = 3e-4
    warm_up_share: float = 0.06
    max_pieces: int = 4096
    weight_decay: float = 0.01
    clip_norm: float = 1.0
    checkpoint_s: float = 180.0
    checkpoint_words: float = float("inf")
    threads: int = 2
    seed: int = 1


@dataclass(slots=True)
class _Progress:
    """What was done so far, in steps, words read and seconds of training."""

    step: int = 0
    words: int = 0
    seconds: float = 0.0

    def share(self, plan: TrainingPlan) -> float:
        return min(1.0, max(self.words / plan.max_words, self.seconds / plan.max_s))


class _Optimisers:
    """AdamW for the dense weights, its sparse form for the embedding, of which a step meets few rows."""

    def __init__(self, network: CTTransformer, plan: TrainingPlan) -> None:
        network.embedding.sparse = True
        dense = [p for p in network.parameters() if p.requires_grad and p is not network.embedding.weight]
        self._dense = dense
        self._plan = plan
        rate, decay = plan.learning_rate, plan.weight_decay
        self._all: tuple[torch.optim.Optimizer, ...] = (
            torch.optim.AdamW(dense, lr=rate, weight_decay=decay, betas=(0.9, 0.98), fused=True),
            torch.optim.SparseAdam([network.embedding.weight], lr=rate),
        )

    def step(self, learning_rate: float) -> None:
        nn.utils.clip_grad_norm_(self._dense, self._plan.clip_norm)
        for optimiser in self._all:
            for group in optimiser.param_groups:
                group["lr"] = learning_rate
            optimiser.step()
            optimiser.zero_grad()

    def state(self) -> list[dict[str, object]]:
        return [optimiser.state_dict() for optimiser in self._all]

    def restore(self, state: list[dict[str, object]]) -> None:
        for optimiser, saved in zip(self._all, state, strict=True):
            optimiser.load_state_dict(saved)


def losses(network: CTTransformer, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return the mean cross entropy of each head over the words of ``batch`` whose label is known."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        punctuation, disfluency = network(batch.pieces, batch.word_index)
    return _loss(punctuation, batch.punctuation), _loss(disfluency, batch.disfluency)


def _loss(scores: Tensor, labels: Tensor) -> Tensor:
    known = (labels >= 0).sum().clamp(min=1)
    total = functional.cross_entropy(scores.float().flatten(0, 1), labels.flatten(), reduction="sum")
    return total / known


def _print_line(_: float, line: str) -> None:
    print(line, flush=True)


def train(
    network: CTTransformer,
    text: PackedText,
    plan: TrainingPlan,
    checkpoint: Path,
    *,
    watch: Watch | None = None,
    report: Report = _print_line,
) -> None:
    """Train ``network`` in place; write ``checkpoint`` now and then and at the end; go on from one that is there.

    ``watch`` is called after each checkpoint, and may end the training, which the checkpoint then stands for.
    """
    torch.set_num_threads(plan.threads)
    optimisers = _Optimisers(network, plan)
    before = _resume(network, optimisers, checkpoint)
    network.train()
    saved = started = time.monotonic()
    saved_words = before.words
    recent: list[tuple[float, float]] = []
    for progress, batch in _remaining(text, plan, before):
        progress.seconds = before.seconds + time.monotonic() - started
        share = progress.share(plan)
        recent.append(_step(network, optimisers, batch, _rate(plan, share)))
        if progress.step % 20 == 0:
            report(share, _line(share, progress, before, recent))
            recent.clear()
        due = time.monotonic() - saved > plan.checkpoint_s or progress.words - saved_words >= plan.checkpoint_words
        if due or share >= 1:
            _save(network, optimisers, checkpoint, progress)
            asked = time.monotonic()
            enough = watch is not None and _watched(network, share, watch)
            saved, saved_words = time.monotonic(), progress.words
            started += saved - asked
            if enough:
                return
        if share >= 1:
            return


def _line(share: float, progress: _Progress, before: _Progress, recent: list[tuple[float, float]]) -> str:
    speed = (progress.words - before.words) / max(progress.seconds - before.seconds, 1e-3)
    marks, tags = (sum(pair[k] for pair in recent) / len(recent) for k in (0, 1))
    return (
        f"{share:.1%} step {progress.step} words {progress.words} loss {marks:.4f} + {tags:.4f} at {speed:.0f} words/s"
    )


def _watched(network: CTTransformer, share: float, watch: Watch) -> bool:
    network.eval()
    try:
        with torch.no_grad():
            return watch(network, share)
    finally:
        network.train()


def _remaining(text: PackedText, plan: TrainingPlan, before: _Progress) -> Iterator[tuple[_Progress, Batch]]:
    """Yield the batches after the ``before.step`` first, epoch after epoch, with the progress that each one makes."""
    words, step = 0, 0
    for epoch in itertools.count():
        for batch in batches(text, plan.leading, max_pieces=plan.max_pieces, seed=plan.seed + epoch):
            words, step = words + batch.words, step + 1
            if step > before.step:
                yield _Progress(step, words, before.seconds), batch


def _step(network: CTTransformer, optimisers: _Optimisers, batch: Batch, rate: float) -> tuple[float, float]:
    marks, tags = losses(network, batch)
    (marks + tags).backward()  # type: ignore[no-untyped-call]
    optimisers.step(rate)
    return float(marks.detach()), float(tags.detach())


def _rate(plan: TrainingPlan, share: float) -> float:
    if share < plan.warm_up_share:
        return plan.learning_rate * share / plan.warm_up_share
    return plan.learning_rate * max(0.01, (1 - share) / (1 - plan.warm_up_share))


def _save(network: CTTransformer, optimisers: _Optimisers, checkpoint: Path, progress: _Progress) -> None:
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    partial = checkpoint.with_suffix(".partial")
    torch.save(
        {
            "config": asdict(network.config),
            "network": network.state_dict(),
            "optimisers": optimisers.state(),
            "progress": asdict(progress),
        },
        partial,
    )
    partial.replace(checkpoint)


def _resume(network: CTTransformer, optimisers: _Optimisers, checkpoint: Path) -> _Progress:
    if not checkpoint.exists():
        return _Progress()
    state = torch.load(checkpoint, weights_only=True)
    network.load_state_dict(state["network"])
    optimisers.restore(state["optimisers"])
    return _Progress(**state["progress"])


def load_network(checkpoint: Path) -> CTTransformer:
    """Return the network of a checkpoint, ready to label."""
    state = torch.load(checkpoint, weights_only=True)
    network = CTTransformer(CTConfig(**state["config"]))
    network.load_state_dict(state["network"])
    return network.eval()
