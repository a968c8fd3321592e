"""A pre-trained BERT or MPNet as the start of a network: read its safetensors, keep its encoder, drop the rest.

The start used here is all-MiniLM-L6-v2 (Apache-2.0; ``docs/training.md`` says where it comes from). It is needed in
training only: nothing of it is committed but what training made of it. A larger one makes a teacher: its layout may be
of any size, and its top layers, bent to what it was trained for, may be left at a random start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file
from torch import Tensor

from caesura.models.networks.ct_transformer import CTConfig, CTTransformer, sinusoids
from caesura.models.networks.mpnet import MPNet
from caesura.models.networks.registry import Network
from caesura.models.networks.task_dependency import TaskDependency

_RIDGE = 10.0
_HEAD_WIDTH = 64


def shape_of(start: Path) -> dict[str, Any]:
    """Return the fields of a ``CTConfig`` that a start dictates, and ``layers``: how many.

    Its look-back is among them, and of a checkpoint whether it has the closing head.

    start: safetensors of a BERT, whose heads are taken to be 64 wide, as BERT's are (the file does not say); or of an
    MPNet; or a checkpoint of this project.
    """
    if start.suffix == ".pt":
        config = torch.load(start, weights_only=True, map_location="cpu")["config"]
        layers = {
            "layers": len(config["look_ahead"]),
            "look_back": config.get("look_back"),
            "closing": config.get("closing", False),
        }
        return {name: config[name] for name in _SHAPE} | layers
    with safe_open(str(start), framework="pt") as file:
        shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118 - no mapping
    inner, width = shapes["encoder.layer.0.intermediate.dense.weight"]
    positions, _ = shapes[_POSITIONS]
    _, heads = shapes.get(_DISTANCES, (0, width // _HEAD_WIDTH))
    return {
        "width": width,
        "heads": heads,
        "inner_width": inner,
        "positions": "learned",
        "max_positions": positions - (_MPNET_PADDING if _DISTANCES in shapes else 0),
        "layers": sum(name.endswith(".intermediate.dense.weight") for name in shapes),
        "look_back": None,
        "closing": False,
    }


def start_from_bert(
    network: CTTransformer, weights: Path, leading: int, *, fresh_layers: int = 0, rows: Sequence[int] | None = None
) -> None:
    """Copy a BERT or MPNet encoder of the same shape into ``network``; ValueError for another.

    The heads keep their random start, and so do the ``fresh_layers`` top layers. Where the network has fewer layers
    than the encoder, it gets the lowest; where it is no ``MPNet``, it goes without an MPNet's relative positions.

    rows: the row of the encoder's embedding that each piece of the vocabulary has, where that is not its number
    (``rows_of``).

    Sinusoidal positions (the paper's) start as the ridge regression of the learned table on the waves; the first
    position, which is unlike the others and holds the leading piece alone, is made up for in that piece's embedding.
    """
    bert, extra = _as_bert(load_file(str(weights)))
    config = network.config
    embedding = bert["embeddings.word_embeddings.weight"]
    state: dict[str, Tensor] = {
        "embedding.weight": embedding if rows is None else embedding[torch.tensor(rows)],
        "embedding_norm.weight": bert["embeddings.LayerNorm.weight"],
        "embedding_norm.bias": bert["embeddings.LayerNorm.bias"],
    }
    segment = bert[_SEGMENTS][0]  # one segment only: its vector is a constant
    learned = bert[_POSITIONS]
    state |= (extra if isinstance(network, MPNet) else {}) | _positions(config, learned, segment)
    copied = len(config.look_ahead) - fresh_layers
    for k in range(copied):
        state |= _layer(bert, k)
    if config.positions == "sinusoidal":
        as_waves = state["positions.centre"] + sinusoids(1, config.width)[0] @ state["positions.map"]
        state["embedding.weight"][leading] += segment + learned[0] - as_waves
    missing, unexpected = network.load_state_dict(state, strict=False)
    fresh = tuple(f"layers.{k}." for k in range(copied, len(config.look_ahead)))
    lacking = (*_HEADS, *fresh, *(_BETWEEN_TASKS if isinstance(network, TaskDependency) else ()))
    if unexpected or any(not name.startswith(lacking) for name in missing):
        raise ValueError(f"{weights} does not fit: missing {missing}, unexpected {unexpected}")


def rows_of(vocabulary: Sequence[str], start_vocabulary: Sequence[str]) -> list[int]:
    """Return the row of a start's embedding for each piece of ``vocabulary``; KeyError for a piece that it lacks.

    MPNet has BERT's pieces in another order, and other names for the special ones.
    """
    numbers = {piece: number for number, piece in enumerate(start_vocabulary)}
    special = {piece: numbers[theirs] for piece, theirs in _MPNET_SPECIAL.items() if theirs in numbers}
    return [special[piece] if piece in special else numbers[piece] for piece in vocabulary]


def start_from_checkpoint(network: Network, checkpoint: Path) -> None:
    """Copy the network of an earlier run's checkpoint into ``network``: a new plan, a new optimiser, the same shape.

    A Full-Transformer and a CT-Transformer are of the same shape: so a full-context teacher is put under the mask. A
    third head that the checkpoint lacks begins at random, the marks' second one as the first, and one that the network
    lacks is left; a smaller network gets the lowest layers, and one that is no
    ``MPNet`` goes without relative positions. ValueError where anything else does not fit.
    """
    state = torch.load(checkpoint, weights_only=True, map_location="cpu")["network"]
    if getattr(network, "closing", None) is not None:
        state = with_closing_of_marks(state)
    missing, unexpected = network.load_state_dict(state, strict=False)
    left_out = {name for name in unexpected if name == "relative" or name.startswith(("layers.", "closing."))}
    if set(unexpected) - left_out or any(not name.startswith("casing.") for name in missing):
        raise ValueError(f"{checkpoint} does not fit: missing {missing}, unexpected {unexpected}")


def with_closing_of_marks(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return a network's weights with a closing head: its own, or where it has none one that begins as the marks'."""
    return {f"closing.{part}": state[f"punctuation.{part}"] for part in ("weight", "bias")} | dict(state)


def _as_bert(tensors: dict[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return an encoder's tensors by BERT's names, and what BERT lacks by the names of ``mpnet``."""
    distances = tensors.get(_DISTANCES)
    if distances is None:
        return tensors, {}
    renamed = {}
    for name, tensor in tensors.items():
        for theirs, bert in _MPNET_NAMES.items():
            name = name.replace(theirs, bert)  # noqa: PLW2901 - one name after the other
        renamed[name] = tensor
    renamed[_POSITIONS] = tensors[_POSITIONS][_MPNET_PADDING:]
    renamed[_SEGMENTS] = torch.zeros(1, tensors[_POSITIONS].shape[1])
    return renamed, {"relative": distances}


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


_POSITIONS = "embeddings.position_embeddings.weight"
_SEGMENTS = "embeddings.token_type_embeddings.weight"
_DISTANCES = "encoder.relative_attention_bias.weight"
_MPNET_PADDING = 2  # positions are counted from the row after the padding's
_MPNET_NAMES = {
    "attention.attn.q.": "attention.self.query.",
    "attention.attn.k.": "attention.self.key.",
    "attention.attn.v.": "attention.self.value.",
    "attention.attn.o.": "attention.output.dense.",
    "attention.LayerNorm.": "attention.output.LayerNorm.",
}
_SHAPE = ("width", "heads", "inner_width", "positions", "max_positions")
_MPNET_SPECIAL = {"[CLS]": "<s>", "[SEP]": "</s>", "[PAD]": "<pad>", "[MASK]": "<mask>"}
_HEADS = ("punctuation.", "disfluency.", "casing.", "closing.")
_BETWEEN_TASKS = ("dependency.", "relative")
"""What a joint network may lack besides: a BERT's relative positions begin at 0, where they make no difference."""

_QKV = ("query", "key", "value")
_SAME = {
    "attention.output.dense": "attended",
    "attention.output.LayerNorm": "attention_norm",
    "intermediate.dense": "inner",
    "output.dense": "outer",
    "output.LayerNorm": "output_norm",
}
