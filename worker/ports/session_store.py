"""Sessions of partitions, one hash a partition, every write fenced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from schemas.checkpoint import CheckpointId

__all__ = ["Claimed", "SessionStore", "StoreWrite"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """What a claim found: the token now ours, and manifest and its id as stored (None where there is none).

    The two are fields of their own, so one may be lost, or say otherwise than the other.
    """

    token: int
    manifest: bytes | None
    id: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreWrite:
    """One guarded write of one partition.

    token: the writer's. follows: the id that must stand stored (None: none), or whatever else was found in its place.
    id, manifest: the new manifest. put: session -> bytes of its field. drop: sessions whose field goes.
    """

    token: int
    follows: CheckpointId | bytes | None
    id: CheckpointId
    manifest: bytes
    put: Mapping[str, bytes]
    drop: Sequence[str] = ()

    @property
    def follows_bytes(self) -> bytes:
        """What must stand stored as the id; empty where there must be none."""
        follows = self.follows or b""
        return follows if isinstance(follows, bytes) else str(follows).encode()


class SessionStore(Protocol):
    """Sessions of partitions, one hash a partition; every write is fenced.

    What somebody else left in place of a token counts as none; where there is no such hash, ForeignStateError.

    No retries inside: an unanswered write may still land later, and only a new claim makes that harmless.
    """

    def claim(self, partition: int, above: int) -> Claimed:
        """Raise the partition's token to one more than the larger of the stored one and ``above``. StoreError."""
        ...

    def load(self, partition: int) -> Iterator[tuple[str, bytes]]:
        """Yield every session's field, each once, page by page: the caller may take its time. StoreError."""
        ...

    def write(self, partition: int, write: StoreWrite) -> bool:
        """Write all or nothing; False where token or manifest are not the expected ones. StoreError: unknown."""
        ...

    def release(self, partition: int) -> None:
        """Ask whoever has parked the partition to claim it again: an operator's word. StoreError."""
        ...

    def take_release(self, partition: int) -> bool:
        """Tell whether an operator asked for it, and forget that he did. StoreError."""
        ...

    def ping(self) -> None:
        """Ask for a sign of life. StoreError."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...
