"""The twin of the producer of unfrozen words: a list, or nothing where it is told to fail."""

from __future__ import annotations

from typing_extensions import override

from caesura.worker.ports.tentative_publisher import TentativePublisher

__all__ = ["MemoryTentativePublisher"]


class MemoryTentativePublisher(TentativePublisher):
    """Keeps what it is offered. failing: it drops all of it."""

    def __init__(self, *, failing: bool = False) -> None:
        self.failing = failing
        self.records: list[tuple[int, bytes, bytes]] = []
        self.closed = False
        self._dropped = 0

    @override
    def offer(self, partition: int, key: bytes, value: bytes) -> bool:
        """Keep a record, or drop it and return False."""
        if self.failing:
            self._dropped += 1
            return False
        self.records.append((partition, key, value))
        return True

    @override
    def take_dropped(self) -> int:
        dropped, self._dropped = self._dropped, 0
        return dropped

    @override
    def close(self) -> None:
        """Note that it was closed."""
        self.closed = True
