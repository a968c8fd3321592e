"""Publishes words that may still change, outside the transaction and without delaying it."""

from __future__ import annotations

from typing import Protocol


class TentativePublisher(Protocol):
    """A producer without transactions, whose records nothing rests on."""

    def offer(self, partition: int, key: bytes, value: bytes) -> bool:
        """Queue a record, or drop it and return False: whatever is wrong. Never blocks, never raises."""
        ...

    def take_dropped(self) -> int:
        """Return how many records were dropped, before or after they were queued, since the last call."""
        ...

    def close(self) -> None:
        """Drop what is queued and let go. Never raises."""
        ...
