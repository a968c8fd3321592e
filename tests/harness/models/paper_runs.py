"""A place where the papers' runs are carried out in a moment: made-up text and tests, and an encoder of two layers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from caesura.models.data.packed_tests import PackedTest, packed_test
from caesura.models.data.packing import pack
from caesura.models.evaluation.papers.plans import PaperRun, Scope
from caesura.models.evaluation.papers.runs import Workplace
from tests.harness.models.networks import VOCABULARY, document, tokenizer

WIDTH, INNER, LAYERS, POSITIONS = 64, 96, 3, 128


def bert(path: Path) -> Path:
    """Write a made-up encoder with the names of BERT's."""
    torch.manual_seed(8)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), WIDTH),
        "embeddings.position_embeddings.weight": (POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for k in range(LAYERS):
        layer = f"encoder.layer.{k}."
        linear = {f"attention.self.{name}": (WIDTH, WIDTH) for name in ("query", "key", "value")} | {
            "attention.output.dense": (WIDTH, WIDTH),
            "intermediate.dense": (INNER, WIDTH),
            "output.dense": (WIDTH, INNER),
        }
        for name, shape in linear.items():
            shapes |= {f"{layer}{name}.weight": shape, f"{layer}{name}.bias": shape[:1]}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{layer}{name}.weight": (WIDTH,), f"{layer}{name}.bias": (WIDTH,)}
    save_file({name: 0.1 * torch.randn(shape) for name, shape in shapes.items()}, str(path))
    return path


def mpnet(path: Path) -> Path:
    """Write the same encoder as an MPNet: other names, two more positions, no segments, numbers for distances."""
    theirs = {
        "self.query": "attn.q",
        "self.key": "attn.k",
        "self.value": "attn.v",
        "attention.output.dense": "attention.attn.o",
        "attention.output.LayerNorm": "attention.LayerNorm",
    }
    pattern = re.compile("|".join(map(re.escape, theirs)))
    tensors = {pattern.sub(lambda own: theirs[own[0]], name): tensor for name, tensor in load_file(bert(path)).items()}
    segment = tensors.pop("embeddings.token_type_embeddings.weight")[0]
    positions = "embeddings.position_embeddings.weight"
    tensors[positions] = torch.cat([torch.full((2, WIDTH), 9.0), tensors[positions] + segment])
    tensors["encoder.relative_attention_bias.weight"] = torch.randn(32, 1)
    save_file(tensors, str(path))
    return path


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
