"""ONNX read and written without its package, held against the package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.commands.check import _guarded, _models
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.errors import FatalError
from caesura.worker.inference.model.model_folder import read_models_folder
from caesura.worker.inference.network.graph_file import (
    Array,
    GraphWriter,
    Shaped,
    stored_arrays,
    with_half_precision_cache,
)
from caesura.worker.inference.network.inference_session import open_graph
from caesura.worker.inference.network.row_graphs import cut_into_rows
from caesura.worker.runtime.settings.settings import RuntimeSettings
from tests.harness.places import SHIPPED
from tests.unit.inference.foreign_network import WIDTH, arrays, network
from tests.unit.inference.model_files import model

onnx = pytest.importorskip("onnx")  # of the train extra
numpy_helper = pytest.importorskip("onnx.numpy_helper")


def test_the_arrays_of_a_file_are_those_that_onnx_reads() -> None:
    shipped = sorted(SHIPPED.glob("*/*.onnx"))
    assert shipped
    for weights in shipped:
        ours = stored_arrays(weights)
        theirs = {one.name: numpy_helper.to_array(one) for one in onnx.load(str(weights)).graph.initializer}
        assert ours.keys() == theirs.keys()
        for name, array in theirs.items():
            assert ours[name].dtype == array.dtype
            assert ours[name].shape == array.shape
            assert (ours[name] == array).all()


@pytest.mark.parametrize("content", [b"", b"not a graph at all", b"\x3a\xff\xff\x03abc", b"\x3a\x04\x2a\x02\x42\x00"])
def test_a_truncated_or_foreign_file_is_refused_or_empty(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "weights.onnx"
    path.write_bytes(content)
    try:
        assert stored_arrays(path) == {}
    except ValueError as error:
        assert "cannot be read as an ONNX file" in str(error)  # noqa: PT017 - either is right


def test_every_graph_that_is_cut_is_a_valid_one() -> None:
    graphs = cut_into_rows(
        stored_arrays(SHIPPED / "en" / "weights.int8.onnx"), layers=6, heads=("punctuation", "disfluency")
    )
    for written in (graphs.entrance, *graphs.steps, graphs.exit, graphs.heads, graphs.weighing):
        model = onnx.load_from_string(written)
        assert model.producer_name == "caesura"
        assert {one.domain: one.version for one in model.opset_import} == {"": 20, "com.microsoft": 1}
        assert all(node.domain in ("", "com.microsoft") for node in model.graph.node)
    onnx.checker.check_model(onnx.load_from_string(graphs.weighing), full_check=True)


def test_what_is_written_is_read_back() -> None:
    graph = GraphWriter()
    graph.constant("whole", np.arange(6, dtype=np.int8).reshape(2, 3))
    graph.constant("one", np.float32(0.5))
    graph.add("Softmax", "rows", output="shares", axis=-1)
    written = onnx.load_from_string(graph.model({"rows": (np.float32, ("N", 3))}, {"shares": (np.float32, ("N", 3))}))
    arrays = {one.name: numpy_helper.to_array(one) for one in written.graph.initializer}
    assert (arrays["whole"] == np.arange(6).reshape(2, 3)).all()
    assert arrays["one"] == np.float32(0.5)
    assert onnx.helper.get_attribute_value(written.graph.node[0].attribute[0]) == -1
    assert [dim.dim_param or dim.dim_value for dim in written.graph.input[0].type.tensor_type.shape.dim] == ["N", 3]


def test_the_second_of_two_computed_arrays_is_rounded_to_half_precision(tmp_path: Path) -> None:
    graph, rng = GraphWriter(), np.random.default_rng(1)
    left, right, stored = (rng.standard_normal((3, 3), dtype=np.float32) for _ in range(3))
    graph.add("MatMul", "left", graph.constant("stored", stored), output="linear")
    graph.add("MatMul", "left", graph.add("Neg", "right"), output="mixed")
    shape: Shaped = (np.float32, (3, 3))
    path = tmp_path / "weights.onnx"
    path.write_bytes(graph.model({"left": shape, "right": shape}, {"linear": shape, "mixed": shape}))
    rounded = with_half_precision_cache(path)
    onnx.checker.check_model(onnx.load_from_string(rounded), full_check=True)
    names, given = ["linear", "mixed"], {"left": left, "right": right}
    linear, mixed = open_graph("none", rounded, 1).run(names, given)
    before = open_graph("none", path, 1).run(names, given)
    np.testing.assert_array_equal(linear, before[0])
    assert (mixed != before[1]).any()
    np.testing.assert_allclose(mixed, left @ -right.astype(np.float16).astype(np.float32), atol=1e-6)


def test_arrays_made_of_stored_ones_are_stored_and_may_be_shared(tmp_path: Path) -> None:
    graph, third = GraphWriter(), np.full((3, 3), 1 / 3, dtype=np.float32)
    turned = graph.add("Transpose", graph.constant("stored", third), perm=(1, 0))
    linear = graph.add("MatMul", "left", graph.add("Neg", turned), output="linear")
    graph.add("MatMul", graph.add("MatMul", linear, "right", output="right.half"), "right", output="mixed")
    shape: Shaped = (np.float32, (3, 3))
    path = tmp_path / "weights.onnx"
    path.write_bytes(graph.model({"left": shape, "right": shape}, {"linear": shape, "mixed": shape}))
    given = {"left": np.eye(3, dtype=np.float32), "right": third}
    made, mixed = open_graph("none", with_half_precision_cache(path), 1).run(["linear", "mixed"], given)
    np.testing.assert_array_equal(made, -third)
    half = third.astype(np.float16).astype(np.float32)
    np.testing.assert_allclose(mixed, -third @ half @ half, atol=1e-7)


@pytest.mark.parametrize(
    "node", [b"\x0b\x01", b"\x0a\x7fabc", b"\x0a\x02\xff\xfe", b"\x22\x06MatMul\x0a\x01a\x0a\x01b"]
)
def test_a_file_with_a_node_that_cannot_be_read_is_refused(node: bytes, tmp_path: Path) -> None:
    path = tmp_path / "weights.onnx"
    graph = b"\x0a" + bytes([len(node)]) + node
    path.write_bytes(b"\x3a" + bytes([len(graph)]) + graph)
    with pytest.raises(ValueError, match="cannot be read as an ONNX file"):
        with_half_precision_cache(path)


def test_a_product_of_one_factor_is_left_to_onnx_runtime_to_refuse(tmp_path: Path) -> None:
    path = tmp_path / "weights.onnx"
    path.write_bytes(b"\x3a\x0d\x0a\x0b\x0a\x01a\x22\x06MatMul")
    assert with_half_precision_cache(path) == path.read_bytes()


@pytest.mark.parametrize("name", ["en", "en-small", "zh", "zh-small"])
def test_a_stored_networks_keys_and_values_are_rounded_in_every_layer(name: str) -> None:
    path = SHIPPED / name / "weights.int8.onnx"
    stored, rounded = onnx.load(path), onnx.load_from_string(with_half_precision_cache(path))
    layers = sum("qkv.int8" in one.name for one in stored.graph.initializer)
    halves = [node for node in rounded.graph.node if node.output[0].endswith(".half")]
    assert len(halves) == 2 * layers
    assert len(rounded.graph.node) == len(stored.graph.node) + 4 * layers
    onnx.checker.check_model(rounded, full_check=True)


Changed = dict[str, Array]


def _flat(array: Array) -> Array:
    return array.reshape(-1)


def _one_not_finite(array: Array) -> Array:
    changed = array.copy()
    changed.flat[0] = np.nan
    return changed


def _infinite(array: Array) -> Array:
    changed = array.copy()
    changed.flat[-1] = np.inf
    return changed


WRONG: dict[str, tuple[str, Callable[[Array], Array | None], str]] = {
    "weights of one axis": (
        "layers.0.inner.int8",
        _flat,
        r"layers\.0\.inner\.int8 has the shape \(8192,\), not \(64, any\)",
    ),
    "weights of other columns": ("layers.1.outer.int8", lambda one: one[:, :32], r"not \(128, 64\)"),
    "weights of no columns": ("layers.1.inner.int8", lambda one: one[:, :0], r"not \(64, any\)"),
    "weights of bytes": ("layers.0.qkv.int8", lambda one: one.view(np.uint8), "is of uint8, not of int8"),
    "a bias that is not finite": ("layers.0.outer.bias", _one_not_finite, r"layers\.0\.outer\.bias holds a number"),
    "a scale that is not finite": ("layers.1.qkv.scale", _infinite, r"layers\.1\.qkv\.scale holds a number"),
    "a scale for all": ("layers.1.qkv.scale", lambda one: one[:1], r"qkv\.scale has the shape \(1,\), not \(192,\)"),
    "a bias of whole numbers": ("layers.1.qkv.bias", lambda one: one.astype(np.int8), "is of int8, not of floats"),
    "a norm that is not finite": ("embedding_norm.weight", _one_not_finite, r"embedding_norm\.weight holds a number"),
    "no norm": ("layers.1.output_norm.bias", lambda _: None, r"has no layers\.1\.output_norm\.bias"),
    "a width of nothing": (
        "embedding_norm.weight",
        lambda one: one[:0],
        r"embedding_norm\.weight has the shape \(0,\)",
    ),
    "a norm without an axis": ("embedding_norm.weight", lambda one: one.reshape(8, 8), r"has the shape \(8, 8\)"),
    "an empty table of positions": (
        "positions.table",
        lambda one: one[:0],
        r"positions\.table has the shape \(0, 64\)",
    ),
    "positions that are not finite": ("positions.table", _infinite, r"positions\.table holds a number"),
    "no positions at all": ("positions.table", lambda _: None, r"has no positions\.rate"),
    "fewer embeddings than pieces": ("embedding.int8", lambda one: one[:3], r"embedding\.scale has the shape \(4, 1\)"),
    "embeddings that are not scaled": ("embedding.scale", _one_not_finite, r"embedding\.scale holds a number"),
    "classes that the manifest lacks": (
        "punctuation.bias",
        lambda one: np.append(one, one[:1]),
        r"punctuation\.bias has",
    ),
    "no head": ("disfluency.weight", lambda _: None, r"has no disfluency\.weight"),
    "no shape of heads": ("integers_0_0_2_32", lambda _: None, "no shape"),
    "heads of another width": ("integers_0_0_2_32", lambda one: one + np.array([0, 0, 1, 0]), "no shape"),
    "heads in floats": ("integers_0_0_2_32", lambda one: one.astype(np.float32), "no shape"),
    "heads that are no numbers": ("integers_0_0_2_32", lambda _: np.full(4, np.nan, np.float32), "no shape"),
    "less than no heads": ("integers_0_0_2_32", lambda one: np.negative(one.astype(np.int64)), "no shape"),
    "two shapes of heads": ("more", lambda _: np.array([0, 0, 4, 16], np.int64), "several shapes"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_an_array_that_cannot_be_is_refused_by_its_name(wrong: str, tmp_path: Path) -> None:
    name, change, reason = WRONG[wrong]
    stored = arrays()
    changed = change(stored.pop(name, np.zeros(0)))
    network(tmp_path, stored if changed is None else stored | {name: changed})
    with pytest.raises(FatalError, match=reason) as refused:
        OnnxEngine(tmp_path, threads=1)
    assert str(tmp_path / "en" / "weights.onnx") in str(refused.value)


def test_the_unchanged_network_labels(tmp_path: Path) -> None:
    network(tmp_path, arrays())
    engine = OnnxEngine(tmp_path, threads=1)
    engine.warm_up()
    (labels,) = engine.label([LabelRequest(session="one", model_id="en@1", buffer_start=0, words=("a", "b", "a"))])
    assert len(labels.punctuation) == 3


def test_check_gives_the_reason_of_a_refused_network_in_one_line(tmp_path: Path) -> None:
    network(tmp_path, arrays() | {"layers.0.qkv.bias": np.full(3 * WIDTH, np.nan, np.float32)})
    (finding,) = _guarded("models", _models(RuntimeSettings(models_dir=str(tmp_path))))
    assert finding.verdict == "bad"
    assert "weights.onnx" in finding.reason
    assert "layers.0.qkv.bias holds a number that is not finite" in finding.reason


@pytest.mark.parametrize(("look_ahead", "layers"), [([9], "1"), ([0, 0, 9], "3"), ([], "0")])
def test_a_manifest_of_another_number_of_layers_is_refused(look_ahead: list[int], layers: str, tmp_path: Path) -> None:
    network(tmp_path, arrays(), look_ahead=look_ahead)
    with pytest.raises(FatalError, match=rf"weights\.onnx .* has 2 layers \(0, 1\), .* look_ahead is of {layers}"):
        OnnxEngine(tmp_path, threads=1)


def test_a_vocabulary_of_more_pieces_than_there_are_embeddings_is_refused(tmp_path: Path) -> None:
    stored = arrays()
    for name in ("embedding.int8", "embedding.scale"):
        stored[name] = stored[name][:3]
    network(tmp_path, stored)
    with pytest.raises(FatalError, match="embeddings of 3 pieces, and the vocabulary 4"):
        OnnxEngine(tmp_path, threads=1)


@pytest.mark.parametrize("max_pieces", [0, -1])
def test_a_manifest_without_room_for_a_piece_is_refused(max_pieces: int, tmp_path: Path) -> None:
    pieces = {"vocabulary": "vocabulary.txt", "leading": "[CLS]", "unknown": "[UNK]", "max_pieces": max_pieces}
    model(tmp_path, wordpiece=pieces)
    with pytest.raises(FatalError, match=r"manifest\.json is no model manifest: .*max_pieces"):
        read_models_folder(tmp_path)


def test_a_manifest_that_looks_back_by_its_look_ahead_is_refused(tmp_path: Path) -> None:
    model(tmp_path, look_ahead=[0, -1])
    with pytest.raises(FatalError, match=r"manifest\.json is no model manifest: .*look_ahead"):
        read_models_folder(tmp_path)


def test_a_vocabulary_that_is_no_text_is_refused(tmp_path: Path) -> None:
    model(tmp_path, vocabulary_file=b"[UNK]\n[CLS]\n\xff\n")
    with pytest.raises(FatalError, match=r"vocabulary\.txt is no vocabulary: it is not UTF-8 at byte 12"):
        OnnxEngine(tmp_path, threads=1)


def test_a_file_name_that_no_system_has_is_refused(tmp_path: Path) -> None:
    model(tmp_path, files=[{"name": name, "bytes": 1, "sha256": ""} for name in ("weights.onnx", "vocabulary.txt")])
    place = tmp_path / "en" / "manifest.json"
    text = place.read_text(encoding="utf-8")
    place.write_text(text.replace("[{", '[{"name": "a\\u0000b", "bytes": 1, "sha256": ""}, {', 1), encoding="utf-8")
    with pytest.raises(FatalError, match="not a plain file name"):
        read_models_folder(tmp_path)


def _file_of(tensor: bytes) -> bytes:
    graph = b"\x2a" + bytes([len(tensor)]) + tensor
    return b"\x3a" + bytes([len(graph)]) + graph


_NAMED = b"\x42\x01w"
ODD: dict[str, tuple[bytes, str]] = {
    "a size of more than a number holds": (b"\x08" + b"\xff" * 9 + b"\x01\x10\x01\x4a\x00" + _NAMED, "w has 0 bytes"),
    "a number without an end": (b"\x08" + b"\xff" * 40 + b"\x01\x10\x01\x4a\x00" + _NAMED, "a number has no end"),
    "fewer bytes than its shape": (b"\x08\x02\x10\x01\x4a\x04abcd" + _NAMED, r"w has 4 bytes, .* the shape \(2,\)"),
    "half an element": (b"\x08\x01\x10\x01\x4a\x03abc" + _NAMED, "w has 3 bytes"),
    "elements of another kind": (b"\x08\x01\x10\x0b\x4a\x08abcdefgh" + _NAMED, "w has elements of ONNX's type 11"),
    "numbers kept apart": (b"\x08\x01\x10\x01" + _NAMED, "w is not stored as raw bytes"),
}


@pytest.mark.parametrize("odd", ODD)
def test_an_array_that_cannot_be_read_is_told_by_its_name(odd: str, tmp_path: Path) -> None:
    tensor, reason = ODD[odd]
    path = tmp_path / "weights.onnx"
    path.write_bytes(_file_of(tensor))
    with pytest.raises(ValueError, match=reason):
        stored_arrays(path)
    model(tmp_path, network_file=path.read_bytes())
    with pytest.raises(FatalError, match=rf"weights\.onnx cannot be loaded: .*{reason}"):
        OnnxEngine(tmp_path, threads=1)


def test_the_arrays_of_a_file_of_chance_bytes_are_read_or_refused(tmp_path: Path) -> None:
    rng, path = np.random.default_rng(3), tmp_path / "weights.onnx"
    small: Any = {"embedding_norm.weight": np.ones(8, np.float32), "layers.0.qkv.int8": np.ones((4, 4), np.int8)}
    network(tmp_path / "whole", small)
    whole = (tmp_path / "whole" / "en" / "weights.onnx").read_bytes()
    for _ in range(500):
        damaged = bytearray(whole)
        for place in rng.integers(0, len(whole), 3):
            damaged[place] = rng.integers(0, 256)
        path.write_bytes(damaged)
        try:
            stored_arrays(path)
        except ValueError:
            continue
