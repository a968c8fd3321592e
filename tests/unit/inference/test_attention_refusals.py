"""What the compiled attention refuses instead of reading it: it is handed addresses, and must not believe them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

attention_kernels = pytest.importorskip(
    "caesura.worker.inference.native.attention_kernels",
    reason="nothing was compiled at installation",
    exc_type=ImportError,
)

LAYERS = 3


def _given(**changed: Any) -> list[Any]:  # noqa: ANN401 - what no type allows is the point
    """Return what ``mix`` is given of a session with 16 keys in 2 heads of 16, its block the fourth, and two rows."""
    kept = {
        "layer": 0,
        "slabs": [_slab(), _slab()],
        "numbers": _whole(3),
        "counts": _whole(1),
        "rows": _whole(2),
        "since": _whole(1, 5),
        "sight": _whole(3, 16),
        "query": np.zeros((2, 64), dtype=np.float32),
        "context": np.zeros((2, 32), dtype=np.float32),
    }
    return list((kept | changed).values())


def _slab(*shape: int, kind: Any = np.float16) -> NDArray[Any]:  # noqa: ANN401
    return np.zeros(shape or (2, LAYERS, 2, 2, 256), dtype=kind)


def _whole(*numbers: int) -> NDArray[np.int32]:
    return np.array(numbers, dtype=np.int32)


def _overlapping() -> dict[str, Any]:
    memory = np.full(32, 3, dtype=np.int32)
    return {
        "rows": _whole(1),
        "since": _whole(1),
        "sight": memory[4:5],
        "query": np.zeros((1, 64), np.float32),
        "context": memory[None],
    }


WRONG: dict[str, dict[str, Any]] = {
    "a layer that is not there": {"layer": LAYERS},
    "a layer below the first": {"layer": -1},
    "no slab": {"slabs": []},
    "not a number of slabs": {"slabs": 3},
    "whole numbers as keys": {"slabs": [_slab(), _slab(kind=np.int32)]},
    "bytes in another order": {"slabs": [_slab(), _slab(kind=">f2")]},
    "a block that is not there": {"numbers": _whole(4)},
    "a block below the first": {"numbers": _whole(-1)},
    "a block of a slab that is not there": {"slabs": [_slab()]},
    "fewer blocks than the session has": {"counts": _whole(2)},
    "more blocks than the session has": {"numbers": _whole(3, 2)},
    "a session with fewer blocks than none": {"counts": _whole(-1)},
    "a session with more blocks than there can be": {"counts": _whole(2**30)},
    "blocks of more sessions": {"counts": _whole(1, 0)},
    "blocks in fractions": {"numbers": np.array([3], dtype=np.float32)},
    "sight in fractions": {"sight": np.array([3, 16], dtype=np.float32)},
    "counts of two bytes": {"rows": np.array([2, 0], dtype=np.int16)},
    "what is asked on its side": {"query": np.zeros((64, 2), dtype=np.float32)},
    "whole numbers for the answer": _overlapping(),
    "bytes at an odd place": {"query": memoryview(bytearray(513))[1:].cast("f", [2, 64])},
    "no heads": {"slabs": [_slab(4, LAYERS, 2, 0, 256)]},
    "no width": {"slabs": [_slab(4, LAYERS, 2, 2, 0)]},
    "no blocks": {"slabs": [_slab(0, LAYERS, 2, 2, 256)]},
    "more blocks than any slab has": {"slabs": [_slab(2**40, 0, 2, 2, 256)]},
    "more rows than any pass has": {"rows": _whole(2**30)},
    "kept in double precision": {"slabs": [_slab(), _slab(kind=np.float64)]},
    "kept in single precision": {"slabs": [_slab(), _slab(kind=np.float32)]},
    "not of five axes": {"slabs": [_slab(4, LAYERS, 2, 512)]},
    "not lying together": {"slabs": [_slab(4, LAYERS, 2, 2, 512)[..., ::2]]},
    "keys without values": {"slabs": [_slab(4, LAYERS, 1, 2, 256)]},
    "a slab of another size": {"slabs": [_slab(), _slab(3, LAYERS, 2, 2, 256)]},
    "a slab of other layers": {"slabs": [_slab(), _slab(2, LAYERS + 1, 2, 2, 256)]},
    "a slab of other heads": {"slabs": [_slab(), _slab(2, LAYERS, 2, 4, 256)]},
    "a slab of another width": {"slabs": [_slab(), _slab(2, LAYERS, 2, 2, 512)]},
    "no whole vectors": {"slabs": [_slab(4, LAYERS, 2, 2, 16 * 15)]},
    "no whole blocks": {"slabs": [_slab(4, LAYERS, 2, 2, 255)]},
    "rows of more sessions": {"rows": _whole(1, 1)},
    "fewer rows than none": {"rows": _whole(-1)},
    "more rows than are asked for": {"rows": _whole(3)},
    "a row that sees nothing": {"sight": _whole(0, 16)},
    "a row that sees more than there is": {"sight": _whole(3, 17)},
    "sight of one row": {"sight": _whole(3)},
    "a row that sees from beyond what it sees": {"since": _whole(4, 5)},
    "a row that sees from where its sight ends": {"since": _whole(3, 5)},
    "a row that sees from the first key on twice": {"since": _whole(0, 5)},
    "since of one row": {"since": _whole(1)},
    "half of what is asked": {"query": np.zeros((2, 32), dtype=np.float32)},
    "no room for the answer": {"context": np.zeros((1, 32), dtype=np.float32)},
    "no numbers at all": {"slabs": [None]},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_does_not_fit_is_refused_and_never_read(wrong: str) -> None:
    attention_kernels.attend(*_given())
    with pytest.raises((ValueError, TypeError, BufferError)):
        attention_kernels.attend(*_given(**WRONG[wrong]))


@pytest.mark.parametrize(("rows", "start", "key_value"), [(2, 15, 2), (2, -1, 2), (3, 0, 2), (2, 0, 3)])
def test_rows_that_there_is_no_room_for_are_not_kept(rows: int, start: int, key_value: int) -> None:
    _, slabs, numbers, counts, *_ = _given()
    with pytest.raises(ValueError, match=r"room|rows"):
        attention_kernels.keep(
            0, slabs, numbers, counts, _whole(rows), _whole(start), np.ones((key_value, 64), dtype=np.float32)
        )
    assert not any(slab.any() for slab in slabs)


def test_arrays_freed_while_read_do_no_harm() -> None:
    given = _given()
    context = given[-1]

    class Clearing(list[Any]):
        """Arrays, of which the list knows nothing any more once they were read."""

        def __iter__(self) -> Any:  # noqa: ANN401
            read = [*super().__iter__()]
            self.clear()
            return iter(read)

    given[1] = Clearing(given[1])
    attention_kernels.attend(*given)
    assert not context.any()
    with pytest.raises(ValueError, match="this processor is not of that kind"):
        attention_kernels.choose("pdp-11")
