"""The live run's comparison: a dead letter or a word that is not as it should be is found."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from caesura.schemas.codec import encode_event
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.errors import BadEventError
from caesura.worker.ports.records import Record
from caesura.worker.runtime.partition.dead_letters import DeadLetters
from caesura.worker.runtime.partition.record_decoding import read_event
from caesura.worker.runtime.settings.settings import Partitioner
from tests.fuzz.accounting import Account, check_good_sessions, check_letters, check_words
from tests.harness.bad_events import bad_records
from tests.harness.in_memory_world import World
from tests.harness.reference import RULES
from tests.harness.speech import speech

_MAX_BYTES = 2000
_PARTITIONS = 2


def _refused() -> tuple[Account, list[Record]]:
    """Return the account of every bad record, and the dead letters that they should come to."""
    account, letters = Account(partitions=_PARTITIONS), []
    dead_letters = DeadLetters(source_topic="in", topic="dead", max_bytes=_MAX_BYTES)
    for offset, bad in enumerate(bad_records("ann", "word")):
        partition = (murmur2_partition(bad.key or b"", _PARTITIONS) + bad.shift) % _PARTITIONS
        record = Record(partition=partition, offset=offset, timestamp_ms=0, key=bad.key, value=bad.value)
        account.take(record)
        with pytest.raises(BadEventError) as raised:
            read_event(record, partitions=_PARTITIONS, partitioner=Partitioner.MURMUR2)
        out = dead_letters.letter(record, raised.value)
        letters.append(
            Record(
                partition=partition, offset=offset, timestamp_ms=0, key=out.key, value=out.value, headers=out.headers
            )
        )
    return account, letters


def test_the_dead_letters_that_should_have_come_are_in_order() -> None:
    account, letters = _refused()
    assert len(account.letters) == len(letters)
    assert check_letters(account, letters, max_bytes=_MAX_BYTES) == []


def test_a_dead_letter_that_is_lost_doubled_foreign_or_changed_is_found() -> None:
    account, letters = _refused()
    first = letters[-1]
    elsewhere = tuple((name, b"999" if name == "caesura.offset" else text) for name, text in first.headers)
    no_reason = tuple((name, b"bad" if name == "caesura.reason" else text) for name, text in first.headers)
    for wrong in (
        letters[:-1],
        [*letters, first],
        [*letters, replace(first, headers=elsewhere)],
        [*letters[:-1], replace(first, headers=no_reason)],
        [*letters[:-1], replace(first, value=b"other")],
        [*letters[:-1], replace(first, key=b"other")],
    ):
        assert len(check_letters(account, wrong, max_bytes=_MAX_BYTES)) >= 1


def test_a_good_session_that_lost_a_word_or_got_another_label_is_found() -> None:
    rules = DecodingRules(routes=frozenset({"de"}), **RULES)  # type: ignore[arg-type]
    world, account = World(partitions=_PARTITIONS, rules=rules), Account(partitions=_PARTITIONS)
    said = speech("ann", 40)
    for offset, one in enumerate(said):
        partition = murmur2_partition(b"ann", _PARTITIONS)
        account.take(Record(partition=partition, offset=offset, timestamp_ms=0, key=b"ann", value=encode_event(one)))
    world.send(*said)
    world.worker().settle()
    good, segments = frozenset({"ann"}), world.segments()
    assert len(segments) > 1
    assert check_words(account, segments) == []
    assert check_good_sessions(account, good, segments) == []
    word = segments[0].words[0]
    relabelled = replace(word, disfluency="B-RM" if word.disfluency == "O" else "O")
    changed = replace(segments[0], words=(relabelled, *segments[0].words[1:]))
    assert check_words(account, segments[1:]) != []
    assert check_good_sessions(account, good, segments[1:]) != []
    assert check_good_sessions(account, good, [changed, *segments[1:]]) != []
