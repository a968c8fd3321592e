"""What became of words that were sent: each is published, refused, or still to come, and the session's end ends it."""

from __future__ import annotations

from caesura.schemas.events import Word, WordsEvent
from caesura.schemas.segments import Piece, Segment, SegmentWord, Source
from caesura.worker.commands.word_fates import WordFates
from tests.harness.segments import a_segment


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


def test_all_is_known_once_every_word_is_published_or_refused() -> None:
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


def test_what_was_sent_before_and_what_is_of_other_sessions_does_not_count() -> None:
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
