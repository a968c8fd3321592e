"""A network of the shape and interface that ``funasr_onnx.CT_Transformer_VadRealtime`` runs, with random weights.

FunASR's own weights are not to be had here. The layers are those of its ``SANMVadEncoder`` (self-attention with a
memory of eleven tokens beside it, then two linear layers), their number and sizes those of our shipped network: 6
layers of 384, 12 heads, 1,536 between. In: token numbers (1, T), their count, and twice a mask (1, 1, T, T); out: a
score a token and mark (1, T, marks). The look-up that decides the label is added to the scores inside the graph.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

LAYERS, SIZE, HEADS, BETWEEN, KERNEL = 6, 384, 12, 1536, 11
_MARKS = ("<unk>", "_", ",", "。", "?", "、")
_FALLBACK_CONFIG = "model_conf:\n  punc_list:\n"
_OPSET = 17


class Layer(nn.Module):
    """Attention under a mask, with a memory over the values, and two linear layers; both on a normalised input."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.second_norm = nn.LayerNorm(SIZE), nn.LayerNorm(SIZE)
        self.query_key_value, self.out = nn.Linear(SIZE, 3 * SIZE), nn.Linear(SIZE, SIZE)
        self.memory = nn.Conv1d(SIZE, SIZE, KERNEL, padding=KERNEL // 2, groups=SIZE, bias=False)
        self.wide, self.narrow = nn.Linear(SIZE, BETWEEN), nn.Linear(BETWEEN, SIZE)

    def forward(self, rows: Tensor, mask: Tensor) -> Tensor:
        """Rows (1, T, D), mask (1, 1, T, T) of ones and zeros; returns rows."""
        query, key, value = self.query_key_value(self.norm(rows)).chunk(3, dim=-1)
        heads = [one.unflatten(-1, (HEADS, SIZE // HEADS)).transpose(1, 2) for one in (query, key, value)]
        scores = heads[0] @ heads[1].transpose(2, 3) / (SIZE // HEADS) ** 0.5
        seen = (scores + (mask - 1.0) * 1e4).softmax(dim=-1) @ heads[2]
        remembered = self.memory(value.transpose(1, 2)).transpose(1, 2) + value
        rows = rows + self.out(seen.transpose(1, 2).flatten(2)) + remembered
        narrowed: Tensor = self.narrow(torch.relu(self.wide(self.second_norm(rows))))
        return rows + narrowed


class Punctuation(nn.Module):
    """Tokens to scores."""

    def __init__(self, decided: Tensor) -> None:
        super().__init__()
        self.embedding = nn.Embedding(decided.shape[0], SIZE)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.scores = nn.LayerNorm(SIZE), nn.Linear(SIZE, decided.shape[1])
        self.decided = nn.Embedding(decided.shape[0], decided.shape[1], _weight=decided)

    def forward(self, tokens: Tensor, lengths: Tensor, vad_mask: Tensor, sub_masks: Tensor) -> Tensor:
        """Return scores (1, T, marks); all layers but the last see through ``sub_masks``, the last ``vad_mask``."""
        rows = self.embedding(tokens)
        for number, layer in enumerate(self.layers):
            rows = layer(rows, vad_mask if number == LAYERS - 1 else sub_masks)
        scored: Tensor = self.scores(self.norm(rows)) + self.decided(tokens) + 0.0 * lengths[0]
        return scored


def export(folder: Path, words: Sequence[str], marks: Sequence[int], weight: float) -> None:
    """Write a model folder as FunASR reads it: ``model.onnx``, ``model_quant.onnx``, ``config.yaml``, ``tokens.json``.

    marks: the place in ``_MARKS`` of each word's mark.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415 - needs onnx, of the train extra

    torch.manual_seed(1)
    tokens = [*words, "<unk>"]
    decided = torch.zeros(len(tokens), len(_MARKS))
    for place, mark in enumerate(marks):
        decided[place, mark] = weight
    decided[-1, 1] = weight
    network = Punctuation(decided).eval()
    size = 7
    ids, mask = torch.zeros(1, size, dtype=torch.int32), torch.ones(1, 1, size, size)
    folder.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(
        network,
        (ids, torch.tensor([size], dtype=torch.int32), mask, mask.clone()),
        str(folder / "model.onnx"),
        input_names=["inputs", "text_lengths", "vad_masks", "sub_masks"],
        output_names=["logits"],
        dynamic_axes={
            "inputs": {1: "T"},
            "vad_masks": {2: "T", 3: "T"},
            "sub_masks": {2: "T", 3: "T"},
            "logits": {1: "T"},
        },
        opset_version=_OPSET,
        dynamo=False,
    )
    quantize_dynamic(
        folder / "model.onnx",
        folder / "model_quant.onnx",
        op_types_to_quantize=["MatMul"],
        weight_type=QuantType.QUInt8,
    )
    listed = "".join(f'  - "{mark}"\n' for mark in _MARKS)
    (folder / "config.yaml").write_text(_FALLBACK_CONFIG + listed, encoding="utf-8")
    (folder / "tokens.json").write_text(json.dumps(tokens), encoding="utf-8")
