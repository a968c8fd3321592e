"""A record that no transaction can hold, or that kills whoever publishes it, each time: in the end it is `poison`.

Its words are flushed with it, so it is this record that fails and none that comes later.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping

from caesura.schemas.codec import encode_event
from caesura.schemas.events import Word, WordsEvent
from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.errors import ContentRefusedError
from caesura.worker.ports.records import NextOffset, OutMessage
from caesura.worker.ports.word_source import GroupMembership
from tests.harness.producers import Sent, session_name

__all__ = ["POISON", "PoisonedPublisher", "poisoned_records"]

POISON = "poison"
_CHOKES = b"unspeakable-word"
_KILLS = b"deadly-word"


class PoisonedPublisher(KafkaPublisher):
    """Aborts every transaction that holds the one word; does not survive the other one."""

    _chokes = False

    def begin(self) -> None:
        """Begin a transaction."""
        self._chokes = False
        super().begin()

    def publish(self, message: OutMessage) -> None:
        """Queue a message, or be gone."""
        value = message.value or b""
        if _KILLS in value:
            os.kill(os.getpid(), signal.SIGKILL)
        self._chokes = self._chokes or _CHOKES in value
        super().publish(message)

    def send_offsets(self, offsets: Mapping[int, NextOffset], membership: GroupMembership, timeout_s: float) -> None:
        """Send the offsets, unless the transaction must fail."""
        if self._chokes:
            raise ContentRefusedError("a word that no transaction can hold", topic="", partition=-1, key=None)
        super().send_offsets(offsets, membership, timeout_s)


def poisoned_records(number: int, partition: int, partitions: int, *, kills: bool) -> tuple[list[Sent], list[Sent]]:
    """Return what a session says up to the poisonous record, and what it says after it, to its end."""
    name = session_name(f"p{number}", partition, partitions)
    word = (_KILLS if kills else _CHOKES).decode()

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
        return Sent(partition=partition, key=name.encode(), value=encode_event(event), refused=refused)

    before = [sent(seq, f"{name}-{seq}", f"{name}-{seq}-more") for seq in range(3)]
    poison = sent(3, f"{name}-3", word, refused=POISON)
    after = [sent(seq, f"{name}-{seq}", f"{name}-{seq}-more") for seq in (4, 5, 6)]
    return [*before, poison], [*after, sent(7, end=True)]
