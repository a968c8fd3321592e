"""What passes through the ports of Kafka: records in, offsets, messages out."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from caesura.schemas.segments import Segment


class Record(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One input record as the broker holds it. timestamp_ms: since the epoch; -1 where it has none.

    stamped_by_broker: the timestamp is the broker's (``LogAppendTime``), not a producer's. leader_epoch: of the leader
    that took it; None where it is not known.
    """

    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    stamped_by_broker: bool = False
    leader_epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionEnd:
    """The partition was read to its end: everything before ``next_offset`` was delivered.

    It tells of the fetch that it came with, which may be long ago: of what was appended since it says nothing.
    """

    partition: int
    next_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EndAnswer:
    """A leader's answer to a question for its partition's end.

    next_offset: as it was asked. at_end: nothing lay at or after that when the leader answered, in an open transaction
    neither; None: it did not answer in time, and ``failure`` says why not; without a failure, it has stamped a record
    that cannot be read yet, because its replicas do not have it.
    """

    partition: int
    next_offset: int
    at_end: bool | None
    failure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionStalled:
    """The partition cannot be read on from where it stands: its offset is out of the log's range."""

    partition: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedOffset:
    """A group's committed offset of one partition and its metadata as text.

    leader_epoch: of the record before it, where that was committed: a log that was cut below it is noticed by that.
    """

    next_offset: int
    metadata: str
    leader_epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NextOffset:
    """An offset to commit: the next one to read, its metadata, and the leader epoch of the record before it."""

    next_offset: int
    metadata: str
    leader_epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutMessage:
    """One record to publish inside the running transaction, to a given partition. segment: the one that it holds."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()
    segment: Segment | None = None
