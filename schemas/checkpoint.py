"""The checkpoint id, a partition's manifest in Redis, and the metadata of a committed offset.

docs/exactly-once.md. The nonce tells two claims with one token apart.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Self

import msgspec

from caesura.schemas.ledger_sum import LedgerSum

_ID = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})\.([0-9a-f]{16})")
_METADATA = re.compile(
    r"caesura1 ([\w.-]+) (\d+) (\d+) (\S+) (\d+) (\d+) (\S+) ([0-9]{1,18}\.[0-9a-f]{16}) ([0-9a-f]{16})", re.ASCII
)


class CheckpointId(NamedTuple):
    """A checkpoint: the claim's token, its number under that token, a random nonce a claim."""

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


MANIFEST_VERSION = "2.0"


class Manifest(msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True):
    """A partition's manifest in Redis: which committed checkpoint stands there, and what all of it must add up to.

    id: text of the checkpoint's id. sessions: how many sessions there are. digest: their ``digest_sum``. history,
    next_offset: as committed with it. ledger_end: behind the last ledger record of it, or of one before.
    """

    version: str
    id: str
    sessions: int
    digest: int
    history: str
    next_offset: int
    ledger_end: int

    @classmethod
    def decode(cls, stored: bytes) -> Self:
        """Read a stored manifest; ValueError where it is not one of this version, without what was found there."""
        try:
            manifest = msgspec.msgpack.decode(stored, type=cls)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            raise ValueError("unreadable manifest") from None
        if manifest.version != MANIFEST_VERSION:
            raise ValueError("a manifest of another version")
        CheckpointId.parse(manifest.id)
        return manifest


class OffsetMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """What the metadata of a committed offset says: atomically with the output, which snapshots count.

    topic, partition, next_offset: the offset that it was committed with; a tool that moves an offset and keeps its
    metadata is noticed by them. replay_offset: smallest offset at which a buffer of the partition starts. partitions:
    the input's partition count. transactional_id: the writer's, for a takeover. ledger: what the ledger must say
    (``ledger_sum``).
    history: drawn where a partition first starts, and where it begins at an offset from outside; every checkpoint has
    that of the one before.
    """

    id: CheckpointId
    topic: str
    partition: int
    next_offset: int
    replay_offset: int
    partitions: int
    transactional_id: str
    ledger: LedgerSum = LedgerSum()
    history: str = "0" * 16

    def encode(self) -> str:
        """Return the text form; ASCII, well under the broker's 4096 bytes."""
        numbers = f"{self.replay_offset} {self.partitions}"
        place = f"{self.topic} {self.partition} {self.next_offset}"
        return f"caesura1 {place} {self.id} {numbers} {self.transactional_id} {self.ledger} {self.history}"

    @classmethod
    def decode(cls, text: str | None) -> OffsetMetadata | None:
        """Parse the text form; None where it is not ours."""
        match = _METADATA.fullmatch(text or "")
        if match is None or _ID.fullmatch(match[4]) is None:
            return None
        topic, partition, next_offset, checkpoint, replay, partitions, writer, ledger, history = match.groups()
        return cls(
            id=CheckpointId.parse(checkpoint),
            topic=topic,
            partition=int(partition),
            next_offset=int(next_offset),
            replay_offset=int(replay),
            partitions=int(partitions),
            transactional_id=writer,
            ledger=LedgerSum.parse(ledger),
            history=history,
        )

    def belongs_to(self, topic: str, partition: int, next_offset: int) -> bool:
        """Tell whether it was committed with this offset of this partition."""
        return (self.topic, self.partition, self.next_offset) == (topic, partition, next_offset)
