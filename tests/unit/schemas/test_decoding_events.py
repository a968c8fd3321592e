"""Decoding an event: what is accepted, what is refused under which name, and that nothing said is ever quoted."""

from __future__ import annotations

import contextlib
import json
import traceback
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.codec import decode_event, decode_segment, decode_translation, encode_event, is_plainly_sound
from caesura.schemas.dead_letters import UNREADABLE
from caesura.schemas.errors import InvalidEventError, NewerVersionError
from caesura.schemas.events import Emission, SessionOptions, Word, WordsEvent
from caesura.schemas.json_structure import check_json_structure
from caesura.schemas.limits import MAX_EVENT_BYTES
from caesura.schemas.structure import MAX_DEPTH, check_structure
from caesura.schemas.wire import WireFormat, is_json
from tests.harness.speech import event

CANARY = "canary"
NOTHING_MORE: dict[str, Any] = {"version": "1.0", "session": "s", "seq": 0, "lang": "en"}
LONE_SURROGATE = b"\xed\xa0\x80"


def packed(**fields: object) -> bytes:
    return msgspec.msgpack.encode({**NOTHING_MORE, **fields})


def word(**fields: object) -> bytes:
    return packed(words=[{"text": "a"}, {"text": "b", **fields}])


def without(name: str) -> bytes:
    return msgspec.msgpack.encode({key: value for key, value in NOTHING_MORE.items() if key != name})


def refusal(data: bytes) -> InvalidEventError:
    with pytest.raises(InvalidEventError) as caught:
        decode_event(data)
    assert caught.value.reason in UNREADABLE
    return caught.value


REFUSED: list[tuple[bytes, str, str]] = [
    (b"", "malformed", "the event"),
    (b"\xc1", "malformed", "the event"),
    (b'{"version": "1.0"}', "missing_field", "session"),
    (b'{"version": "1.0", "session": "canary', "malformed", "the event"),
    (b'{"version": "1.0"} {"session": "canary"}', "malformed", "the event"),
    (b'{"version": "1.0", "seq": 1, "seq": 2}', "duplicate_field", "the event"),
    (b'{"version": "1.0", "session": "\xff"}', "malformed", "the event"),
    (b'{"version": "1.0", "session": "\\ud800", "seq": 0, "lang": "en"}', "malformed", "the event"),
    (b'{"version": "1.0", "seq": NaN}', "malformed", "the event"),
    (b'{"version": "1.0", "seq": ' + b"9" * 5000 + b"}", "malformed", "the event"),
    (b'{"version": "1.0", "mood": ' + b"[" * 17 + b"]" * 17 + b"}", "malformed", "the event"),
    (b'{"version": "1.0", "mood": ' + b"[" * 100_000, "malformed", "the event"),
    (b'[{"version": "1.0"}]', "malformed", "the event"),
    (packed()[:-1], "malformed", "the event"),
    (packed() + b"\xc0", "malformed", "the event"),
    (packed(session=CANARY).replace(b"canary", LONE_SURROGATE * 2), "malformed", "the event"),
    (packed(mood=msgspec.Raw(b"\x91" * 100 + b"\xc0")), "malformed", "the event"),
    (packed(mood=msgspec.Raw(b"\xdd\xff\xff\xff\xff")), "malformed", "the event"),
    (packed(mood=msgspec.Raw(b"\x82\xa1z\xc0\xd9\x01z\xc0")), "duplicate_field", "the event"),
    (packed(attributes=msgspec.Raw(b"\x82\xa1z\xa1a\xa1z\xa1b")), "duplicate_field", "the event"),
    (b"\x85" + packed()[1:] + b"\xa3seq\x01", "duplicate_field", "the event"),
    (msgspec.msgpack.encode([NOTHING_MORE]), "wrong_type", "the event"),
    (without("version"), "missing_field", "version"),
    (without("session"), "missing_field", "session"),
    (without("seq"), "missing_field", "seq"),
    (without("lang"), "missing_field", "lang"),
    (packed(words=[{}]), "missing_field", "words[0].text"),
    (packed(version=1), "wrong_type", "version"),
    (packed(version="1"), "unknown_version", "version"),
    (packed(version="1.0.0"), "unknown_version", "version"),
    (packed(version="one.zero"), "unknown_version", "version"),
    (packed(version="01.0"), "unknown_version", "version"),
    (packed(version="0.9"), "unknown_version", "version"),
    (packed(version="9" * 400 + ".0"), "unknown_version", "version"),
    (packed(version="3.0"), "unknown_version", "version"),
    (msgspec.msgpack.encode({"version": "41.7", "words": CANARY}), "unknown_version", "version"),
    (packed(session=""), "out_of_range", "session"),
    (packed(session="x" * 129), "oversized", "session"),
    (packed(session="语" * 43), "oversized", "session"),
    (packed(session="a\nb"), "forbidden_character", "session"),
    (packed(session=b"bytes"), "wrong_type", "session"),
    (packed(seq=-1), "out_of_range", "seq"),
    (packed(seq=2**53), "out_of_range", "seq"),
    (packed(seq=1.0), "wrong_type", "seq"),
    (packed(seq=True), "wrong_type", "seq"),
    (packed(seq=None), "wrong_type", "seq"),
    (packed(epoch=-1), "out_of_range", "epoch"),
    (packed(lang="e"), "out_of_range", "lang"),
    (packed(lang="en us"), "out_of_range", "lang"),
    (packed(lang="en-" + "x" * 40), "oversized", "lang"),
    (packed(lang="en\n"), "forbidden_character", "lang"),
    (packed(words=None), "wrong_type", "words"),
    (packed(words={CANARY: 1}), "wrong_type", "words"),
    (packed(words=["a"]), "wrong_type", "words[0]"),
    (packed(words=[{"text": "a"}] * 2001), "oversized", "words"),
    (word(text=""), "out_of_range", "words[1].text"),
    (word(text="x" * 65), "oversized", "words[1].text"),
    (word(text="a b"), "forbidden_character", "words[1].text"),
    (word(text="a\u3000b"), "forbidden_character", "words[1].text"),
    (word(text="a\u2028"), "forbidden_character", "words[1].text"),
    (word(text="a\x00"), "forbidden_character", "words[1].text"),
    (word(text="a\x85"), "forbidden_character", "words[1].text"),
    (word(start_ms=-1), "out_of_range", "words[1].start_ms"),
    (word(start_ms=CANARY), "wrong_type", "words[1].start_ms"),
    (word(end_ms=2**60), "out_of_range", "words[1].end_ms"),
    (word(start_ms=200, end_ms=199), "out_of_range", "words[1].end_ms"),
    (word(confidence=float("nan")), "out_of_range", "words[1].confidence"),
    (word(confidence=float("inf")), "out_of_range", "words[1].confidence"),
    (word(confidence=-0.1), "out_of_range", "words[1].confidence"),
    (word(confidence=1.1), "out_of_range", "words[1].confidence"),
    (packed(heard_until_ms=-1), "out_of_range", "heard_until_ms"),
    (packed(utterance_end=1), "wrong_type", "utterance_end"),
    (packed(session_end=None), "wrong_type", "session_end"),
    (packed(targets="de"), "wrong_type", "targets"),
    (packed(targets=["de", 3]), "wrong_type", "targets[1]"),
    (packed(targets=["de", "de"]), "out_of_range", "targets"),
    (packed(targets=["de", ""]), "out_of_range", "targets[1]"),
    (packed(targets=["../canary"]), "out_of_range", "targets[0]"),
    (packed(targets=["de\n"]), "forbidden_character", "targets"),
    (packed(targets=[f"t{i}" for i in range(33)]), "oversized", "targets"),
    (packed(options=[]), "wrong_type", "options"),
    (packed(options={"emission": CANARY}), "out_of_range", "options.emission"),
    (packed(options={"flush_after_ms": 0}), "out_of_range", "options.flush_after_ms"),
    (packed(options={"punctuation": "no"}), "wrong_type", "options.punctuation"),
    (packed(options={"own_fillers": ["like"] * 65}), "oversized", "options.own_fillers"),
    (packed(options={"own_fillers": ["x" * 60] * 9, "kept_phrases": ["y" * 60] * 9}), "oversized", "options"),
    (packed(configure={"kept_phrases": [CANARY + "\n"]}), "forbidden_character", "configure"),
    (packed(configure={"kept_phrases": [""]}), "out_of_range", "configure.kept_phrases[0]"),
    (packed(options={"numbers": CANARY}), "out_of_range", "options.numbers"),
    (packed(options={"spellings": {CANARY: "x" * 65}}), "oversized", "options.spellings"),
    (packed(options={"spellings": {f"{n}": "x" for n in range(65)}}), "oversized", "options.spellings"),
    (packed(options={"spellings": {f"{n}" + "x" * 60: "y" * 60 for n in range(40)}}), "oversized", "options"),
    (packed(configure={"spellings": {CANARY: "a\n"}}), "forbidden_character", "configure"),
    (packed(conversation="x" * 129), "oversized", "conversation"),
    (packed(speaker="a\x1b[2J"), "forbidden_character", "speaker"),
    (packed(attributes={CANARY: 3}), "wrong_type", "attributes"),
    (packed(attributes={3: CANARY}), "wrong_type", "attributes"),
    (packed(attributes={"a": "x" * 1024}), "oversized", "attributes"),
    (packed(attributes={"语" * 342: ""}), "oversized", "attributes"),
    (packed(attributes={"a": CANARY + "\r\n"}), "forbidden_character", "attributes"),
    (msgspec.msgpack.encode({**NOTHING_MORE, 3: CANARY}), "wrong_type", "the event"),
]
"""What is refused, the reason, and the field that the detail begins with."""


def test_a_wrong_event_is_refused_by_reason_and_field() -> None:
    for data, reason, field in REFUSED:
        error = refusal(data)
        assert (error.reason, error.detail.partition(":")[0]) == (reason, field), data[:200]
        assert CANARY not in str(error), data[:200]


def test_an_event_longer_than_the_limit_is_refused_before_it_is_read() -> None:
    assert refusal(b"\xc1" * (MAX_EVENT_BYTES + 1)).reason == "oversized"


def test_an_event_of_the_next_major_version_is_for_the_next_release() -> None:
    with pytest.raises(NewerVersionError, match=r"version 2\.3 is newer"):
        decode_event(msgspec.msgpack.encode({"version": "2.3", "words": CANARY}))


def test_a_later_minor_version_is_read_and_its_new_fields_are_tolerated() -> None:
    event = decode_event(packed(version="1.12", mood={"a": [1, None]}, words=[{"text": "a", "pitch": 3}]))
    assert event == WordsEvent(version="1.12", session="s", seq=0, lang="en", words=(Word(text="a"),))


@pytest.mark.parametrize("field", [b"mood", b"canary"])
def test_unknown_fields_are_ignored(field: bytes) -> None:
    assert decode_event(packed(mood=CANARY).replace(field, b"\xff" * len(field))) == WordsEvent(**NOTHING_MORE)


def test_an_event_with_everything_at_its_limit_is_accepted() -> None:
    event = WordsEvent(
        version="1.0",
        session="语" * 42 + "ab",
        seq=2**53 - 1,
        epoch=2**53 - 1,
        lang="zh-Hant-TW-x-private",
        words=(Word(text="𠮷" * 64, start_ms=5, end_ms=5, confidence=1), Word(text="a\u200d", start_ms=0)) * 1000,
        targets=(*(f"t{i}" for i in range(31)), "x" * 64),
        options=SessionOptions(look_ahead_words=0, flush_after_ms=1, max_buffer_words=1),
        conversation="",
        speaker="x" * 128,
        attributes={"k": "x" * 1023},
    )
    assert decode_event(encode_event(event)) == event


def test_null_stands_for_what_a_producer_does_not_know() -> None:
    nothing = {"start_ms": None, "end_ms": None, "confidence": None}
    assert decode_event(word(**nothing)).words[1] == Word(text="b")
    absent = dict.fromkeys(("heard_until_ms", "targets", "options", "conversation", "speaker", "attributes"))
    assert decode_event(packed(**absent)) == WordsEvent(**NOTHING_MORE)


def test_equal_events_are_equal_bytes_whatever_the_order_of_their_attributes() -> None:
    one = WordsEvent(**NOTHING_MORE, attributes={"a": "1", "b": "2"})
    other = WordsEvent(**NOTHING_MORE, attributes={"b": "2", "a": "1"})
    assert encode_event(one) == encode_event(other)


SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.binary(max_size=6) | st.text()
CANARIES = st.sampled_from(
    [
        CANARY,
        CANARY * 20,
        f" {CANARY}\n",
        f"{CANARY}.1",
        f"1.{CANARY}",
    ]
)
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


def refused(data: bytes) -> InvalidEventError | NewerVersionError | None:
    """Return the error that decoding raises; any other error fails the test."""
    try:
        decode_event(data)
    except (InvalidEventError, NewerVersionError) as error:
        return error
    return None


def refused_politely(data: bytes) -> None:
    """Decode; where it is refused, check the error."""
    error = refused(data)
    if error is not None:
        assert CANARY not in "".join(traceback.format_exception(error))
    if isinstance(error, InvalidEventError):
        assert error.reason in UNREADABLE


@given(st.binary(max_size=60))
def test_any_bytes_are_an_event_or_one_of_the_two_errors(data: bytes) -> None:
    refused_politely(data)


BYTES = {WireFormat.MSGPACK: st.integers(0, 255), WireFormat.JSON: st.sampled_from(b'"{}[],:\\0e-nt\xff')}


@given(EVENTS, st.data())
def test_a_damaged_event_is_an_event_or_one_of_the_two_errors(event: WordsEvent, data: st.DataObject) -> None:
    for wire, damage in BYTES.items():
        encoded = bytearray(encode_event(event, wire))
        for _ in range(data.draw(st.integers(1, 3))):
            encoded[data.draw(st.integers(0, len(encoded) - 1))] = data.draw(damage)
        refused_politely(bytes(encoded[: data.draw(st.integers(0, len(encoded)))]))
        refused_politely(bytes(encoded))


@given(EVENTS, st.sampled_from(FIELDS), ANYTHING)
def test_an_event_with_anything_in_a_field_never_shows_it_in_an_error(
    event: WordsEvent, field: str, anything: object
) -> None:
    fields = msgspec.to_builtins(event)
    for encode in (msgspec.msgpack.encode, msgspec.json.encode):
        refused_politely(encode({**fields, field: anything}))
        refused_politely(encode({**fields, "words": [{"text": "a", field: anything}, anything]}))
        refused_politely(encode({**fields, "options": {"emission": anything, field: anything}}))
        refused_politely(encode({**fields, "attributes": {CANARY: anything}}))


@given(EVENTS)
def test_what_was_encoded_in_either_format_is_decoded_as_it_was(event: WordsEvent) -> None:
    encoded = encode_event(event)
    assert decode_event(encoded) == event
    assert encode_event(decode_event(encoded)) == encoded
    as_json = encode_event(event, WireFormat.JSON)
    assert is_json(as_json)
    assert not is_json(encoded)
    assert decode_event(as_json) == event
    assert decode_event(b" \r\n" + as_json + b"\n") == event


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


_KEYS = st.sampled_from(["version", "seq", "words", "a", "b"])
_SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=3)
)
_PAIRS = st.lists(st.tuples(_KEYS, _SCALARS), max_size=5)
"""The items of a map, keys perhaps twice."""


def _map(pairs: list[tuple[str, object]], *, float32: bool = False, long_head: bool = False) -> bytes:
    """Return a map of these items, in MessagePack; numbers with a point perhaps in four bytes."""
    body = b"".join(_packed(key, float32) + _packed(value, float32) for key, value in pairs)
    return (b"\xde\x00" + bytes([len(pairs)]) if long_head else bytes([0x80 | len(pairs)])) + body


def _packed(value: object, float32: bool) -> bytes:
    if float32 and isinstance(value, float):
        return b"\xca\x3f\x80\x00\x00"
    return msgspec.msgpack.encode(value)


def _is_sound(data: bytes) -> bool:
    try:
        (check_json_structure if is_json(data) else check_structure)(data)
    except InvalidEventError:
        return False
    return True


@given(pairs=_PAIRS, float32=st.booleans(), long_head=st.booleans(), tail=st.sampled_from([b"", b"\xc0", b"\x80"]))
def test_no_map_passes_that_the_walk_refuses(
    pairs: list[tuple[str, object]], float32: bool, long_head: bool, tail: bytes
) -> None:
    data = _map(pairs, float32=float32, long_head=long_head) + tail
    assert _is_sound(data) or not is_plainly_sound(data)


@given(pairs=_PAIRS, tail=st.sampled_from(["", " ", "{}", "x"]), indent=st.none() | st.integers(0, 2))
def test_no_object_in_json_passes_that_the_walk_refuses(
    pairs: list[tuple[str, object]], tail: str, indent: int | None
) -> None:
    items = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, indent=indent)}" for key, value in pairs]
    data = ("{" + ", ".join(items) + "}" + tail).encode()
    assert _is_sound(data) or not is_plainly_sound(data)


@given(data=st.binary(max_size=12) | st.text(max_size=12).map(lambda text: ("{" + text).encode()))
def test_no_bytes_whatever_pass_that_the_walk_refuses(data: bytes) -> None:
    assert _is_sound(data) or not is_plainly_sound(data)


@pytest.mark.parametrize("wire", WireFormat)
def test_an_event_as_its_producer_writes_it_needs_no_walk(wire: WireFormat) -> None:
    assert is_plainly_sound(encode_event(event("call-1", 7, "so", "we", "went", "café"), wire))


@pytest.mark.parametrize("wire", WireFormat)
def test_deeply_nested_events_are_left_to_the_walk(wire: WireFormat) -> None:
    deep: object = 1
    for _ in range(MAX_DEPTH):
        deep = [deep]
    encode = msgspec.json.encode if wire is WireFormat.JSON else msgspec.msgpack.encode
    data = encode({"version": "1.0", "later": deep})
    assert not _is_sound(data)
    assert not is_plainly_sound(data)
