"""A record that its partition cannot pass: no broker takes what comes of it (`poison`), or it is of a later version.

What is said in the first is flushed with it, so it is this record that fails and none that comes later. The second
parks its partition until an operator has it skipped.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from caesura.schemas.codec import encode_event
from caesura.schemas.events import Word, WordsEvent
from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.errors import ContentRefusedError
from caesura.worker.ports.records import NextOffset, OutMessage
from caesura.worker.ports.word_source import GroupMembership
from tests.harness.producers import Sent, session_name

POISON = "poison"
SKIPPED = "skipped"
_CHOKES = b"deadly-word"


class PoisonedPublisher(KafkaPublisher):
    """Refuses every segment that holds the word."""

    _refused: OutMessage | None = None

    def begin(self) -> None:
        """Begin a transaction."""
        self._refused = None
        super().begin()

    def publish(self, message: OutMessage) -> None:
        """Queue a message."""
        if self._refused is None and message.segment is not None and _CHOKES in (message.value or b""):
            self._refused = message
        super().publish(message)

    def send_offsets(self, offsets: Mapping[int, NextOffset], membership: GroupMembership, timeout_s: float) -> None:
        """Send the offsets, unless the transaction must fail."""
        if (one := self._refused) is not None:
            raise ContentRefusedError("as planned", topic=one.topic, partition=one.partition, value=one.value)
        super().send_offsets(offsets, membership, timeout_s)


def poisoned_records(
    number: int, partition: int, partitions: int, *, reason: str = POISON
) -> tuple[list[Sent], list[Sent]]:
    """Return what a session says up to the record that becomes a dead letter, and what it says after it, to its end."""
    name = session_name(f"{reason[0]}{number}", partition, partitions)
    word = _CHOKES.decode()

    def sent(seq: int, *texts: str, refused: str | None = None, end: bool = False) -> Sent:
        event = WordsEvent(
            version="1.0",
            session=name,
            seq=seq,
            lang="en",
            words=tuple(Word(text=text, confidence=0.5) for text in texts),
            utterance_end=refused is not None,
            session_end=end,
        )
        value = encode_event(event)
        if refused == SKIPPED:
            value = msgspec.msgpack.encode(msgspec.msgpack.decode(value) | {"version": "2.0"})
        return Sent(partition=partition, key=name.encode(), value=value, refused=refused)

    before = [sent(seq, f"{name}-{seq}", f"{name}-{seq}-more") for seq in range(3)]
    poison = sent(3, f"{name}-3", word, refused=reason)
    after = [sent(seq, f"{name}-{seq}", f"{name}-{seq}-more") for seq in (4, 5, 6)]
    return [*before, poison], [*after, sent(7, end=True)]
