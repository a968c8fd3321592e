"""ONNX read and written without its package, held against the package."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from caesura.worker.inference.network.graph_file import GraphWriter, Shaped, in_halves, stored_arrays
from caesura.worker.inference.network.inference_session import open_graph
from caesura.worker.inference.network.row_graphs import cut_into_rows
from tests.harness.places import SHIPPED

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
def test_a_file_that_is_cut_or_none_holds_no_arrays_or_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "weights.onnx"
    path.write_bytes(content)
    try:
        assert stored_arrays(path) == {}
    except ValueError as error:
        assert "no ONNX file" in str(error)  # noqa: PT017 - either is right


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


def test_of_two_computed_arrays_the_second_is_rounded_to_half_precision_and_nothing_else_is(tmp_path: Path) -> None:
    graph, rng = GraphWriter(), np.random.default_rng(1)
    left, right, stored = (rng.standard_normal((3, 3), dtype=np.float32) for _ in range(3))
    graph.add("MatMul", "left", graph.constant("stored", stored), output="linear")
    graph.add("MatMul", "left", graph.add("Neg", "right"), output="mixed")
    shape: Shaped = (np.float32, (3, 3))
    path = tmp_path / "weights.onnx"
    path.write_bytes(graph.model({"left": shape, "right": shape}, {"linear": shape, "mixed": shape}))
    rounded = in_halves(path)
    onnx.checker.check_model(onnx.load_from_string(rounded), full_check=True)
    names, given = ["linear", "mixed"], {"left": left, "right": right}
    linear, mixed = open_graph("none", rounded, 1).run(names, given)
    before = open_graph("none", path, 1).run(names, given)
    np.testing.assert_array_equal(linear, before[0])
    assert (mixed != before[1]).any()
    np.testing.assert_allclose(mixed, left @ -right.astype(np.float16).astype(np.float32), atol=1e-6)


def test_what_is_made_of_stored_arrays_is_stored_and_two_products_may_have_one_second_factor(tmp_path: Path) -> None:
    graph, third = GraphWriter(), np.full((3, 3), 1 / 3, dtype=np.float32)
    turned = graph.add("Transpose", graph.constant("stored", third), perm=(1, 0))
    linear = graph.add("MatMul", "left", graph.add("Neg", turned), output="linear")
    graph.add("MatMul", graph.add("MatMul", linear, "right", output="right.half"), "right", output="mixed")
    shape: Shaped = (np.float32, (3, 3))
    path = tmp_path / "weights.onnx"
    path.write_bytes(graph.model({"left": shape, "right": shape}, {"linear": shape, "mixed": shape}))
    given = {"left": np.eye(3, dtype=np.float32), "right": third}
    made, mixed = open_graph("none", in_halves(path), 1).run(["linear", "mixed"], given)
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
    with pytest.raises(ValueError, match="no ONNX file"):
        in_halves(path)


def test_a_product_of_one_factor_is_left_to_onnx_runtime_to_refuse(tmp_path: Path) -> None:
    path = tmp_path / "weights.onnx"
    path.write_bytes(b"\x3a\x0d\x0a\x0b\x0a\x01a\x22\x06MatMul")
    assert in_halves(path) == path.read_bytes()


@pytest.mark.parametrize("name", ["en", "en-small", "zh", "zh-small"])
def test_a_stored_networks_keys_and_values_are_rounded_in_every_layer(name: str) -> None:
    path = SHIPPED / name / "weights.int8.onnx"
    stored, rounded = onnx.load(path), onnx.load_from_string(in_halves(path))
    layers = sum("qkv.int8" in one.name for one in stored.graph.initializer)
    halves = [node for node in rounded.graph.node if node.output[0].endswith(".half")]
    assert len(halves) == 2 * layers
    assert len(rounded.graph.node) == len(stored.graph.node) + 4 * layers
    onnx.checker.check_model(rounded, full_check=True)
