"""What the slabs of all networks of an engine may take together (``kv_blocks``).

Rules:

1. Where one slab more would be too much, those that nobody has a block of are given back first, whosever they are: what
   sessions of one model took is there for those of another once they are gone.
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
        """Give a slab back that nobody uses; False where there is none."""
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
