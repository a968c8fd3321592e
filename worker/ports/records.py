"""What passes through the ports of Kafka: records in, offsets, messages out."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CommittedOffset", "NextOffset", "OutMessage", "PartitionEnd", "PartitionStalled", "Record"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One input record as the broker holds it. timestamp_ms: the broker's, since the epoch; -1 where it has none."""

    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionEnd:
    """The partition was read to its end as the leader told it: everything before ``next_offset`` was delivered."""

    partition: int
    next_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionStalled:
    """The partition cannot be read on from where it stands: its offset is out of the log's range."""

    partition: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedOffset:
    """A group's committed offset of one partition and its metadata as text."""

    next_offset: int
    metadata: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NextOffset:
    """An offset to commit: the next one to read, and its metadata."""

    next_offset: int
    metadata: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutMessage:
    """One record to publish inside the running transaction, to a given partition."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()
