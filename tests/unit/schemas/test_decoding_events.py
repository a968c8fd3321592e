"""Decoding an event: what is accepted, what is refused under which name, and that nothing said is ever quoted."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from caesura.schemas.codec import decode_event, encode_event
from caesura.schemas.dead_letters import UNREADABLE
from caesura.schemas.errors import InvalidEventError, NewerVersionError
from caesura.schemas.events import SessionOptions, Word, WordsEvent
from caesura.schemas.limits import MAX_EVENT_BYTES

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


def test_an_event_of_the_next_major_version_is_for_the_next_release_whatever_else_it_holds() -> None:
    with pytest.raises(NewerVersionError, match=r"version 2\.3 is newer"):
        decode_event(msgspec.msgpack.encode({"version": "2.3", "words": CANARY}))


def test_a_later_minor_version_is_read_and_its_new_fields_are_tolerated() -> None:
    event = decode_event(packed(version="1.12", mood={"a": [1, None]}, words=[{"text": "a", "pitch": 3}]))
    assert event == WordsEvent(version="1.12", session="s", seq=0, lang="en", words=(Word(text="a"),))


@pytest.mark.parametrize("field", [b"mood", b"canary"])
def test_what_an_unknown_field_holds_is_not_looked_at(field: bytes) -> None:
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
