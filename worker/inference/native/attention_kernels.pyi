# Attention over kept rows, compiled from attention_kernels.c; not there where no compiler was at hand (docs/engine.md).
#
# slabs: arrays of half precision and of one shape (blocks, layers, 2, heads, width of a head x 16), see ``kv_blocks``;
# widths are multiples of 16, and block n is in slab n // blocks. numbers (B,) of int32: the blocks of all sessions, one
# session's after another's, each in the order of its rows; no block is two sessions'. counts (S,): how many are each
# session's. A block has the leading piece's row and 15 others; a session's rows are numbered from 0, the leading
# piece's. rows (S,): how many rows of the pass each session has. ValueError where something does not fit.
# Nobody may resize an array with refcheck=False while a call has it.

from typing import TypeAlias

from numpy import float16, float32, int32
from numpy.typing import NDArray

_Slabs: TypeAlias = list[NDArray[float16]]

# Write the rows' context (M, D). Each sees the leading piece's row, and those from since (M,), at least 1,
# up to sight (M,), one at least unless sight is 1; query (M, 2 D): inputs and queries.
def attend(
    layer: int,
    slabs: _Slabs,
    numbers: NDArray[int32],
    counts: NDArray[int32],
    rows: NDArray[int32],
    since: NDArray[int32],
    sight: NDArray[int32],
    query: NDArray[float32],
    context: NDArray[float32],
    /,
) -> None: ...

# Keep the keys and values of rows, side by side in key_value (M, 2 D), from each session's row starts (S,) on.
# ArithmeticError where one is not finite, or is not in half precision: what was written is of no use then.
def keep(
    layer: int,
    slabs: _Slabs,
    numbers: NDArray[int32],
    counts: NDArray[int32],
    rows: NDArray[int32],
    starts: NDArray[int32],
    key_value: NDArray[float32],
    /,
) -> None: ...

# The kinds of processor that this one is, the best first, which is the one that is taken; none: neither function works.
def kinds() -> list[str]: ...

# Compute as for another kind that this processor is, too: for tests.
def choose(kind: str, /) -> None: ...
