"""A made-up int8 export of a BERT comes back as fp32 under BERT's names, and starts a network."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from safetensors.torch import load_file

from caesura.models.networks.ct_transformer import CTConfig, CTTransformer
from caesura.models.networks.dequantisation import dequantise, write_dequantised
from caesura.models.networks.pretrained import start_from_bert

WIDTH, INNER, POSITIONS = 8, 16, 12
PIECES = ["[PAD]", "[unused1]", "[UNK]", "[CLS]", "\u6211", "##\u6211", "##s", "a"]
LINEAR = {"attn.q_proj": 0, "attn.k_proj": 0, "attn.v_proj": 0, "attn.o_proj": 0, "mlp.fc1": 1, "mlp.fc2": 2}
SHAPES = ((WIDTH, WIDTH), (WIDTH, INNER), (INNER, WIDTH))


def quantised(folder: Path, pieces: list[str]) -> tuple[Path, Path]:
    """Write an export of one layer and its tokenizer.json."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(1)
    arrays: dict[str, NDArray[np.generic]] = {}

    def stored(name: str, shape: tuple[int, int], *, columns: bool) -> None:
        low, high, kind = (-127, 128, np.int8) if columns else (0, 256, np.uint8)
        arrays[f"{name}_quantized"] = rng.integers(low, high, shape).astype(kind)
        size = shape[1] if columns else ()
        arrays[f"{name}_scale"] = rng.uniform(0.001, 0.01, size).astype(np.float32)
        arrays[f"{name}_zero_point"] = np.full(size, 0 if columns else 120, dtype=kind)

    def norm(name: str) -> None:
        arrays[f"{name}.weight"], arrays[f"{name}.bias"] = (np.full(WIDTH, k, dtype=np.float32) for k in (1, 0))

    for name, rows in (("word", len(pieces)), ("position", POSITIONS), ("token_type", 2)):
        stored(f".model.embeddings.{name}_embeddings.weight", (rows, WIDTH), columns=False)
    for name, shape in LINEAR.items():
        stored(f"model.layers.0.{name}.MatMul.weight", SHAPES[shape], columns=True)
        arrays[f"model.layers.0.{name}.Add.bias"] = rng.normal(size=SHAPES[shape][1]).astype(np.float32)
    norm("model.layers.-1.embeddings_norm_layernorm")
    norm("model.layers.0.attention_output_norm_layernorm")
    norm("model.layers.0.mlp_output_norm_layernorm")
    graph = helper.make_graph([], "bert", [], [], [numpy_helper.from_array(a, name) for name, a in arrays.items()])
    onnx.save(helper.make_model(graph), str(folder / "bert.onnx"))
    vocabulary = {"model": {"vocab": {piece: number for number, piece in enumerate(pieces)}}}
    (folder / "tokenizer.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    return folder / "bert.onnx", folder / "tokenizer.json"


def test_stored_numbers_become_values_and_pieces_never_met_are_left_out(tmp_path: Path) -> None:
    source, tokenizer = quantised(tmp_path, PIECES)
    kept = write_dequantised(source, tokenizer, tmp_path / "start.safetensors", tmp_path / "vocab.txt")
    vocabulary = (tmp_path / "vocab.txt").read_text(encoding="utf-8").split()
    assert vocabulary == ["[PAD]", "[UNK]", "[CLS]", "\u6211", "##s", "a"]
    assert kept == len(vocabulary)
    arrays = {one.name: numpy_helper.to_array(one) for one in onnx.load(str(source)).graph.initializer}
    tensors = load_file(str(tmp_path / "start.safetensors"))
    fed = "model.layers.0.mlp.fc1.MatMul.weight"
    expected = arrays[f"{fed}_quantized"].astype(np.float32).T * arrays[f"{fed}_scale"][:, None]
    assert np.allclose(tensors["encoder.layer.0.intermediate.dense.weight"].numpy(), expected)
    words = ".model.embeddings.word_embeddings.weight"
    last = (arrays[f"{words}_quantized"][-1].astype(np.float32) - 120) * arrays[f"{words}_scale"]
    assert np.allclose(tensors["embeddings.word_embeddings.weight"][-1].numpy(), last)


def test_what_comes_out_starts_a_network_of_its_shape(tmp_path: Path) -> None:
    source, tokenizer = quantised(tmp_path, PIECES)
    kept = write_dequantised(source, tokenizer, tmp_path / "start.safetensors", tmp_path / "vocab.txt")
    shape = CTConfig(
        vocabulary_size=kept,
        width=WIDTH,
        heads=2,
        inner_width=INNER,
        look_ahead=(9,),
        positions="learned",
        max_positions=POSITIONS,
        punctuation_classes=5,
    )
    network = CTTransformer(shape)
    start_from_bert(network, tmp_path / "start.safetensors", leading=2)
    scores, _ = network(torch.tensor([[2, 3, 5]]), torch.tensor([[0, 1, 2]]))
    assert scores.shape == (1, 3, 5)
    assert bool(torch.isfinite(scores).all())


def test_a_vocabulary_of_another_size_is_refused(tmp_path: Path) -> None:
    source, tokenizer = quantised(tmp_path, PIECES)
    tokenizer.write_text(json.dumps({"model": {"vocab": {"[PAD]": 0}}}), encoding="utf-8")
    with pytest.raises(ValueError, match="has 1 pieces"):
        write_dequantised(source, tokenizer, tmp_path / "start.safetensors", tmp_path / "vocab.txt")


def test_an_export_in_fp32_has_its_linear_weights_named_by_its_nodes(tmp_path: Path) -> None:
    weight = np.arange(WIDTH * INNER, dtype=np.float32).reshape(WIDTH, INNER)
    words = np.ones((len(PIECES), WIDTH), dtype=np.float32)
    arrays = {"embeddings.word_embeddings.weight": words, "onnx::MatMul_7": weight}
    node = helper.make_node("MatMul", ["x", "onnx::MatMul_7"], ["y"], name="/encoder/layer.0/intermediate/dense/MatMul")
    stored = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    onnx.save(helper.make_model(helper.make_graph([node], "bert", [], [], stored)), str(tmp_path / "bert.onnx"))
    _, tokenizer = quantised(tmp_path / "other", PIECES)
    out = tmp_path / "start.safetensors"
    kept = write_dequantised(tmp_path / "bert.onnx", tokenizer, out, tmp_path / "vocab.txt", whole=True)
    assert kept == len(PIECES)
    assert (tmp_path / "vocab.txt").read_text(encoding="utf-8").split() == PIECES
    tensors = load_file(str(out))
    assert np.array_equal(tensors["encoder.layer.0.intermediate.dense.weight"].numpy(), weight.T)
    assert "onnx::MatMul_7" not in tensors


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
