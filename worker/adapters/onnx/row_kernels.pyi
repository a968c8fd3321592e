# Attention over kept rows, compiled from row_kernels.c; not there where no compiler was at hand (ADR 0050).
#
# Sessions come as two lists of what they keep, of one width: keys (layers, heads, width of a head, capacity) and values
# (layers, heads, capacity, width of a head); widths and capacities are multiples of 16. rows (S,) of int32: how many
# rows of the pass each session has, one session's after another's. ValueError where something does not fit.
# Nobody may resize an array with refcheck=False while a call has it.

from typing import TypeAlias

from numpy import float32, int32
from numpy.typing import NDArray

_Kept: TypeAlias = list[NDArray[float32]]

# Write what the rows mix into mixed (M, D). sight (M,): how many keys each sees; asking (M, 2 D): inputs and queries.
def mix(
    layer: int,
    keys: _Kept,
    values: _Kept,
    rows: NDArray[int32],
    sight: NDArray[int32],
    asking: NDArray[float32],
    mixed: NDArray[float32],
    /,
) -> None: ...

# Keep the keys and values of rows, side by side in seen (M, 2 D), from each session's place on: starts (S,).
def keep(
    layer: int,
    keys: _Kept,
    values: _Kept,
    rows: NDArray[int32],
    starts: NDArray[int32],
    seen: NDArray[float32],
    /,
) -> None: ...

# The kinds of processor that this one is, the best first, which is the one that is taken; none: neither function works.
def kinds() -> list[str]: ...

# Compute as for another kind that this processor is, too: for tests.
def choose(kind: str, /) -> None: ...
