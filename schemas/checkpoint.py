"""What ties Redis to Kafka: the checkpoint id, a partition's manifest, and the metadata of a committed offset.

docs/seam.md. Ids are compared as integers: (token, n); the nonce tells two claims with one token apart.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Self

import msgspec

from schemas.digests import digest_of
from schemas.ledger_sum import LedgerSum

__all__ = ["CheckpointId", "Manifest", "OffsetMetadata", "SessionField", "Slot"]

_ID = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})\.([0-9a-f]{16})")
_METADATA = re.compile(
    r"caesura1 ([\w.-]+) (\d+) (\d+) (\d+)\.(\d+)\.([0-9a-f]{16}) (\d+) (\d+) (\d+) (\d+) (\S+)"
    r"(?: ([0-9]{1,18}\.[0-9a-f]{16}))?",
    re.ASCII,
)


class CheckpointId(NamedTuple):
    """A checkpoint: the partition's fencing token, its number under that token, a random nonce a claim."""

    token: int
    n: int
    nonce: str

    def __str__(self) -> str:
        return f"{self.token}.{self.n}.{self.nonce}"

    @classmethod
    def parse(cls, text: str) -> CheckpointId:
        """Parse ``token.n.nonce``; ValueError where it is none."""
        match = _ID.fullmatch(text)
        if match is None:
            raise ValueError("expected token.n.nonce")
        return cls(int(match[1]), int(match[2]), match[3])


class Manifest(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A partition's manifest in Redis: the last checkpoint written and what it touched.

    id, follows: text of the checkpoint ids (follows is None for the first). touched: sessions whose slot it wrote.
    sessions, sessions_before: how many sessions (tombstones not counted) the partition holds with and without it.
    digest, digest_before: their ``digest_sum`` with and without it; None in manifests of version 1.0.

    A rebuild's manifest follows itself and counts -1 sessions before: there is nothing to go back to.
    """

    version: str
    id: str
    follows: str | None
    touched: tuple[str, ...]
    sessions: int
    sessions_before: int
    digest: int | None = None
    digest_before: int | None = None

    @classmethod
    def decode(cls, stored: bytes) -> Self:
        """Read a stored manifest; ValueError where it is none of ours.

        Of one that this release cannot read as a whole only version and id are taken, so that it can be replaced: it
        counts -1 sessions and follows itself, so its state is behind the log whatever is committed.
        """
        try:
            manifest = msgspec.msgpack.decode(stored, type=cls)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            head = _ManifestHead.decode(stored)
            manifest = cls(
                version=head.version, id=head.id, follows=head.id, touched=(), sessions=-1, sessions_before=-1
            )
        CheckpointId.parse(manifest.id)
        if manifest.follows is not None:
            CheckpointId.parse(manifest.follows)
        return manifest


class _ManifestHead(msgspec.Struct, frozen=True, array_like=True):
    """What every release's manifest begins with."""

    version: str
    id: str

    @classmethod
    def decode(cls, stored: bytes) -> Self:
        """Read it; ValueError where it is none, without what was found there."""
        try:
            return msgspec.msgpack.decode(stored, type=cls)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            raise ValueError("unreadable manifest") from None


class OffsetMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """What the metadata of a committed offset says: atomically with the output, which snapshots count.

    topic, partition, next_offset: the offset that it was committed with; a tool that moves an offset and keeps its
    metadata is noticed by them. replay_offset: smallest offset at which a buffer of the partition starts. partitions:
    the input's partition count. isolated_until_offset: below which offset records are tried one by one. tries: how
    often the next was tried; where records are isolated no more, the next timers (``worker.runtime.poison_isolation``).
    Where the former is the committed offset itself, nothing but a claim's or a rebuild's own save was committed. Under
    an id of number 0, which announces a rebuild, tries are the rebuild's.
    transactional_id: the writer's, for a takeover. ledger: what the ledger must say (``schemas.ledger_sum``); None
    where nobody counted. Releases before state version 1.4 take metadata that has it for somebody else's.
    """

    id: CheckpointId
    topic: str
    partition: int
    next_offset: int
    replay_offset: int
    partitions: int
    transactional_id: str
    isolated_until_offset: int = 0
    tries: int = 0
    ledger: LedgerSum | None = None

    def encode(self) -> str:
        """Return the text form; ASCII, well under the broker's 4096 bytes."""
        numbers = f"{self.replay_offset} {self.partitions} {self.isolated_until_offset} {self.tries}"
        ledger = "" if self.ledger is None else f" {self.ledger}"
        place = f"{self.topic} {self.partition} {self.next_offset}"
        return f"caesura1 {place} {self.id} {numbers} {self.transactional_id}{ledger}"

    @classmethod
    def decode(cls, text: str | None) -> OffsetMetadata | None:
        """Parse the text form; None where it is not ours."""
        match = _METADATA.fullmatch(text or "")
        if match is None:
            return None
        (
            topic,
            partition,
            next_offset,
            token,
            n,
            nonce,
            replay,
            partitions,
            isolated,
            tries,
            transactional_id,
            ledger,
        ) = match.groups()
        return cls(
            id=CheckpointId(int(token), int(n), nonce),
            topic=topic,
            partition=int(partition),
            next_offset=int(next_offset),
            replay_offset=int(replay),
            partitions=int(partitions),
            isolated_until_offset=int(isolated),
            tries=int(tries),
            transactional_id=transactional_id,
            ledger=None if ledger is None else LedgerSum.parse(ledger),
        )

    def belongs_to(self, topic: str, partition: int, next_offset: int) -> bool:
        """Tell whether it was committed with this offset of this partition."""
        return (self.topic, self.partition, self.next_offset) == (topic, partition, next_offset)


class Slot(msgspec.Struct, frozen=True, array_like=True):
    """One snapshot of a session: the checkpoint that wrote it, and its state (None: the session was forgotten)."""

    id: str
    state: bytes | None

    def digest(self, session: str) -> int:
        """Return what the slot adds to ``digest_sum`` as a session's newest one; a tombstone adds nothing."""
        if self.state is None:
            return 0
        name = session.encode(errors="surrogateescape")
        return digest_of(b"%d %s %s " % (len(name), name, self.id.encode()), self.state)


class SessionField(msgspec.Struct, frozen=True, array_like=True):
    """A session's field in Redis: the snapshot of the last committed checkpoint that touched it, and a newer one.

    Either may be missing; at most the newer one is in doubt.
    """

    slots: tuple[Slot, ...]
