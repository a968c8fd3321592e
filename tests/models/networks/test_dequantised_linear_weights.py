"""An export that keeps BERT's names, but for its linear weights: each is found by the bias that is added to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from caesura.models.networks.dequantisation import dequantise

pytestmark = pytest.mark.torch

QUERY = "bert.encoder.layer.0.attention.self.query.bias"
POOLER = "bert.pooler.dense.bias"


def exported(folder: Path, biases: dict[str, str]) -> tuple[Path, dict[str, NDArray[np.generic]]]:
    """Write an export whose weights have the biases given, by name, each behind a product, a cast and a scaling."""
    rng = np.random.default_rng(1)
    arrays: dict[str, NDArray[np.generic]] = {
        "bert.embeddings.LayerNorm.weight": np.ones(4, dtype=np.float32),
        "bert.embeddings.word_embeddings.weight_quantized": rng.integers(0, 256, (6, 4)).astype(np.uint8),
        "bert.embeddings.word_embeddings.weight_scale": np.array(0.5, dtype=np.float32),
        "bert.embeddings.word_embeddings.weight_zero_point": np.array(120, dtype=np.uint8),
    }
    nodes = []
    for weight, bias in biases.items():
        arrays[f"{weight}_quantized"] = rng.integers(-127, 128, (4, 3)).astype(np.int8)
        arrays[f"{weight}_scale"] = rng.uniform(0.01, 0.1, 3).astype(np.float32)
        arrays[f"{weight}_zero_point"] = np.zeros(3, dtype=np.int8)
        arrays[bias] = rng.normal(size=3).astype(np.float32)
        product, cast, scaled = (f"{weight}{step}" for step in ("_product", "_cast", "_scaled"))
        nodes += [
            helper.make_node("MatMulInteger", ["x", f"{weight}_quantized", "zero", f"{weight}_zero_point"], [product]),
            helper.make_node("Cast", [product], [cast], to=onnx.TensorProto.FLOAT),
            helper.make_node("Mul", [cast, "scales"], [scaled]),
            helper.make_node("Add", [scaled, bias], [f"{weight}_sum"]),
        ]
    if not biases:
        nodes.append(helper.make_node("MatMulInteger", ["x", "val_1_quantized"], ["product"]))
        nodes.append(helper.make_node("Add", ["product", "x"], ["sum"]))
    stored = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    onnx.save(helper.make_model(helper.make_graph(nodes, "bert", [], [], stored)), str(folder / "bert.onnx"))
    return folder / "bert.onnx", arrays


def test_a_weight_takes_the_name_of_the_bias_that_is_added_to_its_product(tmp_path: Path) -> None:
    source, arrays = exported(tmp_path, {"val_39": QUERY, "val_40": POOLER})
    tensors = dequantise(source)
    assert sorted(tensors) == [
        "embeddings.LayerNorm.weight",
        "embeddings.word_embeddings.weight",
        "encoder.layer.0.attention.self.query.bias",
        "encoder.layer.0.attention.self.query.weight",
    ], "what stands above the encoder is left"
    expected = (arrays["val_39_quantized"].astype(np.float32) * arrays["val_39_scale"].astype(np.float32)).T
    assert np.allclose(tensors["encoder.layer.0.attention.self.query.weight"], expected)
    words = (arrays["bert.embeddings.word_embeddings.weight_quantized"].astype(np.float32) - 120) * 0.5
    assert np.allclose(tensors["embeddings.word_embeddings.weight"], words)


def test_a_product_without_a_bias_is_refused(tmp_path: Path) -> None:
    source, _ = exported(tmp_path, {})
    with pytest.raises(ValueError, match="no bias is added to the product of val_1"):
        dequantise(source)
