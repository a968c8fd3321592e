# Rows that wait before a layer, compiled from waiting_kernels.c if a C compiler was found (docs/engine.md).

from numpy import float32, int32
from numpy.typing import NDArray

# Put the new rows of sessions, fresh (N, D), behind those that wait before the layer; write those that are asked into
# query (M, D), and have those wait that are to. sessions: of each what waits, a layer's as bytes; it is changed.
# spans (S, 4): how many new rows a session has, how many it asks, and from where up to where they wait on, as places
# among those that waited and the new ones. picks (M,): the places that are asked; None: the first ones of each session.
# query overlaps nothing else.
# ValueError, TypeError, IndexError where something does not fit: what waits is of no use then.
def join(
    layer: int,
    sessions: list[list[bytes]],
    fresh: NDArray[float32],
    spans: NDArray[int32],
    picks: NDArray[int32] | None,
    query: NDArray[float32],
    /,
) -> None: ...
