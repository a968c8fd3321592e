"""What the slabs of all networks of an engine may take together (``kv_blocks``).

Rules:

1. If one more slab would be too much, slabs without a used block are given back first, those of any model. So sessions
   of one model can take the memory of another model's ended sessions.
2. A slab in use stays, and so does a network's first. What a pass held beyond the bound stays until a slab is wanted.
"""

from __future__ import annotations

from typing import Protocol


class _Pool(Protocol):
    @property
    def nbytes(self) -> int:
        """Return the bytes of all slabs."""
        ...

    def shrink(self) -> bool:
        """Give an unused slab back; False if there is none."""
        ...


class MemoryLimit:
    """The pools of one engine, at most ``max_bytes`` of slabs where it can be had."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._pools: list[_Pool] = []

    def join(self, pool: _Pool) -> None:
        """Count a pool's slabs from now on."""
        self._pools.append(pool)

    def make_room(self, size: int) -> None:
        """Let a slab of so many bytes come: others go where it would be too much."""
        for pool in self._pools:
            while sum(one.nbytes for one in self._pools) + size > self._max_bytes and pool.shrink():
                pass
