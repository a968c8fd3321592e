"""A pre-trained BERT as the start of a CT-Transformer: read its safetensors, keep its encoder, drop the rest.

The start used here is all-MiniLM-L6-v2 (Apache-2.0; ``models/README.md`` says where it comes from). It is needed in
training only: nothing of it is committed but what training made of it.
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from models.networks.ct_transformer import CTConfig, CTTransformer, sinusoids

__all__ = ["start_from_bert", "start_from_checkpoint"]

_RIDGE = 10.0


def start_from_bert(network: CTTransformer, weights: Path, leading: int) -> None:
    """Copy a BERT encoder of the same shape into ``network``; its heads keep their random start.

    Sinusoidal positions (the paper's) start as the ridge regression of the learned table on the waves; the first
    position, which is unlike the others and holds the leading piece alone, is made up for in that piece's embedding.
    """
    bert = load_file(str(weights))
    config = network.config
    state: dict[str, Tensor] = {
        "embedding.weight": bert["embeddings.word_embeddings.weight"],
        "embedding_norm.weight": bert["embeddings.LayerNorm.weight"],
        "embedding_norm.bias": bert["embeddings.LayerNorm.bias"],
    }
    segment = bert["embeddings.token_type_embeddings.weight"][0]  # one segment only: its vector is a constant
    learned = bert["embeddings.position_embeddings.weight"]
    state |= _positions(config, learned, segment)
    for k in range(len(config.look_ahead)):
        state |= _layer(bert, k)
    if config.positions == "sinusoidal":
        as_waves = state["positions.centre"] + sinusoids(1, config.width)[0] @ state["positions.map"]
        state["embedding.weight"][leading] += segment + learned[0] - as_waves
    missing, unexpected = network.load_state_dict(state, strict=False)
    if unexpected or any(not name.startswith(("punctuation.", "disfluency.")) for name in missing):
        raise ValueError(f"{weights} does not fit: missing {missing}, unexpected {unexpected}")


def start_from_checkpoint(network: CTTransformer, checkpoint: Path) -> None:
    """Copy the network of an earlier run's checkpoint into ``network``: a new plan, a new optimiser, the same shape."""
    network.load_state_dict(torch.load(checkpoint, weights_only=True)["network"])


def _positions(config: CTConfig, learned: Tensor, segment: Tensor) -> dict[str, Tensor]:
    if config.positions == "learned":
        return {"positions.table": segment + learned[: config.max_positions]}
    waves = torch.cat([sinusoids(len(learned), config.width), torch.ones(len(learned), 1)], dim=1).double()[1:]
    ridge = _RIDGE * torch.eye(config.width + 1, dtype=torch.float64)
    solved = torch.linalg.solve(waves.T @ waves + ridge, waves.T @ learned[1:].double()).float()
    return {"positions.map": solved[:-1], "positions.centre": segment + solved[-1]}


def _layer(bert: dict[str, Tensor], k: int) -> dict[str, Tensor]:
    theirs, ours = f"encoder.layer.{k}.", f"layers.{k}."
    state = {
        f"{ours}qkv.{part}": torch.cat([bert[f"{theirs}attention.self.{name}.{part}"] for name in _QKV])
        for part in ("weight", "bias")
    }
    for name, mine in _SAME.items():
        for part in ("weight", "bias"):
            state[f"{ours}{mine}.{part}"] = bert[f"{theirs}{name}.{part}"]
    return state


_QKV = ("query", "key", "value")
_SAME = {
    "attention.output.dense": "attended",
    "attention.output.LayerNorm": "attention_norm",
    "intermediate.dense": "inner",
    "output.dense": "outer",
    "output.LayerNorm": "output_norm",
}
