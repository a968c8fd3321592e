"""The ports: what the runtime asks of Kafka, Redis, a model and a clock. Adapters implement them, twins too.

Every method says whether it may block and what it may raise (``worker.errors``). None is thread-safe: one loop thread
owns them all. Time-outs are in seconds and bound the whole call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from schemas.checkpoint import CheckpointId
from worker.core.labelling import LabelRequest, Labels
from worker.core.writing import OutSegment

__all__ = [
    "Claimed",
    "Clock",
    "CommittedOffset",
    "Engine",
    "EngineModel",
    "GroupMembership",
    "LogReader",
    "NextOffset",
    "OutMessage",
    "PartitionEnd",
    "PartitionStalled",
    "PeerTransactions",
    "Publisher",
    "RebalanceListener",
    "Record",
    "SegmentSpan",
    "SessionStore",
    "StoreWrite",
    "Tracer",
    "WordSource",
]


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


class GroupMembership(Protocol):
    """The group's metadata as a transaction needs it; opaque but for ``current``."""

    @property
    def current(self) -> bool:
        """False where generation or member id say that brokers would take the commit unfenced."""
        ...


class RebalanceListener(Protocol):
    """What the runtime does in a rebalance; called inside ``WordSource.poll`` or ``close``; must not raise."""

    def on_assigned(self, partitions: Sequence[int]) -> None:
        """Take note: the partitions are assigned and paused, to be claimed by the loop."""
        ...

    def on_revoked(self, partitions: Sequence[int]) -> None:
        """Finish or abort the running transaction within the deadline, then let go."""
        ...

    def on_lost(self, partitions: Sequence[int]) -> None:
        """Abort; never finish."""
        ...


class WordSource(Protocol):
    """A member of the consumer group, reading one topic."""

    @property
    def topic(self) -> str:
        """The input topic."""
        ...

    def subscribe(self, listener: RebalanceListener) -> None:
        """Join the group. New partitions are assigned incrementally and paused before the listener hears of them."""
        ...

    def partition_count(self, timeout_s: float) -> int:
        """Return the topic's partition count. May block; BrokerError, FatalError where the topic is missing."""
        ...

    def poll(self, max_records: int, timeout_s: float) -> list[Record | PartitionEnd | PartitionStalled]:
        """Return what has come, at most ``max_records`` records; waits up to the time-out for the first.

        Rebalance callbacks run inside. BrokerError where it passes by itself, FencedError where a static member was
        replaced, FatalError otherwise.
        """
        ...

    def pause(self, partitions: Sequence[int]) -> None:
        """Stop delivering these assigned partitions; pausing twice is harmless. Does not block."""
        ...

    def resume(self, partitions: Sequence[int]) -> None:
        """Deliver these assigned partitions again. Does not block."""
        ...

    def seek(self, partition: int, next_offset: int) -> None:
        """Go on from ``next_offset``; records already fetched from elsewhere are never delivered. BrokerError."""
        ...

    def committed(self, partitions: Sequence[int], timeout_s: float) -> dict[int, CommittedOffset | None]:
        """Read the committed offsets with stable offsets required: waits while a transaction on one is open.

        May block; BrokerError where a transaction is still open at the time-out. None: nothing was ever committed.
        """
        ...

    def watermarks(self, partition: int, timeout_s: float) -> tuple[int, int]:
        """Ask the leader for the earliest and the end offset. May block; BrokerError."""
        ...

    def at_end(self, partition: int, next_offset: int, timeout_s: float) -> bool:
        """Ask the leader whether nothing readable lies at or after ``next_offset``. May block; BrokerError."""
        ...

    def membership(self) -> GroupMembership:
        """Return the group's metadata as of now. Does not block."""
        ...

    def close(self) -> None:
        """Leave the group; the listener hears ``on_revoked`` for what is held. May block."""
        ...


class PeerTransactions(Protocol):
    """Ends a transaction that a dead peer left open, so that a claim need not wait for its time-out."""

    def committed_metadata(self, timeout_s: float) -> dict[int, str]:
        """Return the metadata of the group's committed offsets, by partition, without waiting for open transactions.

        May block; BrokerError.
        """
        ...

    def end(self, transactional_id: str, timeout_s: float) -> None:
        """Fence whoever uses this transactional id and abort what is open under it. May block; BrokerError."""
        ...


class LogReader(Protocol):
    """Reads stretches of the log from outside the group; what a rebuild looks through."""

    def bounds(self, topic: str, partition: int, timeout_s: float) -> tuple[int, int]:
        """Ask the leader for the earliest and the end offset, open transactions included. May block; BrokerError."""
        ...

    def read(self, topic: str, partition: int, start: int, end: int, timeout_s: float) -> Iterator[Record]:
        """Yield the committed records from ``start`` up to ``end``, which is done only when the position passed it.

        May block; BrokerError where the time-out passes without progress: a transaction before ``end`` is still open.
        """
        ...

    def close(self) -> None:
        """Close the connections; harmless twice."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OutMessage:
    """One record to publish inside the running transaction, to a given partition."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()


class Publisher(Protocol):
    """A transactional producer. A transaction is begun, filled, given offsets, and committed or aborted."""

    @property
    def transactional_id(self) -> str:
        """The producer's transactional id: deployment and ordinal."""
        ...

    def init_transactions(self, timeout_s: float) -> None:
        """Fence whoever else uses this id and end what it left open. May block; BrokerError, FatalError.

        FatalError, too, where a topic that it was made to publish to is missing or has fewer partitions than the input.
        """
        ...

    def begin(self) -> None:
        """Begin a transaction. Does not block."""
        ...

    def publish(self, message: OutMessage) -> None:
        """Queue one message. AbortableError, FencedError, FatalError; may block while the local queue is full."""
        ...

    def send_offsets(self, offsets: Mapping[int, NextOffset], membership: GroupMembership, timeout_s: float) -> None:
        """Send the input's next offsets into the transaction.

        May block; RetriableError (call again), AbortableError, FencedError (the group moved on, or a newer producer).
        """
        ...

    def commit(self, timeout_s: float) -> None:
        """Flush and commit.

        May block. BrokerError: call again, never abort. AbortableError: abort. OutcomeUnknownError: the producer is
        done for; ``rebuild`` it, then read the committed ids. FencedError: the same, and a newer one exists.
        """
        ...

    def abort(self, timeout_s: float) -> None:
        """Abort the running transaction; what was queued is dropped. BrokerError (call again), OutcomeUnknownError."""
        ...

    def rebuild(self, timeout_s: float) -> None:
        """Destroy the producer, make one with the same id, and ``init_transactions``. May block.

        After BrokerError what it began goes on, and fences whoever took the id meanwhile: call again, or close.
        """
        ...

    def close(self) -> None:
        """Let go within seconds, whoever is away; closing twice is harmless."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """What a claim found: the token now ours, and the manifest as stored (None where there is none)."""

    token: int
    manifest: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreWrite:
    """One guarded write of one partition.

    token: the writer's. follows: the id that the stored manifest must have (None: there must be none).
    id, manifest: the new manifest. put: session -> bytes of its field. drop: sessions whose field goes.
    """

    token: int
    follows: CheckpointId | None
    id: CheckpointId
    manifest: bytes
    put: Mapping[str, bytes]
    drop: Sequence[str] = ()


class SessionStore(Protocol):
    """Sessions of partitions, one hash a partition; every write is fenced.

    No retries inside: an unanswered write may still land later, and only a new claim makes that harmless.
    """

    def claim(self, partition: int, above: int) -> Claimed:
        """Raise the partition's token to one more than the larger of the stored one and ``above``. StoreError."""
        ...

    def load(self, partition: int) -> Iterator[tuple[str, bytes]]:
        """Yield every session's field, each once. StoreError."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineModel:
    """A model that an engine serves: ``id@version`` in ``name``; look_ahead_words is L, the sum over its layers."""

    name: str
    language: str
    active: bool
    look_ahead_words: int


class Engine(Protocol):
    """Labels buffers in batches."""

    @property
    def models(self) -> Sequence[EngineModel]:
        """The models loaded; at most one a language is active."""
        ...

    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        """Label each request, in their order; each answer has one label pair a word. Blocks; EngineError.

        The answer to a request depends on nothing but its words and its model.
        """
        ...

    def forget(self, session: str) -> None:
        """Drop whatever is cached for a session. Does not block."""
        ...

    def warm_up(self) -> None:
        """Run each model once, so that the first session does not pay for it. Blocks; FatalError."""
        ...


class SegmentSpan(Protocol):
    """The span of a segment that is staged; one that is never ended was never there."""

    @property
    def headers(self) -> tuple[tuple[str, bytes], ...]:
        """Return what the segment's records carry, so that their readers go on with the trace."""
        ...

    def end(self, wall_ms: int) -> None:
        """Note that the segment's checkpoint has committed. Neither blocks nor raises."""
        ...


class Tracer(Protocol):
    """Traces segments back to their events. Neither blocks nor raises: a trace is never worth a segment."""

    def context_of(self, record: Record) -> str:
        """Return a record's trace context, opaque and at most 64 characters long; empty: it has none."""
        ...

    def begin(self, out: OutSegment) -> SegmentSpan:
        """Begin the span of a segment that is staged, linked to its events' contexts."""
        ...


class Clock(Protocol):
    """Time, passed in so that tests own it."""

    def wall_ms(self) -> int:
        """Return milliseconds since the epoch; may jump."""
        ...

    def monotonic_s(self) -> float:
        """Return seconds that only grow."""
        ...

    def sleep_s(self, seconds: float) -> None:
        """Let so much time pass. Blocks."""
        ...
