"""Sessions of partitions, one hash a partition: a cache of what is committed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from caesura.schemas.checkpoint import CheckpointId


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredHead:
    """A partition's manifest and its id as stored, None where there is none.

    The two are fields of their own, so one may be lost, or say otherwise than the other.
    """

    manifest: bytes | None
    id: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedSessions:
    """Sessions that ``prepare`` has put aside under ``name``: so many of them. name: lower-case letters and digits."""

    name: str
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreWrite:
    """One atomic write of one partition.

    id, manifest: of the checkpoint that stands there afterwards. put: session -> its snapshot. drop: sessions that go.
    follows: the stored id must be one of these; or prepared: put and drop change what was prepared, and all of that
    takes the place of whatever is stored.
    """

    id: CheckpointId
    manifest: bytes
    put: Mapping[str, bytes]
    drop: Sequence[str] = ()
    follows: Sequence[CheckpointId] = ()
    prepared: PreparedSessions | None = None


class SessionStore(Protocol):
    """Sessions of partitions, one hash a partition.

    No retries inside: an unanswered write may still land later. Several threads may call it.
    """

    def head(self, partition: int) -> StoredHead:
        """Read manifest and id. StoreError; ForeignStateError where something else than a hash is stored."""
        ...

    def load(self, partition: int) -> Iterator[tuple[str, bytes]]:
        """Yield every session's snapshot, each once, page by page: the caller may take its time. StoreError."""
        ...

    def write(self, partition: int, write: StoreWrite) -> bool:
        """Write all or nothing; False where the stored id, or what was prepared, is not as expected.

        StoreError: it may have been written, or may be later.
        """
        ...

    def prepare(self, partition: int, name: str, put: Mapping[str, bytes]) -> None:
        """Put sessions aside under a name, beside those already there; they are gone after ten minutes. StoreError."""
        ...

    def ping(self) -> None:
        """Ask for a sign of life. StoreError."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...
