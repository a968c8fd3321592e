"""What the compiled joining of rows refuses instead of reading it: what it is handed may lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

waiting_kernels = pytest.importorskip(
    "caesura.worker.inference.native.waiting_kernels",
    reason="nothing was compiled at installation",
    exc_type=ImportError,
)


def _rows(count: int, *, width: int = 4, kind: Any = np.float32) -> NDArray[Any]:  # noqa: ANN401
    return np.zeros((count, width), dtype=kind)


def _whole(*numbers: Any) -> NDArray[np.int32]:  # noqa: ANN401
    return np.array(numbers, dtype=np.int32)


def _given(**changed: Any) -> list[Any]:  # noqa: ANN401 - what no type allows is the point
    """Return what ``join`` is given of two sessions: one has a row that waits and two new ones, one a new one alone."""
    kept = {
        "layer": 1,
        "sessions": [[b"", bytes(16)], [b"", b""]],
        "fresh": _rows(3),
        "spans": _whole((2, 2, 1, 3), (1, 0, 0, 1)),
        "picks": None,
        "query": _rows(2),
    }
    return list((kept | changed).values())


WRONG: dict[str, dict[str, Any]] = {
    "a layer that is not there": {"layer": 2},
    "a layer below the first": {"layer": -1},
    "sessions that are no list": {"sessions": ([b"", b""], [b"", b""])},
    "a session that is no list": {"sessions": [[b"", bytes(16)], (b"", b"")]},
    "what waits is no bytes": {"sessions": [[b"", bytearray(16)], [b"", b""]]},
    "half a row": {"sessions": [[b"", bytes(8)], [b"", b""]]},
    "fewer sessions": {"sessions": [[b"", bytes(16)]]},
    "more sessions": {"sessions": [[b"", b""]] * 3},
    "rows in double precision": {"fresh": _rows(3, kind=np.float64)},
    "rows of one axis": {"fresh": np.zeros(12, dtype=np.float32)},
    "rows without width": {"fresh": _rows(3, width=0), "query": _rows(2, width=0)},
    "rows that do not lie together": {"fresh": _rows(3, width=8)[:, ::2]},
    "an answer of another width": {"query": _rows(2, width=5)},
    "an answer that cannot be written": {"query": memoryview(bytes(32)).cast("f", [2, 4])},
    "an answer with too little room": {"query": _rows(1)},
    "an answer with too much room": {"query": _rows(3)},
    "more new rows than there are": {"fresh": _rows(2)},
    "fewer new rows than there are": {"fresh": _rows(4)},
    "fewer new rows than none": {"spans": _whole((-1, 2, 1, 3), (1, 0, 0, 1))},
    "fewer asked than none": {"spans": _whole((2, -1, 1, 3), (1, 0, 0, 1))},
    "more asked than there are": {"spans": _whole((2, 0, 1, 3), (1, 2, 0, 1))},
    "waiting from before the first": {"spans": _whole((2, 2, -1, 3), (1, 0, 0, 1))},
    "waiting up to beyond the last": {"spans": _whole((2, 2, 1, 4), (1, 0, 0, 1))},
    "waiting from behind where it ends": {"spans": _whole((2, 2, 3, 2), (1, 0, 0, 1))},
    "spans of three numbers": {"spans": _whole((2, 2, 1), (1, 0, 0))},
    "spans in fractions": {"spans": np.zeros((2, 4), dtype=np.float32)},
    "picks in fractions": {"picks": np.zeros(2, dtype=np.float32)},
    "fewer picks than are asked": {"picks": _whole(0)},
    "a pick that is not there": {"picks": _whole(0, 3)},
    "a pick below the first": {"picks": _whole(-1, 0)},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_does_not_fit_is_refused_and_never_read(wrong: str) -> None:
    waiting_kernels.join(*_given())
    waiting_kernels.join(*_given(picks=_whole(2, 0)))
    with pytest.raises((ValueError, TypeError, IndexError, BufferError)):
        waiting_kernels.join(*_given(**WRONG[wrong]))
