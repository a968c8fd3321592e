"""Decodes a Kafka record to a word event, or raises an error with the reason."""

from __future__ import annotations

from caesura.schemas.codec import decode_event
from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.errors import InvalidEventError
from caesura.schemas.events import WordsEvent
from caesura.worker.errors import BadEventError
from caesura.worker.ports.records import Record
from caesura.worker.runtime.settings.settings import Partitioner

_PRODUCER_OPTION = {
    Partitioner.MURMUR2: "Java's default or librdkafka's partitioner=murmur2_random",
    Partitioner.CRC32: "librdkafka's partitioner=consistent_random",
}


def read_event(record: Record, *, partitions: int, partitioner: Partitioner) -> WordsEvent:
    """Return the event of a record.

    BadEventError if it can never be applied; ``errors.NewerVersionError`` if a newer worker can apply it.
    """
    if record.value is None:
        raise BadEventError(DeadLetterReason.MALFORMED, "the record has no value")
    try:
        event = decode_event(record.value)
    except InvalidEventError as error:
        raise BadEventError(error.reason, error.detail) from None
    if record.key is None or record.key != event.session.encode():
        raise BadEventError(DeadLetterReason.KEY_MISMATCH, "the record's key is not the event's session in UTF-8")
    if partitioner is not Partitioner.UNCHECKED and partitioner.place(record.key, partitions) != record.partition:
        raise BadEventError(
            DeadLetterReason.WRONG_PARTITION,
            f"the setting partitioner={partitioner} expects {_PRODUCER_OPTION[partitioner]}",
        )
    return event
