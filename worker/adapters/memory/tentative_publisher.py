"""The twin of the producer of unfrozen words: a list, or nothing where it is told to fail."""

from __future__ import annotations

__all__ = ["MemoryTentativePublisher"]


class MemoryTentativePublisher:
    """Keeps what it is offered. failing: it drops all of it."""

    def __init__(self, *, failing: bool = False) -> None:
        self.failing = failing
        self.records: list[tuple[int, bytes, bytes]] = []
        self.closed = False

    def offer(self, partition: int, key: bytes, value: bytes) -> bool:
        """Keep a record, or drop it and return False."""
        if self.failing:
            return False
        self.records.append((partition, key, value))
        return True

    def close(self) -> None:
        """Note that it was closed."""
        self.closed = True
