"""Reads stored arrays from ONNX files and writes small ONNX graphs, without the ``onnx`` package.

A worker has only ONNX Runtime, which runs graphs but cannot read their parts or build new ones. The format is Protocol
Buffers: a message is a sequence of fields, each with a number, a wire type (0 varint, 2 length-delimited) and a value.
The numbers below are those of ``onnx.proto`` (ONNX 1.16, IR version 9).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]

Shaped = tuple[type[np.generic], tuple[int | str, ...]]
"""An array's element type and sizes; a name stands for a size that varies."""

_IR_VERSION = 9
_OPSET = 20
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED = {_FIXED64: 8, _FIXED32: 4}
_LONGEST_SHIFT = 63
"""A varint has ten bytes at most, seven bits each."""
_TYPES: dict[int, type[np.generic]] = {
    1: np.float32,
    2: np.uint8,
    3: np.int8,
    6: np.int32,
    7: np.int64,
    9: np.bool_,
    10: np.float16,
}
_NUMBERS = {np.dtype(kind): number for number, kind in _TYPES.items()}
_GRAPH, _NODE, _ARRAY, _ARRAY_NAME = 7, 1, 5, 8
_INPUT, _OUTPUT, _OPERATOR = 1, 2, 4
_FLOAT_ATTRIBUTE, _INTEGER_ATTRIBUTE, _INTEGERS_ATTRIBUTE = 1, 2, 7


def stored_arrays(path: Path) -> dict[str, Array]:
    """Return the arrays of an ONNX file by name. ValueError if it is not ONNX, or stores arrays in other files."""
    arrays: dict[str, Array] = {}
    try:
        for graph in _parts(path.read_bytes(), 7):
            for tensor in _parts(graph, 5):
                name, array = _tensor(tensor)
                arrays[name] = array
    except (IndexError, ValueError) as error:
        raise ValueError(f"{path.name} cannot be read as an ONNX file: {error}") from error
    return arrays


def integer_matmul_inputs(path: Path) -> list[str]:
    """Return the names of the inputs of an ONNX file's matrix products, in order. ValueError as above.

    ``MatMulInteger``, ``QLinearMatMul``, ``QGemm`` and the like read the bytes directly.
    """
    try:
        nodes = [node for graph in _parts(path.read_bytes(), _GRAPH) for node in _parts(graph, _NODE)]
        return [name for node in nodes if _multiplies(node) for name in _texts(node, _INPUT)]
    except (IndexError, ValueError) as error:
        raise ValueError(f"{path.name} cannot be read as an ONNX file: {error}") from error


def _multiplies(node: memoryview) -> bool:
    return any("MatMul" in operator or "Gemm" in operator for operator in _texts(node, _OPERATOR))


def with_half_precision_cache(path: Path) -> bytes:
    """Return a stored graph that rounds keys and values to half precision, as the KV cache does (docs/engine.md).

    They are the second factors of products of two computed arrays. Arrays that are computed from stored ones alone
    count as stored. ValueError if the file is not ONNX.
    """
    try:
        return b"".join(
            _bytes(_GRAPH, _rounded(value))
            if number == _GRAPH and isinstance(value, memoryview)
            else _field(number, value)
            for number, value in _fields(memoryview(path.read_bytes()))
        )
    except (IndexError, ValueError) as error:
        raise ValueError(f"{path.name} cannot be read as an ONNX file: {error}") from error


def _rounded(graph: memoryview) -> bytes:
    stored = {name for tensor in _parts(graph, _ARRAY) for name in _texts(tensor, _ARRAY_NAME)}
    parts: list[bytes] = []
    for kind, part in _fields(graph):
        parts += (_field(kind, one) for one in (_rounding(part, stored) if kind == _NODE else (part,)))
    return b"".join(parts)


def _rounding(node: int | memoryview, stored: set[str]) -> Iterator[int | bytes | memoryview]:
    """Yield a node. If it multiplies two computed arrays, first yield nodes that round the second array."""
    if isinstance(node, int):
        yield node
        return
    read, made = _texts(node, _INPUT), _texts(node, _OUTPUT)
    if stored.issuperset(read):
        stored.update(made)
    if _texts(node, _OPERATOR) != ["MatMul"] or len(read) != 2 or stored & {*read}:
        yield node
        return
    graph = GraphWriter()  # named after the product, because several products may share a second factor
    half = graph.add("Cast", read[1], output=f"{made[0]}.half", to=_NUMBERS[np.dtype(np.float16)])
    rounded = graph.add("Cast", half, output=f"{made[0]}.kept", to=_NUMBERS[np.dtype(np.float32)])
    yield from graph.nodes
    others = b"".join(_field(number, value) for number, value in _fields(node) if number != _INPUT)
    yield _text(_INPUT, read[0]) + _text(_INPUT, rounded) + others


def _texts(message: memoryview, wanted: int) -> list[str]:
    return [str(value, "utf-8") for value in _parts(message, wanted)]


def _field(number: int, value: int | bytes | memoryview) -> bytes:
    return _integer(number, value) if isinstance(value, int) else _bytes(number, bytes(value))


def _tensor(message: memoryview) -> tuple[str, Array]:
    shape: list[int] = []
    kind, name, raw = 0, "", None
    for number, value in _fields(message):
        if number == 1:
            shape.extend(_dimensions(value))
        elif number == 2 and isinstance(value, int):
            kind = value
        elif number == 8 and isinstance(value, memoryview):
            name = str(value, "utf-8")
        elif number == 9 and isinstance(value, memoryview):
            raw = value
    if raw is None:
        raise ValueError(f"{name} is not stored as raw bytes in the file itself")
    if kind not in _TYPES:
        raise ValueError(f"{name} has elements of ONNX's type {kind}, which is not supported")
    try:
        return name, np.frombuffer(raw, dtype=np.dtype(_TYPES[kind]).newbyteorder("<")).reshape(shape)
    except (OverflowError, ValueError) as error:
        raise ValueError(f"{name} has {len(raw)} bytes, which do not fit the shape {tuple(shape)}") from error


def _dimensions(value: int | memoryview) -> Iterator[int]:
    if isinstance(value, int):
        yield value
        return
    place = 0
    while place < len(value):
        number, place = _varint(value, place)
        yield number


def _parts(message: bytes | memoryview, wanted: int) -> Iterator[memoryview]:
    for number, value in _fields(memoryview(message)):
        if number == wanted and isinstance(value, memoryview):
            yield value


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        kind = key & 7
        if kind == _VARINT:
            value, place = _varint(message, place)
            yield key >> 3, value
            continue
        if kind == _BYTES:
            size, place = _varint(message, place)
        elif kind in _FIXED:
            size = _FIXED[kind]
        else:
            raise ValueError(f"a field of kind {kind}")
        if place + size > len(message):
            raise IndexError("a field ends behind its message")
        yield key >> 3, message[place : place + size]
        place += size


def _varint(message: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7
        if shift > _LONGEST_SHIFT:
            raise IndexError("a number has no end")


class GraphWriter:
    """Builds a graph. Each method that adds a node or array returns the name of its result."""

    def __init__(self) -> None:
        self.nodes: list[bytes] = []
        self._arrays: dict[str, bytes] = {}
        self._count = 0

    def add(self, op: str, *inputs: str, output: str | None = None, **attributes: float | tuple[int, ...]) -> str:
        """Add a node. op: ``domain/Operator``, or only ``Operator`` for the domain of ONNX."""
        domain, _, name = op.rpartition("/")
        self._count += 1
        result = output or f"{name.lower()}_{self._count}"
        node = b"".join(_text(1, one) for one in inputs) + _text(2, result) + _text(4, name)
        node += b"".join(_bytes(5, _attribute(key, value)) for key, value in attributes.items())
        self.nodes.append(node + (_text(7, domain) if domain else b""))
        return result

    def constant(self, name: str, array: Array | np.generic) -> str:
        """Add an array under a name, unless the name is taken."""
        if name not in self._arrays:
            values = np.asarray(array)
            tensor = b"".join(_integer(1, size) for size in values.shape) + _integer(2, _NUMBERS[values.dtype])
            self._arrays[name] = tensor + _text(8, name) + _bytes(9, np.ascontiguousarray(values).tobytes())
        return name

    def number(self, value: float) -> str:
        """Add a float scalar."""
        return self.constant(f"number_{value}", np.float32(value))

    def integers(self, *values: int) -> str:
        """Add a one-dimensional array of integers."""
        return self.constant("integers_" + "_".join(map(str, values)), np.array(values, dtype=np.int64))

    def model(self, inputs: dict[str, Shaped], outputs: dict[str, Shaped]) -> bytes:
        """Return the ONNX model. inputs, outputs: (element type, sizes) by name; a varying size has a name."""
        graph = b"".join(_bytes(1, node) for node in self.nodes) + _text(2, "rows")
        graph += b"".join(_bytes(5, tensor) for tensor in self._arrays.values())
        graph += b"".join(_bytes(11, _value(name, shaped)) for name, shaped in inputs.items())
        graph += b"".join(_bytes(12, _value(name, shaped)) for name, shaped in outputs.items())
        opsets = _bytes(8, _integer(2, _OPSET)) + _bytes(8, _text(1, "com.microsoft") + _integer(2, 1))
        return _integer(1, _IR_VERSION) + _text(2, "caesura") + _bytes(7, graph) + opsets


def _value(name: str, shaped: Shaped) -> bytes:
    kind, sizes = shaped
    shape = b"".join(_bytes(1, _integer(1, size) if isinstance(size, int) else _text(2, size)) for size in sizes)
    tensor = _integer(1, _NUMBERS[np.dtype(kind)]) + _bytes(2, shape)
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


def _attribute(name: str, value: float | tuple[int, ...]) -> bytes:
    if isinstance(value, tuple):
        return _text(1, name) + b"".join(_integer(8, one) for one in value) + _integer(20, _INTEGERS_ATTRIBUTE)
    if isinstance(value, int):
        return _text(1, name) + _integer(3, value) + _integer(20, _INTEGER_ATTRIBUTE)
    number = bytes([2 << 3 | _FIXED32]) + np.float32(value).tobytes()
    return _text(1, name) + number + _integer(20, _FLOAT_ATTRIBUTE)


def _integer(number: int, value: int) -> bytes:
    return _encoded(number << 3 | _VARINT) + _encoded(value & 0xFFFF_FFFF_FFFF_FFFF)


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode())


def _bytes(number: int, value: bytes) -> bytes:
    return _encoded(number << 3 | _BYTES) + _encoded(len(value)) + value


def _encoded(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
