"""What the compiled attention refuses instead of reading it: it is handed addresses, and must not believe them."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

row_kernels = pytest.importorskip(
    "worker.adapters.onnx.row_kernels", reason="nothing was compiled at installation", exc_type=ImportError
)

LAYERS = 3


def _given(**changed: Any) -> list[Any]:  # noqa: ANN401 - what no type allows is the point
    """Return what ``mix`` is given of a session with 16 keys in 2 heads of 16, and two rows."""
    kept = {
        "layer": 0,
        "keys": [np.zeros((LAYERS, 2, 16, 16), dtype=np.float32)],
        "values": [np.zeros((LAYERS, 2, 16, 16), dtype=np.float32)],
        "rows": _whole(2),
        "sight": _whole(3, 16),
        "asking": np.zeros((2, 64), dtype=np.float32),
        "mixed": np.zeros((2, 32), dtype=np.float32),
    }
    return list((kept | changed).values())


def _whole(*numbers: int) -> NDArray[np.int32]:
    return np.array(numbers, dtype=np.int32)


def _overlapping() -> dict[str, Any]:
    memory = np.full(32, 3, dtype=np.int32)
    return {"rows": _whole(1), "sight": memory[4:5], "asking": np.zeros((1, 64), np.float32), "mixed": memory[None]}


WRONG: dict[str, dict[str, Any]] = {
    "a layer that is not there": {"layer": LAYERS},
    "a layer below the first": {"layer": -1},
    "as many values as keys": {"values": []},
    "not a number of sessions": {"keys": 3},
    "whole numbers as keys": {"keys": [np.zeros((LAYERS, 2, 16, 16), dtype=np.int32)]},
    "bytes in another order": {"values": [np.zeros((LAYERS, 2, 16, 16), dtype=">f4")]},
    "sight in fractions": {"sight": np.array([3, 16], dtype=np.float32)},
    "counts of two bytes": {"rows": np.array([2, 0], dtype=np.int16)},
    "what is asked on its side": {"asking": np.zeros((64, 2), dtype=np.float32)},
    "whole numbers for the answer": _overlapping(),
    "bytes at an odd place": {"asking": memoryview(bytearray(513))[1:].cast("f", [2, 64])},
    "no heads": {"keys": [np.zeros((LAYERS, 0, 16, 16), dtype=np.float32)]},
    "no width": {
        "keys": [np.zeros((1, 1, 0, 2**60), dtype=np.float32)],
        "values": [np.zeros((1, 1, 2**60, 0), dtype=np.float32)],
    },
    "more rows than any pass has": {"rows": _whole(2**30)},
    "kept in double precision": {"keys": [np.zeros((LAYERS, 2, 16, 16))]},
    "not of four axes": {"keys": [np.zeros((2, 16, 16), dtype=np.float32)]},
    "not lying together": {"keys": [np.zeros((LAYERS, 2, 16, 32), dtype=np.float32)[..., ::2]]},
    "values of another capacity": {"values": [np.zeros((LAYERS, 2, 32, 16), dtype=np.float32)]},
    "values of other heads": {"values": [np.zeros((LAYERS, 4, 16, 16), dtype=np.float32)]},
    "no whole vectors": {
        "keys": [np.zeros((LAYERS, 2, 16, 15), dtype=np.float32)],
        "values": [np.zeros((LAYERS, 2, 15, 16), dtype=np.float32)],
    },
    "rows of more sessions": {"rows": _whole(1, 1)},
    "fewer rows than none": {"rows": _whole(-1)},
    "more rows than are asked for": {"rows": _whole(3)},
    "a row that sees nothing": {"sight": _whole(0, 16)},
    "a row that sees more than there is": {"sight": _whole(3, 17)},
    "sight of one row": {"sight": _whole(3)},
    "half of what is asked": {"asking": np.zeros((2, 32), dtype=np.float32)},
    "no room for the answer": {"mixed": np.zeros((1, 32), dtype=np.float32)},
    "no numbers at all": {"keys": [None]},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_does_not_fit_is_refused_and_never_read(wrong: str) -> None:
    row_kernels.mix(*_given())
    with pytest.raises((ValueError, TypeError, BufferError)):
        row_kernels.mix(*_given(**WRONG[wrong]))


@pytest.mark.parametrize(("rows", "start", "seen"), [(2, 15, 2), (2, -1, 2), (3, 0, 2), (2, 0, 3)])
def test_rows_that_there_is_no_room_for_are_not_kept(rows: int, start: int, seen: int) -> None:
    _, keys, values, *_ = _given()
    with pytest.raises(ValueError, match=r"room|rows"):
        row_kernels.keep(0, keys, values, _whole(rows), _whole(start), np.ones((seen, 64), dtype=np.float32))
    assert not any(part.any() for part in chain(keys, values))


def test_lists_that_lose_their_arrays_as_they_are_read_do_no_harm_and_no_other_processor_can_be_chosen() -> None:
    given = _given()
    mixed = given[-1]

    class Clearing(list[Any]):
        """Two arrays, of which the lists know nothing any more once they were read."""

        def __iter__(self) -> Any:  # noqa: ANN401
            read = [*super().__iter__()]
            self.clear()
            return iter(read)

    given[1], given[2] = Clearing(given[1]), Clearing(given[2])
    row_kernels.mix(*given)
    assert not mixed.any()
    with pytest.raises(ValueError, match="this processor is not of that kind"):
        row_kernels.choose("pdp-11")
