"""What the compiled products refuse instead of reading it: they are handed addresses, and must not believe them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from caesura.worker.inference.network.int8_matmul import KINDS
from tests.unit.inference.products import given_to, needs_processor

int8_kernels = pytest.importorskip(
    "caesura.worker.inference.native.int8_kernels", reason="nothing was compiled at installation", exc_type=ImportError
)

WRONG: dict[str, dict[int, Any]] = {
    "rows of another depth": {0: np.zeros((2, 128), np.float32)},
    "rows of whole numbers": {0: np.zeros((2, 64), np.int32)},
    "rows in double precision": {0: np.zeros((2, 64))},
    "rows on their side": {0: np.zeros((64, 2), np.float32).T},
    "rows backwards": {0: np.zeros((2, 64), np.float32)[::-1]},
    "one row for all": {0: np.broadcast_to(np.zeros(64, np.float32), (2, 64))},
    "no rows": {0: np.zeros(64, np.float32)},
    "half a vector": {0: np.zeros((2, 32), np.float32), 1: np.zeros((2, 1, 2, 8, 64), np.uint8)},
    "no depth": {0: np.zeros((2, 0), np.float32), 1: np.zeros((2, 0, 2, 16, 64), np.uint8)},
    "weights as they are stored": {1: np.zeros((2, 1, 2, 16, 64), np.int8)},
    "weights of more columns": {1: np.zeros((4, 1, 2, 16, 64), np.uint8)},
    "weights in another order": {1: np.zeros((2, 1, 2, 64, 16), np.uint8)},
    "weights without axes": {1: np.zeros((2, 32, 64), np.uint8)},
    "weights apart": {1: np.zeros((2, 1, 2, 16, 128), np.uint8)[..., ::2]},
    "bounds of other parts": {2: np.zeros(3, np.int32)},
    "bounds of floats": {2: np.zeros(2, np.float32)},
    "a scale for all": {3: np.zeros(1, np.float32)},
    "bias on its side": {4: np.zeros((64, 1), np.float32)},
    "bytes in another order": {4: np.zeros(64, ">f4")},
    "bytes at an odd place": {4: memoryview(bytearray(257))[1:].cast("f", [64])},
    "room for fewer rows": {5: np.zeros((1, 64), np.float32)},
    "room for nothing": {5: None},
    "nothing may be written": {5: memoryview(bytes(512)).cast("f", [2, 64])},
    "fewer rows to add": {6: np.zeros((1, 64), np.float32)},
    "wider rows to add": {6: np.zeros((2, 128), np.float32)},
    "half a gain": {7: np.zeros(32, np.float32)},
    "no shift": {8: None},
}


@needs_processor
@pytest.mark.parametrize("wrong", WRONG)
def test_what_does_not_fit_is_refused_and_never_read(wrong: str) -> None:
    taken = given_to("normed", np.random.default_rng(0), 2, 64, 64)
    int8_kernels.normed(*taken)
    for place, array in WRONG[wrong].items():
        taken[place] = array
    with pytest.raises((ValueError, TypeError, BufferError)):
        int8_kernels.normed(*taken)


@needs_processor
@pytest.mark.parametrize(
    "further",
    [np.zeros((1, 64), np.float32), np.zeros((2, 128), np.float32), np.zeros((2, 32), np.float32), None],
    ids=["fewer rows", "more columns", "half a vector", "nothing"],
)
def test_where_the_last_columns_do_not_fit_they_are_refused(further: Any) -> None:  # noqa: ANN401
    taken = given_to("plain", np.random.default_rng(0), 2, 64, 128)
    with pytest.raises((ValueError, TypeError, BufferError)):
        int8_kernels.plain(*taken[:5], np.zeros((2, 64), np.float32), further)


def test_too_few_arrays_are_refused() -> None:
    with pytest.raises(TypeError, match="as many arrays"):
        int8_kernels.plain()


def test_where_a_processor_cannot_it_says_so() -> None:
    if KINDS:
        assert int8_kernels.kinds() == KINDS
        with pytest.raises(ValueError, match="not of that kind"):
            int8_kernels.choose("abacus")
        return
    with pytest.raises(ValueError, match="not compiled for this kind of processor"):
        int8_kernels.plain(*given_to("plain", np.random.default_rng(0), 1, 64, 64))
