"""The training loop: packed text in, a checkpoint out; it resumes where it was stopped.

The loss is the sum of the two heads' (CT-Transformer, section 3.1; ``objective``), each over the words
whose label is known, or a teacher's. The learning rate rises for the first steps and falls linearly to zero over the
words that were planned, or over the time that was allowed where that ends sooner; an interrupted run goes on with the
same batches in the same order, and draws what it would have drawn.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from queue import Queue
from typing import TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from caesura.models.data.packing import PackedText
from caesura.models.data.punctuated_sequences import punctuated
from caesura.models.data.resident_text import Batch, ResidentText
from caesura.models.data.samples import LONGEST_WORDS, TAIL_SHARE, Sample, sample_groups
from caesura.models.data.soft_labels import Taught
from caesura.models.networks.arithmetic import quick_arithmetic
from caesura.models.networks.checkpoints import read_checkpoint, write_checkpoint
from caesura.models.networks.ct_transformer import CTTransformer
from caesura.models.networks.full_transformer import UNLIMITED
from caesura.models.networks.registry import Network
from caesura.models.networks.sapr import SAPR
from caesura.models.training.objective import Objective, head_loss
from caesura.models.training.optimisers import Optimisers
from caesura.models.training.shorter_look_ahead import drawn_look_ahead
from caesura.models.training.soft_labelling import teacher_logits
from caesura.schemas.labels import Punctuation

_T = TypeVar("_T")


def made_ahead(items: Iterable[_T], most: int) -> Iterator[_T]:
    """Yield ``items``, at most ``most`` of which a thread of its own has made before they are asked for.

    What making them raises is raised here. The thread ends with the process, or where ``items`` end.
    """
    made: Queue[tuple[_T] | BaseException | None] = Queue(most)  # None: that was all

    def make() -> None:
        try:
            for item in items:
                made.put((item,))
        except BaseException as error:  # noqa: BLE001 - raised where the items are read
            made.put(error)
        else:
            made.put(None)

    threading.Thread(target=make, daemon=True, name="samples").start()
    while (told := made.get()) is not None:
        if isinstance(told, BaseException):
            raise told
        yield told[0]


def sapr_losses(network: SAPR, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return J_m and gamma J_s of a batch, each a mean over the steps of the targets whose label is known."""
    target = punctuated(batch.pieces, batch.word_index, batch.punctuation, network.config)
    with quick_arithmetic(batch.pieces.device.type):
        words, labels = network(batch.pieces, batch.word_index, target.words, target.labels)
    of_labels = functional.cross_entropy(labels.float().flatten(0, 1), target.next_labels.flatten())
    of_words = functional.cross_entropy(words.float().flatten(0, 1), target.next_words.flatten())
    return of_labels, network.config.word_weight * of_words


_N = TypeVar("_N", bound=Network)

Watch = Callable[[_N, float], bool]
"""Looks at a network in evaluation mode when its checkpoint was just written; told the share of the plan that is done.

True ends the training there. The time that it takes is no time of training.
"""

Report = Callable[[float, str], None]
"""Told now and then the share of the plan that is done, and a line of figures for people."""

_PLAIN = Objective()
_ENDS = [mark.value for mark in Punctuation if mark.ends_sentence]
_REPORTED_STEPS = 20
_GROUPS_AHEAD = 400  # as many steps as a GPU takes while an epoch's samples are drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """How to train. max_words, max_s: stop after so many words, or after so many seconds of training, and be done then.

    max_pieces: padded pieces a step. checkpoint_s, checkpoint_words: seconds, and words, after which a checkpoint is
    due. leading: the number of the piece that stands before the words. device: as PyTorch names it, cpu or cuda.
    shorter_look_ahead: the share of the steps in which a CT-Transformer sees less far than it can
    (``shorter_look_ahead``). unseeing: the share of the steps in which no word sees a later one, as the
    last word of a flush; a sentence's end weighs ``end_weight`` words there, as many as false ones come to a true one.
    taught_unseeing: the labels that a reader without sight of a later word gave are for these steps alone.
    left_context: the share of the samples that begin before their sentence.
    alone: the share of the samples that are one sentence by itself. tails: of the others, the share that end inside a
    sentence. longest: words of a sample. corpora: the names of all
    that the network has learnt from when this is done, which its checkpoint then tells.
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
    device: str = "cpu"
    shorter_look_ahead: float = 0.0
    unseeing: float = 0.0
    end_weight: float = 1.0
    taught_unseeing: bool = False
    left_context: float = 0.0
    alone: float = 0.0
    tails: float = TAIL_SHARE
    longest: int = LONGEST_WORDS
    corpora: tuple[str, ...] = ()
    objective: Objective = _PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class TeacherTargets:
    """What teachers say. rows: of each word of the text, read before. teacher: one who is asked, of the very samples.

    The teacher is asked at each step that has no rows: at all, or the sighted ones where rows are for unseeing steps.
    """

    rows: Taught | None = None
    teacher: Network | None = None


_NOTHING = TeacherTargets()


@dataclass(slots=True)
class _Progress:
    """What was done so far, in steps, words read and seconds of training."""

    step: int = 0
    words: int = 0
    seconds: float = 0.0

    def share(self, plan: TrainingPlan) -> float:
        return min(1.0, max(self.words / plan.max_words, self.seconds / plan.max_s))


def losses(
    network: Network,
    batch: Batch,
    objective: Objective = _PLAIN,
    look_ahead: tuple[int, ...] | None = None,
    *,
    end_weight: float = 1.0,
) -> tuple[Tensor, ...]:
    """Return the loss of each head over the words of ``batch``, in the network's order (``objective``).

    look_ahead: another L_i for this batch, where the network is a CT-Transformer. end_weight: what a word weighs at
    which a sentence ends, in the loss of the marks.
    """
    if isinstance(network, SAPR):
        return sapr_losses(network, batch)
    with quick_arithmetic(batch.pieces.device.type):
        extra = () if look_ahead is None else (look_ahead,)
        scores = network(batch.pieces, batch.word_index, *extra)
    labels = (batch.punctuation, batch.disfluency, batch.casing)
    told: Sequence[Tensor | None] = (None,) * len(scores)
    if batch.taught is not None:
        classes = [head.shape[-1] for head in scores]
        of_all = functional.pad(
            batch.taught, (0, sum(classes) - batch.taught.shape[-1])
        )  # a teacher may lack the third
        told = of_all.split(classes, dim=-1)  # type: ignore[no-untyped-call]
    of_marks = None
    if end_weight != 1.0:
        of_marks = 1 + (end_weight - 1) * torch.isin(batch.punctuation, batch.punctuation.new_tensor(_ENDS))
    weights = (of_marks, None, None)
    return tuple(
        head_loss(head, known, taught, objective, weight)
        for head, known, taught, weight in zip(scores, labels[: len(scores)], told, weights[: len(scores)], strict=True)
    )


def _print_line(_: float, line: str) -> None:
    print(line, flush=True)


def train(
    network: _N,
    text: PackedText,
    plan: TrainingPlan,
    checkpoint: Path,
    *,
    told: TeacherTargets = _NOTHING,
    watch: Watch[_N] | None = None,
    report: Report = _print_line,
) -> None:
    """Train ``network`` in place; write ``checkpoint`` now and then and at the end; go on from one that is there.

    ``watch`` is called after each checkpoint, and may end the training, which the checkpoint then stands for. The
    network is left on the plan's device.
    """
    if (plan.shorter_look_ahead or plan.unseeing) and (
        not isinstance(network, CTTransformer) or max(network.config.look_ahead) >= UNLIMITED
    ):
        raise ValueError("only a CT-Transformer has a look-ahead that can be shorter")
    torch.set_num_threads(plan.threads)
    network.to(plan.device)
    if told.teacher is not None:
        told.teacher.to(plan.device).eval()
    optimisers = Optimisers(network, plan.learning_rate, plan.weight_decay, plan.clip_norm)
    before = _resume(network, optimisers, checkpoint)
    network.train()
    saved = started = time.monotonic()
    saved_words = before.words
    recent: list[Tensor] = []
    resident = ResidentText(text, plan.leading, told.rows, device=plan.device)
    for progress, batch in _remaining(resident, plan, before):
        progress.seconds = before.seconds + time.monotonic() - started
        share = progress.share(plan)
        torch.manual_seed(plan.seed + progress.step)  # dropout
        recent.append(_step(network, optimisers, batch, plan, progress, told.teacher))
        if progress.step % _REPORTED_STEPS == 0 or share >= 1:
            report(share, _line(share, progress, before, recent))
            recent.clear()
        due = time.monotonic() - saved > plan.checkpoint_s or progress.words - saved_words >= plan.checkpoint_words
        if due or share >= 1:
            _save(network, optimisers, checkpoint, progress, plan)
            asked = time.monotonic()
            enough = watch is not None and _watched(network, share, watch)
            saved, saved_words = time.monotonic(), progress.words
            started += saved - asked
            if enough:
                return
        if share >= 1:
            return


def _line(share: float, progress: _Progress, before: _Progress, recent: Sequence[Tensor]) -> str:
    speed = (progress.words - before.words) / max(progress.seconds - before.seconds, 1e-3)
    losses = " + ".join(f"{loss:.4f}" for loss in torch.stack(list(recent)).mean(dim=0).tolist())
    return f"{share:.1%} step {progress.step} words {progress.words} loss {losses} at {speed:.0f} words/s"


def _watched(network: _N, share: float, watch: Watch[_N]) -> bool:
    network.eval()
    try:
        with torch.no_grad():
            return watch(network, share)
    finally:
        network.train()


def _remaining(resident: ResidentText, plan: TrainingPlan, before: _Progress) -> Iterator[tuple[_Progress, Batch]]:
    """Yield the batches after the ``before.step`` first, epoch after epoch, with the progress that each one makes."""
    drawn = _drawn(resident.text, plan)
    words = 0
    for step, group in enumerate(drawn if plan.device == "cpu" else made_ahead(drawn, _GROUPS_AHEAD), start=1):
        words += sum(end - begin for begin, end in group)
        if step > before.step:
            yield _Progress(step, words, before.seconds), resident.batch(group)


def _drawn(text: PackedText, plan: TrainingPlan) -> Iterator[list[Sample]]:
    """Yield the samples of each step, epoch after epoch."""
    for epoch in itertools.count():
        yield from sample_groups(
            text,
            max_pieces=plan.max_pieces,
            seed=plan.seed + epoch,
            left_context=plan.left_context,
            alone=plan.alone,
            tails=plan.tails,
            longest=plan.longest,
        )


def _step(
    network: Network,
    optimisers: Optimisers,
    batch: Batch,
    plan: TrainingPlan,
    progress: _Progress,
    teacher: Network | None,
) -> Tensor:
    """Take a step; return the heads' losses, on the device: reading them there would wait for the step's end."""
    look_ahead, end_weight, unseeing = None, 1.0, False
    if (plan.shorter_look_ahead or plan.unseeing) and isinstance(network, CTTransformer):
        seed = plan.seed * 1_000_003 + progress.step
        look_ahead = drawn_look_ahead(
            network.config.look_ahead, seed, share=plan.shorter_look_ahead, unseeing=plan.unseeing
        )
        unseeing = not any(look_ahead)
        end_weight = plan.end_weight if unseeing else 1.0
    if plan.taught_unseeing and not unseeing:
        batch = replace(batch, taught=None)
    if teacher is not None and batch.taught is None:
        batch = replace(batch, taught=teacher_logits(teacher, batch))
    of_heads = torch.stack(losses(network, batch, plan.objective, look_ahead, end_weight=end_weight))
    of_heads.sum().backward()  # type: ignore[no-untyped-call]
    optimisers.step(_rate(plan, progress.share(plan)))
    return of_heads.detach()


def _rate(plan: TrainingPlan, share: float) -> float:
    if share < plan.warm_up_share:
        return plan.learning_rate * share / plan.warm_up_share
    return plan.learning_rate * max(0.01, (1 - share) / (1 - plan.warm_up_share))


def _save(network: Network, optimisers: Optimisers, checkpoint: Path, progress: _Progress, plan: TrainingPlan) -> None:
    training = {"optimisers": optimisers.state(), "progress": asdict(progress), "corpora": list(plan.corpora)}
    write_checkpoint(checkpoint, network, training)


def _resume(network: Network, optimisers: Optimisers, checkpoint: Path) -> _Progress:
    if not checkpoint.exists():
        return _Progress()
    state = read_checkpoint(checkpoint, network)
    optimisers.restore(state["optimisers"])
    return _Progress(**state["progress"])
