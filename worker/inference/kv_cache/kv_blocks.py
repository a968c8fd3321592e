"""Memory for keys and values in blocks of rows, which go from session to session.

Rules:

1. A session's rows lie in as many blocks as they need; a block belongs to one session, or to none. It grows by a block,
   and nothing is moved. Each begins with a copy of the leading piece's row, which every row sees; so where a word sees
   no farther back than so many words, the first blocks go once nothing looks there any more (docs/engine.md).
2. What lies in a block that was another's is never read: a row sees rows of its own session alone.
3. Blocks are cut from slabs, large enough that the system maps them in huge pages. Slabs stay: memory that was needed
   once is needed again, and dear the first time it is touched. Only if the slabs of all networks together exceed
   what the engine may keep, unused ones go (``memory_limit``), the last ones first, because the first free block is
   taken first. In the place of a slab that went, before one that stays, stands the first slab: no block is in there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from caesura.worker.inference.kv_cache.aligned_arrays import aligned_bytes
from caesura.worker.inference.kv_cache.kv_cache import KeyValueMemory
from caesura.worker.inference.kv_cache.memory_limit import MemoryLimit

BLOCK_ROWS = 16
OWN_ROWS = BLOCK_ROWS - 1
"""Rows of a block beside the leading piece's."""
_SLAB_BLOCKS = 64


class BlockPool:
    """The blocks of one network. slabs: arrays (``_SLAB_BLOCKS``, layers, 2, heads, width of a head x ``BLOCK_ROWS``).

    In a block a layer has a head's keys as (width of a head, rows), and then its values as (rows, width of a head), all
    in half precision.
    """

    def __init__(self, layers: int, heads: int, head_width: int, bound: MemoryLimit) -> None:
        self._shape = (layers, 2, heads, head_width * BLOCK_ROWS)
        self.block_bytes = int(np.prod(self._shape)) * np.dtype(np.float16).itemsize
        self.slabs: list[NDArray[np.float16]] = []
        self._free: list[int] = []
        self._holes: set[int] = set()
        self._bound = bound
        bound.join(self)

    @property
    def nbytes(self) -> int:
        """Return the bytes of all slabs."""
        return (len(self.slabs) - len(self._holes)) * _SLAB_BLOCKS * self.block_bytes

    def take(self) -> int:
        """Return the number of a free block."""
        if not self._free:
            self._bound.make_room(_SLAB_BLOCKS * self.block_bytes)
            slab = aligned_bytes(_SLAB_BLOCKS * self.block_bytes).view(np.float16).reshape(_SLAB_BLOCKS, *self._shape)
            place = min(self._holes, default=len(self.slabs))
            self._holes.discard(place)
            self.slabs[place : place + 1] = [slab]
            self._free.extend(_blocks_of(place))
            heapify(self._free)
        return heappop(self._free)

    def give_back(self, numbers: Sequence[int]) -> None:
        """Take blocks back that were taken."""
        for number in numbers:
            heappush(self._free, number)

    def shrink(self) -> bool:
        """Give the last slab without a used block back; False if only the first one has none."""
        free, self._free = self._free, []  # what is given back meanwhile is not lost
        unused = Counter(number // _SLAB_BLOCKS for number in free)
        empty = max((place for place, blocks in unused.items() if blocks == _SLAB_BLOCKS), default=0)
        self._free.extend(number for number in free if not empty or number not in _blocks_of(empty))
        heapify(self._free)
        if empty:
            self.slabs[empty] = self.slabs[0]
            self._holes.add(empty)
            while len(self.slabs) - 1 in self._holes:
                self._holes.discard(len(self.slabs) - 1)
                self.slabs.pop()
        return empty > 0

    def part(self, number: int, k: int) -> NDArray[np.float16]:
        """Return layer k's keys and values in a block (2, heads, width of a head x ``BLOCK_ROWS``), uncopied."""
        part: NDArray[np.float16] = self.slabs[number // _SLAB_BLOCKS][number % _SLAB_BLOCKS, k]
        return part


def _blocks_of(place: int) -> range:
    return range(place * _SLAB_BLOCKS, (place + 1) * _SLAB_BLOCKS)


class Blocks(KeyValueMemory):
    """A session's blocks, in the order of its rows; they go back when this object is dropped.

    gone: how many went before them, each with ``OWN_ROWS`` rows.
    """

    __slots__ = ("_pool", "gone", "numbers")

    def __init__(self, pool: BlockPool) -> None:
        self._pool = pool
        self.numbers: list[int] = []
        self.gone = 0

    def __del__(self) -> None:
        self._pool.give_back(self.numbers)

    @property
    @override
    def nbytes(self) -> int:
        return len(self.numbers) * self._pool.block_bytes

    @override
    def clear(self) -> None:
        self.gone = 0

    @override
    def grow(self, rows: int) -> None:
        while not self.numbers or (self.gone + len(self.numbers)) * OWN_ROWS + 1 < rows:
            self.numbers.append(self._pool.take())

    @override
    def let_go(self, row: int) -> None:
        unneeded = min((row - 1) // OWN_ROWS - self.gone, len(self.numbers) - 1)
        if unneeded > 0:
            given, self.numbers = self.numbers[:unneeded], self.numbers[unneeded:]
            self.gone += unneeded
            self._pool.give_back(given)  # last: what were given back twice would be two sessions'
