"""An ONNX export of a BERT, mostly int8, back to fp32 safetensors under BERT's own names: a start for training.

The public packages found that carry Chinese encoders (``docs/training.md`` says which) hold them quantised: linear
weights with a scale an output column or one, embeddings in uint8 with one scale each. Each value becomes
(stored - zero point) x scale; biases and norms are there as they were. Two ways of naming the arrays are known: by
layer, and BERT's own but for linear weights (``dequantised_linears``). Pieces that no word can be cut into are left out
of the vocabulary, unless it is wanted whole: Chinese characters stand alone, so their
``##`` forms, a third of all, are never met.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from safetensors.torch import save_file

from caesura.worker.core.language.dictionary import HAN
from caesura.worker.inference.network.graph_file import Array

_Arrays = Mapping[str, NDArray[np.generic]]

_PREFIX = "bert."
_QUANTISED = "_quantized"
_STEPS_TO_BIAS = 3


def named_by_biases(graph: onnx.GraphProto, arrays: _Arrays) -> dict[str, NDArray[np.generic]]:
    """Return the arrays by BERT's names, linear weights as stored (in, out), with their scale and zero point.

    ValueError where no bias is added to a product.
    """
    out = {name.removeprefix(_PREFIX): array for name, array in arrays.items() if name.startswith(_PREFIX)}
    readers = {name: node for node in graph.node for name in node.input}
    for node in graph.node:
        if node.op_type != "MatMulInteger" or not node.input[1].endswith(_QUANTISED):
            continue
        stored = node.input[1].removesuffix(_QUANTISED)
        bias = next(_biases(node, readers, arrays), None)
        if bias is None:
            raise ValueError(f"no bias is added to the product of {stored}")
        if bias.startswith(_PREFIX):
            name = bias.removeprefix(_PREFIX).removesuffix("bias") + "weight"
            out |= {name + part: arrays[stored + part] for part in (_QUANTISED, "_scale", "_zero_point")}
    return out


def _biases(node: onnx.NodeProto, readers: Mapping[str, onnx.NodeProto], arrays: _Arrays) -> Iterator[str]:
    """Yield the stored biases that are added to what the node says, within a few steps."""
    for _ in range(_STEPS_TO_BIAS):
        node = readers[node.output[0]]
        if node.op_type == "Add":
            yield from (name for name in node.input if name in arrays)
            return


_EMBEDDINGS = ("word_embeddings", "position_embeddings", "token_type_embeddings")
_LINEAR = {
    "attn.q_proj": "attention.self.query",
    "attn.k_proj": "attention.self.key",
    "attn.v_proj": "attention.self.value",
    "attn.o_proj": "attention.output.dense",
    "mlp.fc1": "intermediate.dense",
    "mlp.fc2": "output.dense",
}
_NORMS = {
    "attention_output_norm_layernorm": "attention.output.LayerNorm",
    "mlp_output_norm_layernorm": "output.LayerNorm",
}
_WORDS = "embeddings.word_embeddings.weight"
_NEVER_MET = re.compile(rf"##[{HAN}]|\[unused\d+\]")


def write_dequantised(source: Path, tokenizer: Path, weights: Path, vocabulary: Path, *, whole: bool = False) -> int:
    """Write the encoder of ``source`` (ONNX) as safetensors and its vocabulary as a list; return how many pieces.

    tokenizer: the ``tokenizer.json`` of the vocabulary that the encoder was trained with. whole: leave no piece out.
    """
    tensors = dequantise(source)
    numbers = json.loads(tokenizer.read_text(encoding="utf-8"))["model"]["vocab"]
    if len(numbers) != len(tensors[_WORDS]):
        raise ValueError(f"{tokenizer} has {len(numbers)} pieces, {source} has {len(tensors[_WORDS])}")
    kept = sorted((number, piece) for piece, number in numbers.items() if whole or not _NEVER_MET.fullmatch(piece))
    tensors[_WORDS] = tensors[_WORDS][[number for number, _ in kept]]
    for path in (weights, vocabulary):
        path.parent.mkdir(parents=True, exist_ok=True)
    save_file({name: torch.from_numpy(array) for name, array in tensors.items()}, str(weights))
    vocabulary.write_text("\n".join(piece for _, piece in kept) + "\n", encoding="utf-8")
    return len(kept)


def initialisers(source: Path) -> dict[str, Array]:
    """Return the stored arrays of an ONNX file by name."""
    return _stored(onnx.load(str(source)).graph)


def _stored(graph: onnx.GraphProto) -> dict[str, Array]:
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}


def dequantise(source: Path) -> dict[str, NDArray[np.float32]]:
    """Return BERT's tensors by BERT's names, linear weights (out, in); KeyError for an initialiser that is missing."""
    graph = onnx.load(str(source)).graph
    arrays = _stored(graph)
    if "bert.embeddings.LayerNorm.weight" in arrays:
        return _of_bert_s_names(named_by_biases(graph, arrays))
    if _WORDS in arrays:
        return _of_nodes(graph, arrays)
    return _of_layers(arrays)


def _of_bert_s_names(arrays: dict[str, Array]) -> dict[str, NDArray[np.float32]]:
    out: dict[str, NDArray[np.float32]] = {}
    for name, array in arrays.items():
        if not name.startswith(("embeddings.", "encoder.")):
            continue
        if name.endswith("_quantized"):
            whole = name.removesuffix("_quantized")
            values = _values(arrays, whole)
            out[whole] = values if whole.startswith("embeddings.") else np.ascontiguousarray(values.T)
        elif array.dtype == np.float32 and not name.endswith("_scale"):
            out[name] = array.astype(np.float32)
    return out


def _of_nodes(graph: onnx.GraphProto, arrays: dict[str, Array]) -> dict[str, NDArray[np.float32]]:
    """Return the tensors of an export in fp32, whose linear weights have the names of the nodes that use them."""
    out = {
        name: array.astype(np.float32) for name, array in arrays.items() if name.startswith(("embeddings.", "encoder."))
    }
    for node in graph.node:
        if node.op_type == "MatMul" and node.name.startswith("/encoder/") and node.input[1] in arrays:
            weight = node.name.removeprefix("/").removesuffix("/MatMul").replace("/", ".") + ".weight"
            out[weight] = np.ascontiguousarray(arrays[node.input[1]].T.astype(np.float32))
    return out


def _of_layers(arrays: dict[str, Array]) -> dict[str, NDArray[np.float32]]:
    out = {f"embeddings.{name}.weight": _values(arrays, f".model.embeddings.{name}.weight") for name in _EMBEDDINGS}
    out |= _norm(arrays, "model.layers.-1.embeddings_norm_layernorm", "embeddings.LayerNorm")
    k = 0
    while f"model.layers.{k}.mlp.fc2.Add.bias" in arrays:
        theirs, ours = f"model.layers.{k}.", f"encoder.layer.{k}."
        for name, mine in _LINEAR.items():
            weight = _values(arrays, f"{theirs}{name}.MatMul.weight").T
            out[f"{ours}{mine}.weight"] = np.ascontiguousarray(weight)
            out[f"{ours}{mine}.bias"] = arrays[f"{theirs}{name}.Add.bias"].astype(np.float32)
        for name, mine in _NORMS.items():
            out |= _norm(arrays, theirs + name, ours + mine)
        k += 1
    return out


def _values(arrays: dict[str, Array], name: str) -> NDArray[np.float32]:
    zero_point = arrays[f"{name}_zero_point"].astype(np.float32)
    whole = arrays[f"{name}_quantized"].astype(np.float32)
    return (whole - zero_point) * arrays[f"{name}_scale"].astype(np.float32)


def _norm(arrays: dict[str, Array], theirs: str, ours: str) -> dict[str, NDArray[np.float32]]:
    return {f"{ours}.{part}": arrays[f"{theirs}.{part}"].astype(np.float32) for part in ("weight", "bias")}
