"""One run carried out: a network trained, the tests labelled, its labels and facts written to a folder.

``<name>.npz`` holds the labels, an array (2, words) of marks and tags for each test and cut; ``<name>.json`` the facts.
A run whose facts are there is done. A teacher's labels of the speech lie in ``<name>/``.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from caesura.models.data.aligned_words import UNKNOWN
from caesura.models.data.packed_tests import PackedTest
from caesura.models.data.packing import PackedText
from caesura.models.data.soft_labels import Taught, TaughtFile, forget_labels, load_taught, with_pseudo_sentences
from caesura.models.evaluation.figures import MARK_CLASSES
from caesura.models.evaluation.papers.plans import Learnt, PaperRun
from caesura.models.evaluation.scoring import count_blocks, scored
from caesura.models.evaluation.windows import CHUNKS, DoubleOverlap, label_test, stream_test
from caesura.models.networks.checkpoints import load_any_network, read_checkpoint, write_checkpoint
from caesura.models.networks.pieces import LEADING, read_vocabulary
from caesura.models.networks.pretrained import start_from_bert
from caesura.models.networks.registry import Network, build
from caesura.models.networks.task_dependency import TaskDependency
from caesura.models.training.averaging import mix
from caesura.models.training.loop import TeacherTargets, TrainingPlan, train
from caesura.models.training.soft_labelling import Teacher, label_softly

OVERLAPS = tuple(
    DoubleOverlap(size=size, left=left, right=right)
    for size in (60, 120, 200)
    for left, right in ((0, 0), (15, 15), (25, 25), (35, 15), (15, 35), (50, 5), (45, 10))
    if size > left + right
)
"""The windows of the sweep: the paper's (120, 35, 15) among them."""

LABELLER_CLASSES = 41
"""The paper's number of classes of single and joint marks."""

_TUNES = "dev tuning"
_CHUNKED = ("REF", "ASR")
_FIRST_SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """Where runs are carried out. start: safetensors of the encoder; data, tests: packed text; out: results."""

    vocabulary: Path
    start: Path
    data: Path
    tests: Path
    out: Path
    device: str = "cpu"
    threads: int = 1


def facts_of(name: str, out: Path) -> dict[str, Any] | None:
    """Return the facts of a run that is done, or None."""
    path = out / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def carry_out(run: PaperRun, place: Workplace) -> dict[str, Any]:
    """Train and test one network; return its facts."""
    torch.set_num_threads(place.threads)
    began = time.monotonic()
    pieces = read_vocabulary(place.vocabulary)
    leading = pieces.index(LEADING)
    network = _mean(run, place) if run.mean_of else _trained(run, place, len(pieces), leading)
    trained_s = time.monotonic() - began
    labels = {f"{test}|{cut}": _labelled(network, place, test, cut, leading, run.windows) for test, cut in run.tests}
    windows = [(test, CHUNKS) for test, cut in run.tests if test in _CHUNKED and cut == "running"]
    if run.seed == _FIRST_SEED and run.teaches:
        windows += [(_TUNES, overlap) for overlap in OVERLAPS]
    for test, overlap in windows:
        key = f"{test}|running|{overlap.size},{overlap.left},{overlap.right}"
        labels[key] = _labelled(network, place, test, "running", leading, overlap)
    for test in run.streams:
        packed = PackedTest.load(place.tests / f"{test}.npz")
        labels[f"{test}|stream"] = stream_test(network, packed, pieces, device=place.device)
    for learnt in run.teaches:
        _teach(network, run.name, place, learnt, leading)
    np.savez_compressed(place.out / f"{run.name}.npz", **labels)  # type: ignore[arg-type]
    facts = {
        "name": run.name,
        "parameters": sum(weights.numel() for weights in network.parameters()),
        "words": run.max_words,
        "trained_s": round(trained_s, 1),
        "whole_s": round(time.monotonic() - began, 1),
        "tuning": tuning_f1(labels, place),
    }
    (place.out / f"{run.name}.json").write_text(json.dumps(facts), encoding="utf-8")
    return facts


def _trained(run: PaperRun, place: Workplace, vocabulary_size: int, leading: int) -> Network:
    """Return the trained network; of its checkpoint, optimiser and all, the weights stay where the run keeps them."""
    network = _begun(run, place, vocabulary_size, leading)
    checkpoint = place.out / f"{run.name}.pt"
    if checkpoint.exists() and "optimisers" not in read_checkpoint(checkpoint, network):
        return network  # trained before, and stopped while its tests were labelled
    if run.relabels and run.teacher is not None:
        teacher = load_any_network(place.out / f"{run.teacher}.pt")
        for learnt in run.learns:
            if learnt.forget == "both":
                _teach(teacher, run.teacher, place, learnt, leading)
        del teacher
    text, taught = read_learnt(run, place)
    plan = TrainingPlan(
        max_words=run.max_words,
        leading=leading,
        learning_rate=run.learning_rate,
        max_pieces=run.max_pieces,
        alone=run.alone,
        longest=run.longest,
        threads=place.threads,
        seed=1000 * run.seed,  # an epoch draws with the next number: no seed begins where another goes on
        device=place.device,
        objective=run.objective,
        corpora=tuple(learnt.corpus for learnt in run.learns),
    )
    train(network, text, plan, checkpoint, told=TeacherTargets(rows=taught), report=lambda *_: None)
    checkpoint.unlink()
    if run.keeps:
        write_checkpoint(checkpoint, network, {"corpora": list(plan.corpora)})
    return network


def _mean(run: PaperRun, place: Workplace) -> Network:
    networks = [load_any_network(place.out / f"{name}.pt") for name in run.mean_of]
    mix(networks, [1 / len(networks)] * len(networks))
    return networks[0]


def _begun(run: PaperRun, place: Workplace, vocabulary_size: int, leading: int) -> Network:
    # Heads of runs whose weights are kept begin alike in every seed, so that the mean of their weights has a meaning.
    torch.manual_seed(_FIRST_SEED if run.keeps else run.seed)
    shape = dict(run.fields)
    if any(learnt.corpus.startswith("joint_") for learnt in run.learns):
        shape |= _joint_classes(run.kind, place.data)
    network = build(run.kind, shape | {"vocabulary_size": vocabulary_size})
    if run.started:
        assert isinstance(network, TaskDependency), "only an encoder in MPNet's layout begins at one"
        start_from_bert(network, place.start, leading)
    return network


def _joint_classes(kind: str, data: Path) -> dict[str, Any]:
    """Return the field of the classes: SAPR writes any run, a labeller has the most frequent ones for classes."""
    table = tuple(tuple(run) for run in json.loads((data / "runs.json").read_text(encoding="utf-8")))
    return {"runs": table} if kind == "sapr" else {"punctuation_classes": min(len(table), LABELLER_CLASSES)}


def read_learnt(run: PaperRun, place: Workplace) -> tuple[PackedText, Taught | None]:
    """Return the text of a run, and its teacher's labels if it has one."""
    parts = [
        _forgotten(first_words(PackedText.load(place.data / f"{one.corpus}.npz"), one.max_words), one)
        for one in run.learns
    ]
    if run.kind != "sapr" and any(one.corpus.startswith("joint_") for one in run.learns):
        parts = [_fewer_classes(part, place.data) for part in parts]
    text = PackedText.joined(parts)
    if run.teacher is None:
        return text, None
    marks, tags = 4, 5
    sizes = {one.corpus: part.words for one, part in zip(run.learns, parts, strict=True)}
    taught = load_taught(place.out / run.teacher, sizes.items(), marks + tags)
    return with_pseudo_sentences(text, taught, marks), taught


def first_words(text: PackedText, words: int) -> PackedText:
    """Return the first words of a text, ``words`` at most."""
    rows = {field.name: getattr(text, field.name)[:words] for field in fields(text)}
    firsts = text.first_piece[: words + 1]
    return PackedText(**rows | {"first_piece": firsts, "pieces": text.pieces[: firsts[-1]]})


def _forgotten(text: PackedText, learnt: Learnt) -> PackedText:
    unknown = np.full(text.words, UNKNOWN, dtype=np.int8)
    if learnt.forget == "both":
        return forget_labels(text)
    if learnt.forget == "marks":
        return replace(text, punctuation=unknown)
    return replace(text, disfluency=unknown) if learnt.forget == "tags" else text


def _fewer_classes(text: PackedText, data: Path) -> PackedText:
    """Return a text of joint marks whose rarer runs are the longest beginning of theirs that is a class."""
    table = [tuple(run) for run in json.loads((data / "runs.json").read_text(encoding="utf-8"))]
    kept = {run: number for number, run in enumerate(table[:LABELLER_CLASSES])}
    fewer = [next(kept[run[:n]] for n in range(len(run), -1, -1) if run[:n] in kept) for run in table]
    return replace(text, punctuation=np.array(fewer, dtype=np.int8)[text.punctuation])


def _labelled(
    network: Network, place: Workplace, test: str, cut: str, leading: int, overlap: DoubleOverlap
) -> NDArray[np.int8]:
    packed = PackedTest.load(place.tests / f"{test}.npz")
    return label_test(network, packed, cut, leading=leading, overlap=overlap, device=place.device)


def _teach(network: Network, name: str, place: Workplace, learnt: Learnt, leading: int) -> None:
    asked = Teacher(network=network, leading=leading, heads="punctuation", device=place.device, windows=64)
    text = first_words(PackedText.load(place.data / f"{learnt.corpus}.npz"), learnt.max_words)
    classes = network.config.punctuation_classes + network.config.disfluency_classes
    label_softly(asked, text, TaughtFile(place.out / name / f"{learnt.corpus}.npy", text.words, classes))


def tuning_f1(labels: dict[str, NDArray[np.int8]], place: Workplace) -> float | None:
    """Return overall F1 of the marks on the tuning half, by word; None for a run that was not tested on it."""
    marks = labels.get(f"{_TUNES}|running")
    if marks is None:
        return None
    gold = PackedTest.load(place.tests / f"{_TUNES}.npz").text.punctuation
    return scored(count_blocks(gold.tolist(), marks[0].tolist(), MARK_CLASSES)["overall"]).f1
