# Products of rows with int8 weights, compiled from int8_kernels.c (docs/engine.md); not there without a compiler.
#
# rows (N, K) and out (N, M) of floats, each row contiguous, K and M multiples of 64. weights of -64 to 63 and 64 more,
# so that they have no sign, as (M / 32, K / 64, 2, 16, 64): 64 numbers are 16 columns, four of each. most (K / 32,): of
# 32 of a row's numbers, up to what sum of their squares their products with weights fit 16 bits, for AVX2
# (int8_matmul._most); where it, or a weight, is larger than that, sums are wrong. scales (M,): of each column;
# bias (M,). ValueError where something does not fit.
# Where further (N, L) is given, weights have M + L columns, and the last ones go there.
# out may be rows or added, and overlaps nothing else. A row with a number that is not finite gives one that is not.

from typing import Protocol, TypeAlias

from numpy import float32, int32, uint8
from numpy.typing import NDArray

_Floats: TypeAlias = NDArray[float32]

class _Product(Protocol):
    def __call__(
        self,
        rows: _Floats,
        weights: NDArray[uint8],
        most: NDArray[int32],
        scales: _Floats,
        bias: _Floats,
        out: _Floats,
        further: _Floats = ...,
        /,
    ) -> None: ...

# out = rows × weights + bias.
plain: _Product

# The same, the product rounded before the bias is added to it, as ONNX Runtime does.
rounded: _Product

# out = GELU of that.
gelu: _Product

# out = the layer norm of added (N, M) plus that, with gain and shift (M,).
def normed(
    rows: _Floats,
    weights: NDArray[uint8],
    most: NDArray[int32],
    scales: _Floats,
    bias: _Floats,
    out: _Floats,
    added: _Floats,
    gain: _Floats,
    shift: _Floats,
    /,
) -> None: ...

# The kinds of processor that this one is, the best first, which is the one that is taken; none: the four raise
# ValueError. amx-int8 and avx512-vnni compute the same to the last bit; avx2 has the same sums of whole numbers, but a
# quotient in GELU, and a sum in the norm, may be rounded otherwise.
def kinds() -> list[str]: ...

# Compute as for another kind that this processor is, too: for tests.
def choose(kind: str, /) -> None: ...
