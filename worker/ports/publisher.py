"""Segments out: a transactional producer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from caesura.worker.ports.records import NextOffset, OutMessage
from caesura.worker.ports.word_source import GroupMembership


class Publisher(Protocol):
    """A transactional producer. A transaction is begun, filled, given offsets, and committed or aborted."""

    @property
    def transactional_id(self) -> str:
        """The producer's transactional id: deployment and ordinal."""
        ...

    def init_transactions(self, timeout_s: float) -> None:
        """Fence other users of this id and end what they left open. May block; BrokerError, FencedError, FatalError.

        FatalError, too, where a topic that it was made to publish to is missing or has fewer partitions than the input.
        """
        ...

    def begin(self) -> None:
        """Begin a transaction. Does not block; AbortableError, FencedError, FatalError where none can be begun."""
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

        May block. AbortableError: abort. BrokerError (no answer in time) and OutcomeUnknownError: neither call
        again nor abort; ``rebuild``, then read the committed ids. FencedError: the same, and a newer one exists.
        """
        ...

    def end_of(self, topic: str, partition: int) -> int | None:
        """Return the offset behind the last record of the last transaction there; None: none, or it is not known."""
        ...

    def abort(self, timeout_s: float) -> None:
        """Abort the running transaction; what was queued is dropped. May block.

        BrokerError, OutcomeUnknownError, FencedError: ``rebuild``. FatalError: it came out of turn.
        """
        ...

    def rebuild(self, timeout_s: float) -> None:
        """Destroy the producer, make one with the same id, and ``init_transactions``. May block.

        After BrokerError its attempt goes on, and fences a later user of the id: call again, or close.
        """
        ...

    def close(self) -> None:
        """Let go within seconds, even if the brokers are away; closing twice is harmless."""
        ...
