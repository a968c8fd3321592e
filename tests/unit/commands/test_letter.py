"""Dead letters as the commands see them."""

from __future__ import annotations

import json

import pytest

from caesura.schemas.codec import encode_event
from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.events import Word, WordsEvent
from caesura.schemas.segments import Piece, Segment, SegmentWord, Source
from caesura.schemas.versions import EVENT_VERSION
from caesura.schemas.wire import WireFormat
from caesura.worker.commands.dead_letters import _holds, _shown, hex_dump
from caesura.worker.commands.letter import Letter
from caesura.worker.commands.word_fates import WordFates
from caesura.worker.errors import BadEventError
from caesura.worker.ports.records import Record
from caesura.worker.runtime.partition.dead_letters import DeadLetters
from tests.harness.segments import a_segment


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


def test_a_letter_that_would_be_refused_again_says_so_and_quotes_nothing() -> None:
    broken = letter(b"\xc1 secret")
    assert broken.unsendable is None
    assert "malformed" in str(broken.refused_again)
    assert "secret" not in str(broken.refused_again)


@pytest.mark.parametrize("reason", ["late", "stale_epoch", "session_ended"])
def test_a_letter_its_session_has_passed_stays_refused(reason: str) -> None:
    assert "session" in str(good(reason).refused_again) or "stays so" in str(good(reason).refused_again)


@pytest.mark.parametrize("reason", ["wrong_partition", "poison", "malformed"])
def test_a_letter_that_this_release_reads_can_be_sent_again(reason: str) -> None:
    """Such as one that an older release refused, or one that went to a partition that was not its own."""
    assert (good(reason).unsendable, good(reason).refused_again) == (None, None)


def good(reason: str) -> Letter:
    event = WordsEvent(version=EVENT_VERSION, session="session", seq=0, lang="en")
    return Letter.of(record(encode_event(event), headers=(("caesura.reason", reason.encode()),)))


def test_an_event_under_another_sessions_key_stays_refused() -> None:
    event = WordsEvent(version=EVENT_VERSION, session="another", seq=0, lang="en")
    read = Letter.of(record(encode_event(event), headers=(("caesura.reason", b"key_mismatch"),)))
    assert read.refused_again == "its key is not its session"


def test_what_somebody_else_wrote_there_has_an_unknown_reason() -> None:
    assert Letter.of(record(headers=(("trace", b"1"),))).reason == "unknown"


@pytest.mark.parametrize("wire", WireFormat)
def test_an_event_is_shown_decoded_in_whatever_form_it_came(wire: WireFormat) -> None:
    event = WordsEvent(version=EVENT_VERSION, session="s", seq=4, lang="en", words=(Word(text="so"), Word(text="yes")))
    read = Letter.of(record(encode_event(event, wire)))
    assert _holds(read) == "2 words, seq 4 of epoch 0, en"
    assert json.loads(_shown(read.record.value or b""))["words"] == [{"text": "so"}, {"text": "yes"}]
    assert _shown(b"\xc1").startswith("00000000  c1")


def test_bytes_are_shown_sixteen_a_line() -> None:
    assert hex_dump(b"caesura\x00\xff and more").splitlines() == [
        "00000000  63 61 65 73 75 72 61 00 ff 20 61 6e 64 20 6d 6f  caesura.. and mo",
        "00000010  72 65                                            re",
    ]


def event(session: str, *words: str, end: bool = False) -> WordsEvent:
    said = tuple(Word(text=word) for word in words)
    return WordsEvent(version="1.3", session=session, seq=0, lang="en", words=said, session_end=end)


def segment(session: str, *words: str, last_offset: int = 7, end: bool = False) -> Segment:
    said = [SegmentWord(text=word, punctuation="none", disfluency="O") for word in words]
    source = Source(topic="t", partition=0, first_offset=0, last_offset=last_offset)
    return a_segment(said, session=session, source=source, session_end=end)


def fates(*events: WordsEvent, first_offset: int = 5) -> WordFates:
    made = WordFates()
    for one in events:
        made.sending(one)
        made.taken(one.session, first_offset)
    return made


def test_fates_are_known_once_every_word_is_published_or_refused() -> None:
    made = fates(event("a", "one", "two"), event("b", "three"))
    before = made.is_known
    assert made.publish(segment("a", "one", "two"))
    assert made.refuse(event("b", "three"), 6, "too_many_sessions")
    assert (before, made.is_known) == (False, True)
    assert made.told() == "2 words published, 1 refused (1 too_many_sessions)"


def test_an_end_that_was_sent_is_waited_for_and_says_what_did_not_come() -> None:
    made = fates(event("a", "one", "two", end=True))
    made.publish(segment("a", "one"))
    before = made.is_known
    made.publish(segment("a", end=True))
    assert (before, made.is_known, made.missing) == (False, True, 1)
    assert made.told() == "1 words published, none refused, 1 neither so far"


def test_a_refused_end_is_not_waited_for() -> None:
    made = fates(event("a", "one", end=True))
    made.refuse(event("a", "one", end=True), 5, "session_ended")
    assert made.is_known


def test_earlier_offsets_and_other_sessions_do_not_count() -> None:
    made = fates(event("a", "one"), first_offset=5)
    assert not made.publish(segment("other", "one"))
    made.publish(segment("a", "before", last_offset=4))
    assert not made.refuse(event("a", "before"), 4, "late")
    assert (made.published, made.refused, made.is_known) == (0, 0, False)


def test_a_segment_that_is_read_before_the_broker_tells_the_offset_counts_too() -> None:
    made = WordFates()
    made.sending(event("a", "one"))
    made.publish(segment("a", "one"))
    before = made.is_known
    made.taken("a", 5)
    assert (before, made.is_known) == (False, True)


def test_a_word_that_came_out_in_pieces_is_one_word() -> None:
    made = fates(event("a", "onetwo"))
    pieces = [
        SegmentWord(text=text, punctuation="none", disfluency="O", piece=Piece(start=start, of=6))
        for text, start in (("one", 0), ("two", 3))
    ]
    source = Source(topic="t", partition=0, first_offset=5, last_offset=5)
    made.publish(a_segment(pieces, session="a", source=source))
    assert (made.published, made.is_known) == (1, True)
