"""A place where the papers' runs are carried out in a moment: made-up text and tests, and an encoder of two layers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from caesura.models.data.packed_tests import PackedTest, packed_test
from caesura.models.data.packing import pack
from caesura.models.evaluation.papers.plans import PaperRun, Scope
from caesura.models.evaluation.papers.runs import Workplace
from tests.harness.models.encoders import INNER, POSITIONS, WIDTH, bert
from tests.harness.models.networks import VOCABULARY, document, tokenizer

__all__ = ["ENCODER", "SCOPE", "made_test", "shortened", "workplace"]

ENCODER: dict[str, Any] = {
    "width": WIDTH,
    "heads": 1,
    "inner_width": INNER,
    "positions": "learned",
    "max_positions": POSITIONS,
}
SCOPE = Scope(seeds=1, scale=1e-4, encoder=ENCODER, layers=2, learning_rate=1e-3, max_pieces=400, width=64)
CORPORA = ("ted", "swda_marked", "cabnc", "earnings22", "crd3", "ami", "joint_novels", "joint_talk")
TESTS = ("REF", "ASR", "dev tuning", "dev reported", "swda", "joint novels", "joint talk")


def made_test() -> PackedTest:
    documents = [document(5, seed=seed) for seed in (31, 32)]
    ends = ([k + 1 for k, mark in enumerate(one.punctuation) if mark > 1] for one in documents)
    return packed_test(documents, ends, tokenizer())


def workplace(folder: Path, *, scale: int = 60) -> Workplace:
    (folder / "build").mkdir()
    for seed, name in enumerate(CORPORA):
        pack([document(scale, seed=seed)], tokenizer()).save(folder / "data" / f"{name}.npz")
    (folder / "data" / "runs.json").write_text(json.dumps([[], [1], [2], [3], [2, 7]]))
    for name in TESTS:
        made_test().save(folder / "tests" / f"{name}.npz")
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in VOCABULARY))
    (folder / "out").mkdir()
    return Workplace(
        vocabulary=folder / "vocab.txt",
        start=bert(folder / "build" / "start.safetensors"),
        data=folder / "data",
        tests=folder / "tests",
        out=folder / "out",
    )


def shortened(run: PaperRun) -> PaperRun:
    """Return a run of 200 words over a few sentences of each corpus."""
    learns, teaches = (
        tuple(replace(learnt, max_words=min(learnt.max_words, 150)) for learnt in every)
        for every in (run.learns, run.teaches)
    )
    return replace(run, max_words=200, learns=learns, teaches=teaches)
