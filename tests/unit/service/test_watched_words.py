"""A watcher's unfrozen words: what was said and is not frozen, whenever it began to watch and whatever comes first."""

from __future__ import annotations

import random

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.events import Word, WordsEvent
from caesura.schemas.segments import Segment
from caesura.schemas.tentative import Tentative
from caesura.schemas.versions import EVENT_VERSION
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.service.clients.session_pool import SessionPool
from caesura.worker.service.watch.watched_words import WatchedWords
from tests.harness.in_memory_world import ManualClock

Record = tuple[int, WordsEvent] | Segment


def spoken(words: int, seed: int, *, end: bool = True) -> tuple[list[Record], list[Tentative]]:
    """Return a session's events with their offsets and its segments, in the order in which they came to be.

    With them, after each event, its unfrozen words as the decoder has them.
    """
    drawn = random.Random(seed)
    pool = SessionPool(ScriptedEngine(), clock=ManualClock(), rules=DecodingRules())
    records: list[Record] = []
    looks: list[Tentative] = []
    seq = said = 0
    while said < words:
        texts = [f"w{said + place}" for place in range(drawn.randint(0, 5))]
        said += len(texts)
        event = WordsEvent(
            version=EVENT_VERSION,
            session="a",
            seq=seq,
            lang="en",
            words=tuple(Word(text=text) for text in texts),
            session_end=end and said >= words,
        )
        records.append((seq, event))
        pool.offer(event)
        records += pool.turn(10).segments
        if (look := pool.tentative("a")) is not None:
            looks.append(look)
        seq += 1
    return records, looks


def take(watched: WatchedWords, record: Record) -> None:
    if isinstance(record, Segment):
        watched.freeze(record)
    else:
        watched.hear(record[1], record[0])


def heard_and_frozen(records: list[Record]) -> tuple[list[str], int]:
    heard = [word.text for one in records if not isinstance(one, Segment) for word in one[1].words]
    frozen = sum(len(one.words) for one in records if isinstance(one, Segment))
    return heard, frozen


@given(words=st.integers(1, 80), seed=st.integers(0, 999))
def test_watching_from_the_start_shows_exactly_the_unfrozen_words(words: int, seed: int) -> None:
    records, _ = spoken(words, seed, end=False)
    watched = WatchedWords()
    for number, record in enumerate(records, start=1):
        take(watched, record)
        heard, frozen = heard_and_frozen(records[:number])
        unfrozen = watched.unfrozen("a", 0)
        assert unfrozen is not None
        assert [word.text for word in unfrozen.words] == heard[frozen:]
        assert unfrozen.first_word == frozen


@given(words=st.integers(20, 80), seed=st.integers(0, 999), missed=st.integers(1, 10))
def test_watching_from_the_middle_finds_its_place_by_segments(words: int, seed: int, missed: int) -> None:
    records, _ = spoken(words, seed, end=False)
    watched = WatchedWords()
    for record in records[missed:]:
        take(watched, record)
    if sum(isinstance(one, Segment) for one in records[missed:]) < 2:
        return
    heard, frozen = heard_and_frozen(records)
    unfrozen = watched.unfrozen("a", 0)
    assert unfrozen is not None
    assert unfrozen.first_word == frozen
    found = [word.text for word in unfrozen.words]
    assert found == heard[len(heard) - len(found) :]
    assert len(heard) - len(found) >= frozen  # never a word that is frozen already


@given(words=st.integers(1, 60), seed=st.integers(0, 999))
def test_labels_of_unfrozen_words_are_shown_before_later_words(words: int, seed: int) -> None:
    records, looks = spoken(words, seed, end=False)
    watched = WatchedWords()
    for record in records:
        take(watched, record)
    for look in looks[-3:-1]:
        watched.label(look)
    unfrozen = watched.unfrozen("a", 0)
    heard, frozen = heard_and_frozen(records)
    assert unfrozen is not None
    assert [word.text for word in unfrozen.words] == heard[frozen:]


def test_an_event_sent_twice_is_heard_once() -> None:
    watched = WatchedWords()
    event = WordsEvent(version=EVENT_VERSION, session="a", seq=0, lang="en", words=(Word(text="yes"),))
    for offset in (3, 4):
        watched.hear(event, offset)
    watched.hear(msgspec.structs.replace(event, seq=1), 5)
    unfrozen = watched.unfrozen("a", 0)
    assert unfrozen is not None
    assert [word.text for word in unfrozen.words] == ["yes", "yes"]


def test_a_session_that_ended_is_forgotten_and_so_are_the_quietest_of_too_many() -> None:
    records, _ = spoken(10, 1)
    watched = WatchedWords(max_sessions=2)
    for record in records:
        take(watched, record)
    assert len(watched) == 0
    for name in ("a", "b", "c"):
        watched.hear(WordsEvent(version=EVENT_VERSION, session=name, seq=0, lang="en"), 0)
    assert watched.unfrozen("a", 0) is None
    assert watched.unfrozen("c", 0) is not None
