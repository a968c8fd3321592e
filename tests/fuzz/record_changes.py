"""Records around an event: another key or partition, no value, another encoding, cut off, or larger than is allowed."""

from __future__ import annotations

import gzip
import json
import random
import unicodedata
import zlib
from collections.abc import Callable
from typing import NamedTuple, cast

import msgspec

from caesura.schemas.limits import MAX_EVENT_BYTES
from tests.fuzz.crowd import Fields
from tests.fuzz.message import ACCEPTED, CANARY


class Sent(NamedTuple):
    """A record's key and value, and how many partitions beside its key's it goes to."""

    key: bytes | None
    value: bytes | None
    shift: int = 0


RecordChange = Callable[[random.Random, Fields], Sent]

_encode = msgspec.msgpack.encode


def _key(fields: Fields) -> bytes:
    return cast("str", fields["session"]).encode()


def _another_key(draw: random.Random, fields: Fields) -> Sent:
    session, key = cast("str", fields["session"]), _key(fields)
    keys = [None, b"", b"somebody", key + b"\x00", key[:-1], b" " + key, session.encode("utf-16"), b"\xff\xfe"]
    keys += [b'"' + key + b'"', _encode(session), draw.randbytes(draw.choice((1, 16, 2000)))]
    keys += [spelled for spelled in (unicodedata.normalize("NFD", session).encode(), key.upper()) if spelled != key]
    return Sent(draw.choice(keys), _encode(fields))


def _another_partition(draw: random.Random, fields: Fields) -> Sent:
    return Sent(_key(fields), _encode(fields), shift=draw.randrange(1, 8))


def _no_value(draw: random.Random, fields: Fields) -> Sent:
    return Sent(_key(fields), draw.choice((None, b"")))


def _cut_off(draw: random.Random, fields: Fields) -> Sent:
    value = _encode(fields)
    return Sent(_key(fields), value[: draw.randrange(len(value))])


def _something_after_the_end(draw: random.Random, fields: Fields) -> Sent:
    value = _encode(fields)
    return Sent(_key(fields), value + draw.choice((b"\x00", b"\n", b"\xc1", value, CANARY.encode())))


def _no_map(draw: random.Random, fields: Fields) -> Sent:
    values: list[object] = [None, True, 1, 1.5, CANARY, b"", [], [fields], [*fields.values()], list(fields.items())]
    return Sent(_key(fields), _encode(draw.choice(values)))


def _another_encoding(draw: random.Random, fields: Fields) -> Sent:
    """Speak another language: a list of JSON, compressed, behind a schema registry's header, as text of bytes."""
    value = _encode(fields)
    texts = [json.dumps([fields]), json.dumps(json.dumps(fields)), json.dumps(fields)[:-1] + ",}", repr(value)]
    others = [gzip.compress(value), zlib.compress(value), b"\x00\x00\x00\x00\x07" + value, b"\xef\xbb\xbf" + value]
    others += [text.encode(encoding) for text in texts for encoding in ("utf-8", "utf-16")]
    return Sent(_key(fields), draw.choice(others))


def _in_json(draw: random.Random, fields: Fields) -> Sent:
    texts = [json.dumps(fields), json.dumps(fields, ensure_ascii=False), json.dumps(fields, indent=1)]
    texts.append(f" {texts[0]}\r\n")
    return Sent(_key(fields), draw.choice(texts).encode())


def _a_field_twice(draw: random.Random, fields: Fields) -> Sent:
    """Name a field twice, in any of the ways in which its name can be written."""
    name = draw.choice(sorted(fields))
    value = fields[name] if draw.random() < 0.5 else draw.choice((None, CANARY, [], 7))
    entries = [_encode(key) + _encode(one) for key, one in fields.items()]
    entries.insert(draw.randrange(len(entries) + 1), _written(draw, name) + _encode(value))
    return Sent(_key(fields), _map_header(draw, len(entries)) + b"".join(entries))


def _written_otherwise(draw: random.Random, fields: Fields) -> Sent:
    """Say the same in other bytes: fields in another order, lengths and numbers wider than they need to be."""
    names = draw.sample(sorted(fields), len(fields))
    entries = [_written(draw, name) + _rewritten(draw, fields[name]) for name in names]
    return Sent(_key(fields), _map_header(draw, len(entries)) + b"".join(entries))


def _written(draw: random.Random, text: str) -> bytes:
    data = text.encode()
    header, width = draw.choice(((b"\xd9", 1), (b"\xda", 2), (b"\xdb", 4)))
    return header + len(data).to_bytes(width, "big") + data


def _rewritten(draw: random.Random, value: object) -> bytes:
    if isinstance(value, str):
        return _written(draw, value)
    if isinstance(value, int) and not isinstance(value, bool):
        return b"\xcf" + value.to_bytes(8, "big")
    if isinstance(value, list):
        return b"\xdd" + len(value).to_bytes(4, "big") + b"".join(_rewritten(draw, one) for one in value)
    return _encode(value)


def _map_header(draw: random.Random, count: int) -> bytes:
    return draw.choice((b"\xde" + count.to_bytes(2, "big"), b"\xdf" + count.to_bytes(4, "big")))


def _too_many_words(draw: random.Random, fields: Fields) -> Sent:
    return Sent(_key(fields), _encode({**fields, "words": [{"text": CANARY}] * draw.choice((2001, 20_000))}))


def _as_many_words_as_there_may_be(draw: random.Random, fields: Fields) -> Sent:
    text = draw.choice((CANARY, "🙂" * 64))
    return Sent(_key(fields), _encode({**fields, "words": [{"text": text}] * 2000}))


def _too_many_bytes(draw: random.Random, fields: Fields) -> Sent:
    """Go beyond the limit, by one byte or by as much as a broker still takes."""
    length = draw.choice((MAX_EVENT_BYTES + 1, MAX_EVENT_BYTES + 40_000))
    value = _encode({**fields, CANARY: b""})
    return Sent(_key(fields), _encode({**fields, CANARY: bytes(length - len(value) - 3)}))


def _as_many_bytes_as_there_may_be(draw: random.Random, fields: Fields) -> Sent:
    """Fill an event up to the limit with something that no version knows."""
    room = MAX_EVENT_BYTES - len(_encode({**fields, CANARY: None})) - 8
    filling: object = bytes(room) if draw.random() < 0.5 else [[]] * room
    return Sent(_key(fields), _encode({**fields, CANARY: filling}))


def _as_many_bytes_of_a_bad_event(draw: random.Random, fields: Fields) -> Sent:
    """Fill the limit to the byte, and end in the middle."""
    value = _encode({**fields, CANARY: bytes(MAX_EVENT_BYTES)})
    return Sent(_key(fields), value[: MAX_EVENT_BYTES - draw.choice((0, 1, 100, 700))])


_MALFORMED = frozenset({"malformed"})

RECORD_CHANGES: dict[str, tuple[RecordChange, frozenset[str]]] = {
    "another_key": (_another_key, frozenset({"key_mismatch"})),
    "another_partition": (_another_partition, frozenset({"wrong_partition", ACCEPTED})),
    "no_value": (_no_value, _MALFORMED),
    "cut_off": (_cut_off, _MALFORMED),
    "something_after_the_end": (_something_after_the_end, _MALFORMED),
    "no_map": (_no_map, frozenset({"wrong_type"})),
    "in_json": (_in_json, frozenset({ACCEPTED})),
    "another_encoding": (_another_encoding, frozenset({"malformed", "wrong_type"})),
    "a_field_twice": (_a_field_twice, frozenset({"duplicate_field"})),
    "written_otherwise": (_written_otherwise, frozenset({ACCEPTED})),
}
"""By name: what makes the record, and what may become of it."""

LARGE_RECORDS: dict[str, tuple[RecordChange, frozenset[str]]] = {
    "too_many_words": (_too_many_words, frozenset({"oversized"})),
    "as_many_words_as_there_may_be": (_as_many_words_as_there_may_be, frozenset({ACCEPTED})),
    "too_many_bytes": (_too_many_bytes, frozenset({"oversized"})),
    "as_many_bytes_as_there_may_be": (_as_many_bytes_as_there_may_be, frozenset({ACCEPTED})),
    "as_many_bytes_of_a_bad_event": (_as_many_bytes_of_a_bad_event, _MALFORMED),
}
"""The same, of those that are rare because they are large."""
