"""Decoding whatever comes: two errors and no other, and never a word of the input in their text."""

from __future__ import annotations

import contextlib
import traceback

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.codec import decode_event, decode_segment, decode_translation, encode_event
from caesura.schemas.dead_letters import UNREADABLE
from caesura.schemas.errors import InvalidEventError, NewerVersionError
from caesura.schemas.events import Emission, SessionOptions, Word, WordsEvent
from caesura.schemas.structure import check_structure
from caesura.schemas.wire import WireFormat, is_json

CANARY = "zqcanaryqz"
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.binary(max_size=6) | st.text()
CANARIES = st.sampled_from([CANARY, CANARY * 20, f" {CANARY}\n", f"{CANARY}.1", f"1.{CANARY}"])
ANYTHING = st.recursive(
    SCALARS | CANARIES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4) | CANARIES, inner, max_size=3),
    max_leaves=8,
)
FIELDS = (*WordsEvent.__struct_fields__, CANARY)
TEXT = st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=12)
COUNT = st.integers(0, 2**53 - 1)
WORDS = st.builds(Word, text=TEXT, start_ms=st.none() | COUNT, confidence=st.none() | st.floats(0, 1))
OPTIONS = st.builds(SessionOptions, emission=st.none() | st.sampled_from(Emission), punctuation=st.booleans())
EVENTS = st.builds(
    WordsEvent,
    version=st.sampled_from(["1.0", "1.4"]),
    session=TEXT,
    seq=COUNT,
    epoch=COUNT,
    lang=st.sampled_from(["en", "zh-Hant", "de-AT"]),
    words=st.lists(WORDS, max_size=4).map(tuple),
    heard_until_ms=st.none() | COUNT,
    utterance_end=st.booleans(),
    session_end=st.booleans(),
    targets=st.none() | st.just(()) | st.just(("de", "fr")),
    options=st.none() | OPTIONS,
    speaker=st.none() | TEXT,
    attributes=st.none() | st.dictionaries(TEXT, TEXT, max_size=3),
)


def refusal(data: bytes) -> InvalidEventError | NewerVersionError | None:
    """Return the error that decoding raises; any other error fails the test."""
    try:
        decode_event(data)
    except (InvalidEventError, NewerVersionError) as error:
        return error
    return None


def refused_politely(data: bytes) -> None:
    """Decode; where it is refused, check the error."""
    error = refusal(data)
    if error is not None:
        assert CANARY not in "".join(traceback.format_exception(error))
    if isinstance(error, InvalidEventError):
        assert error.reason in UNREADABLE


@given(st.binary(max_size=60))
def test_any_bytes_are_an_event_or_one_of_the_two_errors(data: bytes) -> None:
    refused_politely(data)


@given(EVENTS, st.data())
def test_an_event_with_bytes_changed_or_cut_off_is_an_event_or_one_of_the_two_errors(
    event: WordsEvent, data: st.DataObject
) -> None:
    encoded = bytearray(encode_event(event))
    for _ in range(data.draw(st.integers(1, 3))):
        encoded[data.draw(st.integers(0, len(encoded) - 1))] = data.draw(st.integers(0, 255))
    refused_politely(bytes(encoded[: data.draw(st.integers(0, len(encoded)))]))
    refused_politely(bytes(encoded))


@given(EVENTS, st.sampled_from(FIELDS), ANYTHING)
def test_an_event_with_anything_in_a_field_never_shows_it_in_an_error(
    event: WordsEvent, field: str, anything: object
) -> None:
    fields = msgspec.to_builtins(event)
    refused_politely(msgspec.msgpack.encode({**fields, field: anything}))
    refused_politely(msgspec.msgpack.encode({**fields, "words": [{"text": "a", field: anything}, anything]}))
    refused_politely(msgspec.msgpack.encode({**fields, "options": {"emission": anything, field: anything}}))
    refused_politely(msgspec.msgpack.encode({**fields, "attributes": {CANARY: anything}}))


@given(EVENTS)
def test_what_was_encoded_is_decoded_as_it_was(event: WordsEvent) -> None:
    encoded = encode_event(event)
    assert decode_event(encoded) == event
    assert encode_event(decode_event(encoded)) == encoded


@given(EVENTS)
def test_what_was_written_as_json_is_the_same_event(event: WordsEvent) -> None:
    encoded = encode_event(event, WireFormat.JSON)
    assert is_json(encoded)
    assert not is_json(encode_event(event))
    assert decode_event(encoded) == event
    assert decode_event(b" \r\n" + encoded + b"\n") == event


@given(EVENTS, st.data())
def test_json_with_characters_changed_or_cut_off_is_an_event_or_one_of_the_two_errors(
    event: WordsEvent, data: st.DataObject
) -> None:
    encoded = bytearray(encode_event(event, WireFormat.JSON))
    for _ in range(data.draw(st.integers(1, 3))):
        encoded[data.draw(st.integers(0, len(encoded) - 1))] = data.draw(st.sampled_from(b'"{}[],:\\0e-nt\xff'))
    refused_politely(bytes(encoded[: data.draw(st.integers(0, len(encoded)))]))
    refused_politely(bytes(encoded))


@given(EVENTS, st.sampled_from(FIELDS), ANYTHING)
def test_json_with_anything_in_a_field_never_shows_it_in_an_error(
    event: WordsEvent, field: str, anything: object
) -> None:
    fields = msgspec.to_builtins(event)
    refused_politely(msgspec.json.encode({**fields, field: anything}))
    refused_politely(msgspec.json.encode({**fields, "words": [{"text": "a", field: anything}, anything]}))
    refused_politely(msgspec.json.encode({**fields, "attributes": {CANARY: anything}}))


@given(ANYTHING)
def test_the_shape_of_whatever_a_packer_writes_is_accepted(anything: object) -> None:
    check_structure(msgspec.msgpack.encode(anything))


@given(st.binary(max_size=40))
def test_bytes_of_a_good_shape_are_what_the_decoder_takes_for_whole(data: bytes) -> None:
    try:
        check_structure(data)
    except InvalidEventError:
        return
    with contextlib.suppress(UnicodeDecodeError, TypeError):  # not UTF-8; keys that Python cannot hash
        try:
            msgspec.msgpack.decode(data)
        except msgspec.DecodeError as error:
            message = str(error)
        else:
            message = ""
        assert "truncated" not in message
        assert "trailing" not in message


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x81\xa7version\xa1\xff", b"\x91" * 3000, b"\x80"])
def test_segments_are_refused_with_the_same_errors(data: bytes) -> None:
    for decode in (decode_segment, decode_translation):
        with pytest.raises(InvalidEventError):
            decode(data)
