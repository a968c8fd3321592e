"""The fuzzer over the decode path, in short; and that it would catch a decode path that is wrong."""

from __future__ import annotations

import msgspec
import pytest

from caesura.schemas.codec import decode_event
from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.errors import InvalidEventError
from caesura.schemas.events import WordsEvent
from caesura.worker.errors import BadEventError
from caesura.worker.ports.records import Record
from caesura.worker.runtime.partition.record_decoding import read_event
from caesura.worker.runtime.settings.settings import Partitioner
from tests.fuzz.decoding import PARTITIONS, Decoding
from tests.fuzz.field_changes import FIELD_CHANGES
from tests.fuzz.generator import Generator
from tests.fuzz.message import OUTCOMES
from tests.fuzz.record_changes import LARGE_RECORDS, RECORD_CHANGES


def test_each_of_twenty_thousand_messages_is_an_event_or_a_refusal() -> None:
    run = Decoding()
    run.run(seed=1, messages=20_000)
    assert run.told == []
    assert set(run.outcomes) == OUTCOMES


@pytest.mark.parametrize("kind", LARGE_RECORDS)
def test_records_at_and_over_the_size_limit_are_decided_alike(kind: str) -> None:
    run, generator = Decoding(), Generator(1)
    for _ in range(4):
        run.take(generator.large(kind))
    assert run.told == []


def test_every_way_of_changing_an_event_is_drawn() -> None:
    generator = Generator(1)
    kinds = {generator.next().kind for _ in range(5000)}
    assert kinds >= {*FIELD_CHANGES, *RECORD_CHANGES, "untouched", "bytes"}


def test_the_same_seed_draws_the_same_messages() -> None:
    one, same, other = Generator(5), Generator(5), Generator(6)
    drawn = [one.next() for _ in range(200)]
    assert [same.next() for _ in range(200)] == drawn
    assert [other.next() for _ in range(200)] != drawn


def _crashes(record: Record) -> WordsEvent:
    """Raise whatever the decoder raises."""
    return msgspec.msgpack.decode(record.value or b"", type=WordsEvent)


def _checks_no_key(record: Record) -> WordsEvent:
    try:
        return decode_event(record.value or b"")
    except InvalidEventError as error:
        raise BadEventError(error.reason, error.detail) from None


def _quotes(record: Record) -> WordsEvent:
    try:
        return _right(record)
    except BadEventError as error:
        raise BadEventError(error.reason, repr(record.value)) from None


def _gives_no_reason(record: Record) -> WordsEvent:
    try:
        return _right(record)
    except BadEventError as error:
        raise BadEventError(DeadLetterReason.POISON, error.detail) from None


def _right(record: Record) -> WordsEvent:
    return read_event(record, partitions=PARTITIONS, partitioner=Partitioner.MURMUR2)


@pytest.mark.parametrize("read", [_crashes, _checks_no_key, _quotes, _gives_no_reason])
def test_a_decode_path_that_is_wrong_is_caught(read: object) -> None:
    assert callable(read)
    run = Decoding(read=read)
    run.run(seed=1, messages=500)
    assert run.violations > 0


def test_the_same_messages_through_the_right_one_are_in_order() -> None:
    run = Decoding(read=_right)
    run.run(seed=1, messages=500)
    assert run.violations == 0
