"""Retention took what a rebuild needs: what is gone is counted, and nothing else is."""

from __future__ import annotations

import pytest

from caesura.schemas.codec import encode_event
from caesura.schemas.events import WordsEvent
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.records import OutMessage
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.rebuilds import Rebuilds, lose_redis
from tests.harness.speech import event, said

PATIENT = DecodingRules(flush_after_ms=10_000, stall_after_ms=10_000)
CLOSES_IDLY = DecodingRules(flush_after_ms=5_000, stall_after_ms=5_000, idle_after_ms=20_000)
NOON_MS = 1_700_000_000_000


def test_words_that_retention_took_are_counted_and_the_rest_goes_on() -> None:
    world = World(rules=DecodingRules(flush_after_ms=10_000, stall_after_ms=10_000))
    heard = Rebuilds()
    worker = world.worker(observer=heard)
    world.send(event("ann", 0, *["a"] * 5, utterance_end=True), event("ann", 1, "b", "c"), timestamp_ms=NOON_MS)
    worker.settle()
    world.broker.delete_before("asr.words", 0, 2)
    lose_redis(world, worker)
    world.send(event("ann", 2, "d", "e", session_end=True), timestamp_ms=NOON_MS)
    worker.settle()
    assert [one.lost_sessions for one in heard.summaries] == [1]
    assert [(one.lost_offsets, one.lost_records) for one in heard.summaries] == [((0, 2), 2)]
    assert said(world.segments()) == ["a"] * 5 + ["d", "e"]


def _after_retention(world: World, *spoken: WordsEvent, lost: int) -> tuple[list[str], list[tuple[int, int]]]:
    """Return what is published of what a session says before and after a loss, and lost sessions and words as told."""
    heard = Rebuilds()
    worker = world.worker(observer=heard)
    world.send(*spoken[:-1], timestamp_ms=NOON_MS)
    worker.settle()
    world.broker.delete_before("asr.words", 0, lost)
    lose_redis(world, worker)
    world.send(spoken[-1], timestamp_ms=NOON_MS)
    worker.settle()
    return said(world.segments()), [(one.lost_sessions, one.lost_words) for one in heard.summaries]


def test_where_only_published_words_are_gone_those_that_are_not_come_out() -> None:
    spoken = event("ann", 0, "a", "b", utterance_end=True), event("ann", 1, "c", "d")
    published, told = _after_retention(World(rules=PATIENT), *spoken, event("ann", 2, "e", session_end=True), lost=1)
    assert published == ["a", "b", "c", "d", "e"]
    assert told == [(0, 0)]


@pytest.mark.parametrize(
    ("second", "third"),
    [
        (event("ann", 0, "one"), event("ann", 2, "six")),  # a repeat of what is gone, dropped then
        (event("ann", 1, "six"), event("ann", 3, "ten")),  # too late then, a dead letter
    ],
)
def test_where_events_were_dropped_among_those_that_are_left_nothing_is_taken_for_another(
    second: WordsEvent, third: WordsEvent
) -> None:
    first = event("ann", 0, "one", utterance_end=True), event("ann", second.seq + 1, "two")
    spoken = *first, second, third
    last = event("ann", third.seq + 1, "end", session_end=True)
    published, told = _after_retention(World(rules=PATIENT), *spoken, last, lost=2)
    assert published == ["one", "end"]
    assert told == [(1, 2)]


@pytest.mark.parametrize(
    ("first", "then", "lost"), [(["我"], ["北", "京", "大"], 3), (["我", "们", "好"], ["北", "京"], 2)]
)
def test_characters_of_which_nobody_knows_the_front_are_lost_and_told(
    first: list[str], then: list[str], lost: int
) -> None:
    spoken = event("ann", 0, *first, lang="zh", utterance_end=True), event("ann", 1, *then, lang="zh")
    last = event("ann", 2, "学", lang="zh", session_end=True)
    published, told = _after_retention(World(rules=PATIENT), *spoken, last, lost=1)
    assert published == [*first, "学"]
    assert told == [(1, lost)]


def test_words_of_a_session_that_the_ledger_does_not_know_yet_are_counted_by_their_offsets() -> None:
    world = World(rules=PATIENT)
    heard = Rebuilds()
    worker = world.worker(observer=heard)
    world.send(event("ann", 0, "a"), event("ann", 1, "b"), event("ben", 0, "c"), timestamp_ms=NOON_MS)
    worker.settle()
    world.broker.delete_before("asr.words", 0, 2)
    lose_redis(world, worker)
    world.send(event("ben", 1, "d", session_end=True), timestamp_ms=NOON_MS)
    worker.settle()
    assert [(one.ledger_records, one.lost_sessions, one.lost_words) for one in heard.summaries] == [(0, 0, 0)]
    assert [(one.lost_offsets, one.lost_records) for one in heard.summaries] == [((0, 2), 2)]
    assert said(world.segments()) == ["c", "d"]


def test_words_after_a_ledger_record_that_itself_is_whole_are_counted_by_their_offsets() -> None:
    world = World(rules=CLOSES_IDLY)
    heard = Rebuilds()
    worker = world.worker(observer=heard)
    _speak_and_be_closed(world, worker)
    world.send(event("ann", 1, "b", "c"))
    worker.settle()
    world.broker.delete_before("asr.words", 0, 2)
    lose_redis(world, worker)
    world.send(event("ann", 2, "d", session_end=True))
    worker.settle()
    assert [(one.ledger_records, one.lost_sessions, one.lost_words) for one in heard.summaries] == [(1, 0, 0)]
    assert [(one.lost_offsets, one.lost_records) for one in heard.summaries] == [((1, 2), 1)]
    assert said(world.segments()) == ["a", "d"]


def test_a_partition_whose_input_is_gone_altogether_has_lost_no_more_than_it_had_read() -> None:
    world = World(rules=PATIENT)
    heard = Rebuilds()
    worker = world.worker(observer=heard)
    world.send(event("ann", 0, "a"), event("ann", 1, "b"), timestamp_ms=NOON_MS)
    worker.settle()
    worker.worker.drain()
    world.send(*(event("ann", seq, "unread") for seq in range(2, 9)), timestamp_ms=NOON_MS)
    world.broker.delete_before("asr.words", 0, 9)
    lose_redis(world, worker)
    world.worker(observer=heard).settle()
    assert [(one.lost_offsets, one.lost_records) for one in heard.summaries] == [((0, 2), 2)]


@pytest.mark.parametrize("retention", [0, 3])
def test_offsets_that_the_log_never_showed_anybody_and_such_as_nobody_needs_are_not_lost(retention: int) -> None:
    world = World(rules=CLOSES_IDLY)
    heard = Rebuilds()
    worker = world.worker(observer=heard)
    _speak_and_be_closed(world, worker)
    _abort(world, event("ann", 1, "never said"))  # takes offset 1, its marker offset 2
    world.send(event("ann", 1, "b"))
    _abort(world, event("ann", 2, "nor that"))
    world.send(event("ann", 2, "c"))
    worker.settle()
    world.broker.delete_before("asr.words", 0, retention)
    lose_redis(world, worker)
    world.send(event("ann", 3, "d", session_end=True))
    worker.settle()
    assert [one.lost_records for one in heard.summaries] == [0]
    assert said(world.segments()) == ["a", "b", "c", "d"]


def _speak_and_be_closed(world: World, worker: InMemoryWorker) -> None:
    """Have ann's first word published and her session closed for idleness: nothing of the input is needed any more."""
    world.send(event("ann", 0, "a"))
    worker.settle()
    world.clock.pass_s(30.0)
    worker.settle()


def _abort(world: World, one: WordsEvent) -> None:
    writer = world.broker.init_producer("a producer that fails")
    message = OutMessage(topic="asr.words", partition=0, key=one.session.encode(), value=encode_event(one))
    world.broker.write(writer, message)
    world.broker.end_transaction(writer, commit=False)
