"""Dead letters as the commands see them."""

from __future__ import annotations

from schemas.dead_letters import DeadLetterReason
from worker.commands.dead_letters import hex_dump
from worker.commands.letter import Letter
from worker.errors import BadEventError
from worker.ports.records import Record
from worker.runtime.record_decoding import DeadLetters


def record(
    value: bytes | None = b"bytes", key: bytes | None = b"session", headers: tuple[tuple[str, bytes], ...] = ()
) -> Record:
    return Record(partition=3, offset=14, timestamp_ms=1000, key=key, value=value, headers=headers)


def letter(value: bytes | None = b"bytes", key: bytes | None = b"session", *, max_bytes: int = 100) -> Letter:
    letters = DeadLetters(source_topic="asr.words", topic="asr.words.dead", max_bytes=max_bytes)
    message = letters.letter(record(value, key), BadEventError(DeadLetterReason.MALFORMED, "words is missing"))
    return Letter.of(
        Record(partition=0, offset=5, timestamp_ms=-1, key=message.key, value=message.value, headers=message.headers)
    )


def test_a_letter_says_where_it_came_from_and_why() -> None:
    read = letter()
    assert (read.origin, read.reason, read.detail) == ("asr.words 3:14", "malformed", "words is missing")
    assert (read.place, read.length, read.unsendable) == ("0:5", 5, None)


def test_a_letter_that_was_cut_is_not_sent_again() -> None:
    read = letter(b"x" * 300)
    assert read.length == 300
    assert read.unsendable == "of its 300 bytes only 100 were kept"


def test_a_letter_without_its_key_or_value_is_not_sent_again() -> None:
    assert "key" in str(letter(key=b"k" * 5000).unsendable)
    assert "no value" in str(letter(value=None).unsendable)


def test_what_somebody_else_wrote_there_has_an_unknown_reason() -> None:
    assert Letter.of(record(headers=(("trace", b"1"),))).reason == "unknown"


def test_bytes_are_shown_sixteen_a_line() -> None:
    assert hex_dump(b"caesura\x00\xff and more").splitlines() == [
        "00000000  63 61 65 73 75 72 61 00 ff 20 61 6e 64 20 6d 6f  caesura.. and mo",
        "00000010  72 65                                            re",
    ]
