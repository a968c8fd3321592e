"""A duplicate field, NaN or a value nested too deep is refused alike wherever it comes in, and never quoted."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest

from caesura.schemas.codec import decode_event
from caesura.schemas.state import decode_ledger, decode_state
from caesura.worker.feeds.formats.jsonl import events_of_json_lines
from caesura.worker.feeds.messages import json_messages
from caesura.worker.feeds.timed_events import Pace
from caesura.worker.service.clients.reading import frame_reader, read_opening
from caesura.worker.service.server.messages import Opening

CANARY = "zqcanaryqz"
DEEP = 100_000
START = '{"version": "1.2", "session": "s", "seq": 0, "lang": "en", '
HOSTILE = {
    "field twice": START + f'"words": [{{"text": "{CANARY}"}}], "words": [{{"text": "{CANARY}"}}]}}',
    "field twice within": START + f'"words": [{{"text": "{CANARY}", "text": "{CANARY}"}}]}}',
    "NaN": START + f'"words": [{{"text": "{CANARY}", "confidence": NaN}}]}}',
    "infinity": START + f'"words": [{{"text": "{CANARY}", "confidence": 1e999}}]}}',
    "17 levels": START + f'"{CANARY}": ' + "[" * 17 + "]" * 17 + "}",
    "deep": START + f'"{CANARY}": ' + "[" * DEEP + "]" * DEEP + "}",
    "not ended": START + f'"{CANARY}": ' + '"' + '\\"' * 50_000,
}


def frame(text: str) -> object:
    return list(frame_reader(Opening(), lambda *_: None).read(text))


def json_line(text: str) -> object:
    return list(events_of_json_lines([text], prefix="", lang="en", epoch=0, pace=Pace()))


READINGS: dict[str, Callable[[str], object]] = {
    "Kafka record": lambda text: decode_event(text.encode()),
    "frame": frame,
    "opening": read_opening,
    "JSON lines": json_line,
    "recogniser's message": lambda text: list(json_messages([text])),
}


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("reading", READINGS)
def test_hostile_json_is_refused_alike_everywhere(reading: str, hostile: str) -> None:
    with pytest.raises(Exception, match=r"expected|not JSON") as refused:
        READINGS[reading](HOSTILE[hostile])
    assert not isinstance(refused.value, RecursionError | json.JSONDecodeError | msgspec.MsgspecError)
    assert CANARY not in str(refused.value)


ADMISSION: dict[str, object] = {
    "options": {"emission": "sentence", "look_ahead_words": 1, "flush_after_ms": 1, "max_buffer_words": 1,
                "punctuation": True},
    "activity_ms": 0, "event_ms": 0,
}  # fmt: skip
FACTS = {
    "version": "2.0", "session": CANARY, "since": 0, "admission": ADMISSION, "output": {},
    "decoding": {"lang": "en"},
}  # fmt: skip


def packed(fields: dict[str, object], more: bytes = b"") -> bytes:
    """Return a map of these fields and of what is packed already, a key and its value."""
    items = b"".join(msgspec.msgpack.encode(part) for pair in fields.items() for part in pair)
    return bytes([0xDE, 0, len(fields) + bool(more)]) + items + more


STORED = {
    "a status that is none": packed({**FACTS, "admission": {**ADMISSION, "status": CANARY}}),
    "deep": packed(FACTS, msgspec.msgpack.encode("x") + b"\x91" * 5000 + b"\xc0"),
    "a field twice": packed(FACTS, msgspec.msgpack.encode("session") + msgspec.msgpack.encode(CANARY)),
    "half a character": packed(FACTS, b"\xa1x\xa1\xff"),
    "cut off": packed(FACTS)[:-3],
    "more behind it": packed(FACTS) + b"\xc0",
}


@pytest.mark.parametrize("decode", [decode_state, decode_ledger])
@pytest.mark.parametrize("hostile", STORED)
def test_hostile_stored_state_is_one_error_without_a_value(hostile: str, decode: Callable[[bytes], object]) -> None:
    with pytest.raises(ValueError, match="unreadable") as refused:
        decode(STORED[hostile])
    assert CANARY not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize("decode", [decode_state, decode_ledger])
def test_stored_state_with_fields_of_a_later_release_is_read(decode: Callable[[bytes], object]) -> None:
    later = packed(FACTS, msgspec.msgpack.encode("later") + msgspec.msgpack.encode({"a": [1, 2]}))
    decode(later)
