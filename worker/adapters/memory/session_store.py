"""The in-memory session store: the same contract, and it fails in the ways of a real Redis.

A ``MemoryRedis`` is the server; each worker has its own ``MemorySessionStore`` on it. Tests set failures beforehand: a
lost answer, a write that arrives later or never, a server that is away, lost or has older state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeVar

from typing_extensions import override

from caesura.worker.errors import StoreError
from caesura.worker.ports.session_store import SessionStore, StoredHead, StoreWrite

_SESSION = "s:"

Answer = TypeVar("Answer")


class StoreFault(Enum):
    """What becomes of a call that its caller gets no answer to."""

    LANDS = "done at once, the answer is lost"
    LANDS_LATER = "done when the server's land_late is called"
    NEVER = "never done"


@dataclass(slots=True)
class StoredPartition:
    """A partition's hash: the fields ``i`` and ``m`` as they stand there, the sessions' bytes; and what lies beside it.

    prepared: by name, sessions that a full write has put aside.
    """

    control: dict[str, bytes] = field(default_factory=dict)
    sessions: dict[str, bytes] = field(default_factory=dict)
    prepared: dict[str, dict[str, bytes]] = field(default_factory=dict)

    @property
    def id(self) -> bytes | None:
        """The manifest's id beside it."""
        return self.control.get("i")

    @property
    def manifest(self) -> bytes | None:
        """The manifest."""
        return self.control.get("m")

    def prepare(self, name: str, put: Mapping[str, bytes]) -> None:
        """Do what prepare.lua does."""
        self.prepared.setdefault(name, {}).update(put)

    def write(self, write: StoreWrite) -> bool:
        """Do what write.lua or replace.lua does."""
        if write.prepared is None:
            return self._change(write)
        if len(self.prepared.get(write.prepared.name, ())) != write.prepared.sessions:
            return False
        self.sessions = self.prepared.pop(write.prepared.name, {})
        self.control = {}
        self._put(write)
        return True

    def _change(self, write: StoreWrite) -> bool:
        if self.id not in [str(one).encode() for one in write.follows]:
            return False
        self._put(write)
        return True

    def _put(self, write: StoreWrite) -> None:
        self.control |= {"i": str(write.id).encode(), "m": write.manifest}
        self.sessions |= write.put
        for session in write.drop:
            self.sessions.pop(session, None)


class MemoryRedis:
    """The server that several stores share.

    away: it answers nobody. unseen: sessions that the next load passes over, as a scan does that goes on with its
    cursor on another server after a fail-over.
    """

    def __init__(self) -> None:
        self.away = False
        self.unseen: set[str] = set()
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

    def spoil(self, partition: int, change: Callable[[dict[str, bytes]], object]) -> None:
        """Let somebody else change a partition's hash, field by field as Redis names them."""
        stored = self.partition_to_write(partition)
        fields = {**stored.control, **{f"{_SESSION}{name}": value for name, value in stored.sessions.items()}}
        change(fields)
        stored.control = {name: value for name, value in fields.items() if not name.startswith(_SESSION)}
        stored.sessions = {name[2:]: value for name, value in fields.items() if name.startswith(_SESSION)}

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


class MemorySessionStore(SessionStore):
    """``caesura.worker.ports.session_store.SessionStore`` on a ``MemoryRedis``."""

    def __init__(self, server: MemoryRedis) -> None:
        self._server = server
        self._faults: dict[str, list[StoreFault]] = {}

    def fail_next(self, call: str, fault: StoreFault) -> None:
        """Let the next ``head``, ``load``, ``write``, ``prepare`` or ``ping`` go unanswered; several in their order."""
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

    @override
    def head(self, partition: int) -> StoredHead:
        def read() -> StoredHead:
            stored = self._server.partition(partition)
            return StoredHead(manifest=stored.manifest, id=stored.id)

        return self._answered("head", read)

    @override
    def load(self, partition: int) -> Iterator[tuple[str, bytes]]:
        sessions = self._answered("load", lambda: dict(self._server.partition(partition).sessions))
        unseen, self._server.unseen = self._server.unseen, set()
        yield from ((name, value) for name, value in sessions.items() if name not in unseen)

    @override
    def write(self, partition: int, write: StoreWrite) -> bool:
        # A mapping that its owner goes on to change must land as it was sent.
        sent = replace(write, put=dict(write.put), drop=tuple(write.drop), follows=tuple(write.follows))
        # Looked up when it lands, not when it is sent: the state may have been lost in between.
        return self._answered("write", lambda: self._server.partition_to_write(partition).write(sent))

    @override
    def prepare(self, partition: int, name: str, put: Mapping[str, bytes]) -> None:
        sent = dict(put)
        self._answered("prepare", lambda: self._server.partition_to_write(partition).prepare(name, sent))

    @override
    def ping(self) -> None:
        self._answered("ping", lambda: None)

    @override
    def close(self) -> None:
        """Do nothing: there are no connections."""
