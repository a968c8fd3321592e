"""Every way in which a record can be wrong, with the reason that its dead letter must name."""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec

from caesura.schemas.codec import encode_event
from tests.harness.speech import event


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRecord:
    """A record and why it is refused. shift: how many partitions beside its key's it is sent to."""

    name: str
    reason: str
    key: bytes | None
    value: bytes | None
    shift: int = 0


def bad_records(session: str, word: str) -> list[BadRecord]:
    """Return one record for each refusal, all in the name of a session, each carrying a word."""
    key = session.encode()
    good = encode_event(event(session, 0, word))

    def bad(name: str, reason: str, value: bytes | None, of: bytes | None = key, shift: int = 0) -> BadRecord:
        return BadRecord(name=name, reason=reason, key=of, value=value, shift=shift)

    def changed(**fields: object) -> bytes:
        return msgspec.msgpack.encode({**msgspec.msgpack.decode(good), **fields})

    before, _, after = good.rpartition(word.encode())
    nested: object = word
    for _ in range(100):
        nested = [nested]
    without_words = {name: value for name, value in msgspec.msgpack.decode(good).items() if name != "seq"}
    return [
        bad("no value", "malformed", None),
        bad("empty", "malformed", b""),
        bad("no MessagePack", "malformed", b"\xc1" + word.encode()),
        bad("JSON without a version", "missing_field", b'{"words": ["' + word.encode() + b'"]}'),
        bad("truncated", "malformed", good[:-3]),
        bad("something after its end", "malformed", good + b"\x00"),
        bad("a field twice", "duplicate_field", _one_more_field(good, "seq", 1)),
        bad("text that is no UTF-8", "malformed", b"\xff".join((before, word[1:].encode() + after))),
        bad("nested a hundred deep", "malformed", changed(attributes=nested)),
        bad("a confidence that is no number", "out_of_range", changed(words=[{"text": word, "confidence": math.nan}])),
        bad("words that are no list", "wrong_type", changed(words=word)),
        bad("a seq that is text", "wrong_type", changed(seq=word)),
        bad("no seq", "missing_field", msgspec.msgpack.encode(without_words)),
        bad("a negative seq", "out_of_range", changed(seq=-1)),
        bad("white space in a word", "forbidden_character", changed(words=[{"text": f"{word} {word}"}])),
        bad("a word too long", "oversized", changed(words=[{"text": word * 20}])),
        bad("too many bytes", "oversized", changed(attributes={"a": word * 400})),
        bad("a version that is none", "unknown_version", changed(version=word)),
        bad("a version before the first", "unknown_version", changed(version="0.9")),
        bad("another's key", "key_mismatch", good, of=b"somebody"),
        bad("no key", "key_mismatch", good, of=None),
        bad("another partition", "wrong_partition", good, shift=1),
    ]


def _one_more_field(encoded: bytes, name: str, value: object) -> bytes:
    """Return a small map with one more entry at its end, whether there is one of that name or not."""
    assert encoded[:2] == b"\xde\x00", "a map whose head has two bytes for its count"
    head = encoded[:2] + bytes([encoded[2] + 1])
    return head + encoded[3:] + msgspec.msgpack.encode(name) + msgspec.msgpack.encode(value)
