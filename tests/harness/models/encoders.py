"""Made-up pre-trained encoders: safetensors with the names that BERT's and MPNet's have."""

from __future__ import annotations

import re
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from tests.harness.models.networks import VOCABULARY

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
