"""The session store's honest twin: same contract, in memory, and it fails in the ways that a real Redis fails.

A ``MemoryRedis`` is the server; each worker has a ``MemorySessionStore`` of its own on it. What goes wrong is told
beforehand: an answer that is lost, a write that lands later or never, a server that is away, lost or older state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from schemas.checkpoint import CheckpointId
from worker.errors import StoreError
from worker.ports.session_store import Claimed, StoreWrite

__all__ = ["MemoryRedis", "MemorySessionStore", "StoreFault", "StoredPartition"]

Answer = TypeVar("Answer")


class StoreFault(Enum):
    """What becomes of a call that its caller gets no answer to."""

    LANDS = "done at once, the answer is lost"
    LANDS_LATER = "done when the server's land_late is called"
    NEVER = "never done"


@dataclass(slots=True)
class StoredPartition:
    """A partition's hash: token (0: none), id and manifest as stored, the sessions' bytes."""

    token: int = 0
    id: str | None = None
    manifest: bytes | None = None
    sessions: dict[str, bytes] = field(default_factory=dict)
    released: bool = False

    def release(self) -> None:
        """Do what an operator asks for."""
        self.released = True

    def take_release(self) -> bool:
        """Tell and forget whether an operator asked for it."""
        released, self.released = self.released, False
        return released

    def claim(self, above: int) -> Claimed:
        """Do what claim.lua does."""
        self.token = max(self.token, above) + 1
        return Claimed(token=self.token, manifest=self.manifest)

    def write(self, write: StoreWrite) -> bool:
        """Do what write.lua does."""
        if self.token != write.token or self.id != _text(write.follows):
            return False
        self.id, self.manifest = str(write.id), write.manifest
        self.sessions |= write.put
        for session in write.drop:
            self.sessions.pop(session, None)
        return True


def _text(checkpoint: CheckpointId | None) -> str | None:
    return None if checkpoint is None else str(checkpoint)


class MemoryRedis:
    """The server that several stores share. ``away``: it answers nobody."""

    def __init__(self) -> None:
        self.away = False
        self._partitions: dict[int, StoredPartition] = {}
        self._late: list[Callable[[], object]] = []

    def partition(self, partition: int) -> StoredPartition:
        """Return what is stored, to look at; an empty one where there is nothing."""
        return self._partitions.get(partition, StoredPartition())

    def partition_to_write(self, partition: int) -> StoredPartition:
        """Return what is stored, to change."""
        return self._partitions.setdefault(partition, StoredPartition())

    def lose_everything(self) -> None:
        """Do what FLUSHALL does; calls under way still land afterwards."""
        self._partitions.clear()

    def copy(self) -> dict[int, StoredPartition]:
        """Return the state as a replica may hold it."""
        return deepcopy(self._partitions)

    def fail_over_to(self, copy: dict[int, StoredPartition]) -> None:
        """Go on from an older copy."""
        self._partitions = deepcopy(copy)

    def postpone(self, call: Callable[[], object]) -> None:
        """Keep a call on its way."""
        self._late.append(call)

    def land_late(self) -> int:
        """Do what was on its way, in its order, and return how many calls that were."""
        late, self._late = self._late, []
        for call in late:
            call()
        return len(late)


class MemorySessionStore:
    """``worker.ports.session_store.SessionStore`` on a ``MemoryRedis``."""

    def __init__(self, server: MemoryRedis) -> None:
        self._server = server
        self._faults: dict[str, list[StoreFault]] = {}

    def fail_next(self, call: str, fault: StoreFault) -> None:
        """Let the next ``claim``, ``load``, ``write`` or ``ping`` go unanswered; several are taken in their order."""
        self._faults.setdefault(call, []).append(fault)

    def _answered(self, name: str, call: Callable[[], Answer]) -> Answer:
        faults = self._faults.get(name)
        fault = faults.pop(0) if faults else None
        if self._server.away:
            raise StoreError(f"{name}: nobody answers")
        if fault is None:
            return call()
        if fault is StoreFault.LANDS:
            call()
        elif fault is StoreFault.LANDS_LATER:
            self._server.postpone(call)
        raise StoreError(f"{name}: no answer in time")

    def claim(self, partition: int, above: int) -> Claimed:
        """Raise the partition's token to one more than the larger of the stored one and ``above``. StoreError."""
        return self._answered("claim", lambda: self._server.partition_to_write(partition).claim(above))

    def load(self, partition: int) -> Iterator[tuple[str, bytes]]:
        """Yield every session's field, each once. StoreError."""
        sessions = self._answered("load", lambda: dict(self._server.partition(partition).sessions))
        yield from sessions.items()

    def write(self, partition: int, write: StoreWrite) -> bool:
        """Write all or nothing; False where token or manifest are not the expected ones. StoreError: unknown."""
        # A mapping that its owner goes on to change must land as it was sent.
        sent = StoreWrite(
            token=write.token,
            follows=write.follows,
            id=write.id,
            manifest=write.manifest,
            put=dict(write.put),
            drop=tuple(write.drop),
        )
        return self._answered("write", lambda: self._written(partition, sent))

    def _written(self, partition: int, write: StoreWrite) -> bool:
        # Looked up when it lands, not when it is sent: the state may have been lost in between.
        return write.token > 0 and self._server.partition(partition).write(write)

    def release(self, partition: int) -> None:
        """Ask whoever has parked the partition to claim it again. StoreError."""
        self._answered("release", lambda: self._server.partition_to_write(partition).release())

    def take_release(self, partition: int) -> bool:
        """Tell whether an operator asked for it, and forget that he did. StoreError."""
        return self._answered("take_release", lambda: self._server.partition_to_write(partition).take_release())

    def ping(self) -> None:
        """Ask for a sign of life. StoreError."""
        self._answered("ping", lambda: None)

    def close(self) -> None:
        """Do nothing: there are no connections."""
