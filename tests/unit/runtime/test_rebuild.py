"""Loss of Redis: sessions come back from the log, and what was published stays what it was."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from caesura.schemas.codec import encode_event
from caesura.schemas.events import Emission, WordsEvent
from caesura.schemas.segments import Segment
from caesura.worker.core.decoding.context import Origin
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.partition.partition import PartitionSessions
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.ports.records import OutMessage
from caesura.worker.runtime.settings.settings import Partitioner
from tests.harness.heard import Rebuilds, lose_redis
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.partition_driver import NOW_MS, Driver
from tests.harness.partition_driver import event as session_event
from tests.harness.speech import by_session, check_every_word_once, event, said, speech, untimed

PATIENT = DecodingRules(flush_after_ms=10_000, stall_after_ms=10_000)
CLOSES_IDLY = DecodingRules(flush_after_ms=5_000, stall_after_ms=5_000, idle_after_ms=20_000)
NOON_MS = 1_700_000_000_000


def _ordered(world: World) -> list[Segment]:
    return untimed(sorted(world.segments(), key=lambda one: (one.session, one.index)))


@pytest.mark.parametrize("loss_after", [1, 3, 8, 13, 20, 25])
def test_losing_all_of_redis_in_mid_stream_changes_nothing(loss_after: int) -> None:
    settled = speech("ben", 50, emission=Emission.SETTLED)
    events = [one for pair in zip(speech("ann", 50), settled, strict=True) for one in pair]
    alone, robbed = World(rules=PATIENT), World(rules=PATIENT)
    alone.send(*events, timestamp_ms=NOON_MS)
    alone.worker().settle()
    heard = Rebuilds()
    worker = robbed.worker(observer=heard)
    robbed.send(*events[:loss_after], timestamp_ms=NOON_MS)
    worker.settle()
    robbed.redis.lose_everything()
    robbed.send(*events[loss_after:], timestamp_ms=NOON_MS)
    worker.settle()
    assert len(heard.summaries) == 1
    check_every_word_once(events, robbed.segments())
    assert _ordered(robbed) == _ordered(alone)


def test_a_fail_over_to_an_older_redis_is_noticed_and_made_good() -> None:
    events = speech("ann", 60)
    world = World(rules=PATIENT)
    worker = world.worker()
    world.send(*events[:4], timestamp_ms=NOON_MS)
    worker.settle()
    older = world.redis.copy()
    world.send(*events[4:9], timestamp_ms=NOON_MS)
    worker.settle()
    world.redis.fail_over_to(older)
    world.send(*events[9:], timestamp_ms=NOON_MS)
    worker.settle()
    check_every_word_once(events, world.segments())


@pytest.mark.parametrize("committed", [True, False])
def test_a_manifest_that_only_another_release_can_read_is_state_behind_the_log(committed: bool) -> None:
    events = speech("ann", 60)
    world = World(rules=PATIENT)
    first = world.worker()
    world.send(*events[:9], timestamp_ms=NOON_MS)
    first.settle()
    first.worker.drain()
    stored = world.redis.partition(0)
    if not committed:
        assert stored.id is not None
        stored.control["i"] = b"1.999.%s" % stored.id.rpartition(b".")[2]
    stored.control["m"] = msgspec.msgpack.encode(["3.0", stored.control["i"].decode(), {"sessions": "said otherwise"}])
    heard = Rebuilds()
    second = world.worker(observer=heard)
    world.send(*events[9:], timestamp_ms=NOON_MS)
    second.settle()
    assert len(heard.summaries) == 1
    check_every_word_once(events, world.segments())


def test_chinese_sessions_come_back_with_the_same_segmentation() -> None:
    words = ["今天", "我们去", "北", "京大学", "看看", "新的", "图书馆", "好不", "好", "然后", "再回家", "吃饭"]
    events = [event("zh", seq, word, lang="zh-CN") for seq, word in enumerate(words)]
    events.append(event("zh", len(events), session_end=True))
    alone = World(rules=PATIENT)
    alone.send(*events, timestamp_ms=NOON_MS)
    alone.worker().settle()
    for loss_after in range(1, len(events), 3):
        robbed = World(rules=PATIENT)
        worker = robbed.worker()
        robbed.send(*events[:loss_after], timestamp_ms=NOON_MS)
        worker.settle()
        robbed.redis.lose_everything()
        robbed.send(*events[loss_after:], timestamp_ms=NOON_MS)
        worker.settle()
        assert _ordered(robbed) == _ordered(alone), loss_after


def test_sessions_that_only_the_ledger_knows_of_are_restored_in_chunks_too() -> None:
    world = World(rules=PATIENT)
    worker = world.worker()
    world.send(*(event(f"ann-{number}", 0, "so", utterance_end=True) for number in range(700)), timestamp_ms=NOON_MS)
    worker.settle()
    world.redis.lose_everything()
    world.send(event("ben", 0, "there", utterance_end=True), timestamp_ms=NOON_MS)
    turns = 0
    for _ in range(80):
        worker.turn()
        turns += worker.worker.assignment.rebuilding
    assert turns >= 700 // 200 * 3  # the ledger, the input, the sessions
    assert len(worker.worker.assignment.loaded[0].sessions) == 701


def test_a_session_that_was_forgotten_is_not_raised_from_the_log() -> None:
    rules = DecodingRules(flush_after_ms=800, stall_after_ms=800, idle_after_ms=10_000, forget_after_ms=0)
    world = World(rules=rules)
    worker = world.worker()
    world.send(event("ann", 0, "one", "two", session_end=True), event("ben", 0, "three"))
    worker.settle()
    world.redis.lose_everything()
    world.send(event("ben", 1, "four", session_end=True))
    worker.settle()
    assert {name: said(found) for name, found in by_session(world.segments()).items()} == {
        "ann": ["one", "two"],
        "ben": ["three", "four"],
    }


def test_a_rebuild_of_many_chunks_waits_in_no_poll_between_them() -> None:
    world = World(rules=PATIENT)
    worker = world.worker()
    world.send(*(event(f"ann-{number}", 0, "so", "far") for number in range(700)), timestamp_ms=NOON_MS)
    worker.settle()
    world.redis.lose_everything()
    world.send(event("ben", 0, "there", utterance_end=True), timestamp_ms=NOON_MS)
    seen_s = []
    for _ in range(80):
        worker.turn()
        if worker.worker.assignment.rebuilding:
            seen_s.append(world.clock.monotonic_s())
    assert len(seen_s) > 2
    assert len(set(seen_s)) == 1


def test_admitted_sessions_come_back_where_the_limit_is_lower_now() -> None:
    world = World(rules=PATIENT)
    first = world.worker()
    world.send(*(event(f"ann-{number}", 0, "one") for number in range(5)), timestamp_ms=NOON_MS)
    first.settle()
    first.worker.drain()
    world.redis.lose_everything()
    world.rules = replace(PATIENT, max_open_sessions=2)
    world.send(*(event(f"ann-{number}", 1, "two", session_end=True) for number in range(5)), timestamp_ms=NOON_MS)
    world.send(event("zoe", 0, "late", session_end=True), timestamp_ms=NOON_MS)
    world.worker().settle()
    found = {name: said(segments) for name, segments in by_session(world.segments()).items()}
    assert {name: words for name, words in found.items() if name != "zoe"} == {
        f"ann-{number}": ["one", "two"] for number in range(5)
    }


def test_events_refused_for_want_of_room_stay_refused_in_a_rebuild() -> None:
    world = World(rules=replace(PATIENT, max_open_sessions=1))
    first = world.worker()
    world.send(event("ann", 0, "one"), event("ben", 0, "refused"), timestamp_ms=NOON_MS)
    first.settle()
    first.worker.drain()
    world.redis.lose_everything()
    world.rules = PATIENT
    world.send(event("ann", 1, "two", session_end=True), timestamp_ms=NOON_MS)
    world.worker().turn(80)
    assert {name: said(found) for name, found in by_session(world.segments()).items()} == {"ann": ["one", "two"]}
    assert [dict(one.headers)["caesura.reason"] for one in world.records("asr.words.dead")] == [b"too_many_sessions"]


def test_events_that_the_partitioner_of_today_would_refuse_come_back() -> None:
    world = World(partitions=2, rules=PATIENT)
    names = [f"ann-{number}" for number in range(20)]
    name, elsewhere = (next(one for one in names if murmur2_partition(one.encode(), 2) == place) for place in (0, 1))
    first = world.worker(partitioner=Partitioner.UNCHECKED)
    world.broker.append("asr.words", 0, encode_event(event(elsewhere, 0, "one")), key=elsewhere.encode())
    world.send(event(name, 0, "three"), timestamp_ms=NOON_MS)
    first.settle()
    first.worker.drain()
    world.redis.lose_everything()
    second = world.worker()
    second.settle()
    assert sorted(second.worker.assignment.loaded[0].sessions.names()) == sorted([name, elsewhere])


def test_a_rebuilt_session_closes_without_further_input() -> None:
    world = World(rules=CLOSES_IDLY)
    first = world.worker()
    world.send(event("ann", 0, "one"), event("ann", 1, lang="fr"))
    first.settle()
    first.worker.drain()
    assert [one.session_end for one in world.segments()] == [False]
    world.redis.lose_everything()
    second = world.worker()
    second.settle()
    world.clock.pass_s(30.0)
    second.settle()
    assert [one.session_end for one in world.segments()] == [False, True]


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


def test_unpublished_words_survive_the_loss_of_published_ones() -> None:
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
def test_surviving_events_are_not_taken_for_dropped_ones(second: WordsEvent, third: WordsEvent) -> None:
    first = event("ann", 0, "one", utterance_end=True), event("ann", second.seq + 1, "two")
    spoken = *first, second, third
    last = event("ann", third.seq + 1, "end", session_end=True)
    published, told = _after_retention(World(rules=PATIENT), *spoken, last, lost=2)
    assert published == ["one", "end"]
    assert told == [(1, 2)]


@pytest.mark.parametrize(
    ("first", "then", "lost"), [(["我"], ["北", "京", "大"], 3), (["我", "们", "好"], ["北", "京"], 2)]
)
def test_characters_with_an_unknown_front_are_lost_and_reported(first: list[str], then: list[str], lost: int) -> None:
    spoken = event("ann", 0, *first, lang="zh", utterance_end=True), event("ann", 1, *then, lang="zh")
    last = event("ann", 2, "学", lang="zh", session_end=True)
    published, told = _after_retention(World(rules=PATIENT), *spoken, last, lost=1)
    assert published == [*first, "学"]
    assert told == [(1, lost)]


def test_words_of_a_session_unknown_to_the_ledger_count_by_offset() -> None:
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


def test_words_after_a_whole_ledger_record_are_counted_by_their_offsets() -> None:
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


def test_a_partition_without_input_has_lost_only_what_it_had_read() -> None:
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
def test_offsets_never_shown_or_not_needed_are_not_lost(retention: int) -> None:
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


RULES = DecodingRules(flush_after_ms=300, stall_after_ms=300, idle_after_ms=600_000, forget_after_ms=86_400_000)
SHORT = replace(RULES, forget_after_ms=60_000)
REPEAT = event("ann", 0, "a0", "a1")
AFTER_ITS_END = event("ann", 2, "a2")


def published(world: World) -> list[tuple[str, int, int, list[str]]]:
    return [(one.session, one.since, one.index, [word.text for word in one.words]) for one in world.segments()]


def letters(world: World) -> list[bytes | None]:
    return [dict(record.headers)["caesura.reason"] for record in world.records("asr.words.dead")]


@pytest.mark.parametrize("late", [REPEAT, AFTER_ITS_END])
def test_with_a_shorter_memory_than_then_nothing_is_published_again(late: WordsEvent) -> None:
    world = World(rules=RULES)
    worker = world.worker()
    world.send(event("ben", 0, "b0"))  # stays left context, and so holds the replay offset
    world.send(event("ann", 0, "a0", "a1"), event("ann", 1, session_end=True))
    worker.settle()
    world.clock.pass_s(120)
    world.send(late, event("ben", 1, "b1"))
    worker.settle()
    before = published(world), letters(world)

    worker.worker.drain()
    world.redis.lose_everything()
    world.rules = SHORT
    worker = world.worker()
    worker.settle()
    world.clock.pass_s(2)
    worker.settle()

    assert (published(world), letters(world)) == before
    world.send(event("ann", 0, "anew"))
    worker.settle()
    world.clock.pass_s(2)
    worker.settle()
    assert published(world)[len(before[0]) :] == [("ann", 5, 0, ["anew"])], "behind the rebuild she is forgotten"


def test_with_producers_time_cut_back_less_nothing_is_published_again() -> None:
    world = World(rules=SHORT)
    worker = world.worker()
    now = world.clock.wall_ms
    world.send(event("ben", 0, "b0"), timestamp_ms=now())
    world.send(event("ann", 0, "a0", "a1"), event("ann", 1, session_end=True), timestamp_ms=now())
    worker.settle()
    world.send(REPEAT, timestamp_ms=now() + 100_000)
    worker.settle()
    before = published(world)

    world.clock.pass_s(50)
    world.redis.lose_everything()
    world.clock.pass_s(50)
    world.broker.expel("caesura", "asr.words", worker.source.member_id)
    worker = world.worker()
    worker.settle()
    world.clock.pass_s(2)
    worker.settle()

    assert published(world) == before


@pytest.mark.parametrize("forget_after_ms", [0, 1_000])
def test_idle_sessions_are_forgotten_after_the_replay(forget_after_ms: int) -> None:
    driver = Driver(rules=replace(RULES, forget_after_ms=forget_after_ms))
    driver.sessions = PartitionSessions(driver.context, replays=True)
    driver.give(session_event(0, "one two", session_end=True))
    driver.give(session_event(0, "three", session="other"), after_ms=50_000)
    repeat = session_event(0, "one two")
    origin = Origin(offset=2, appended_ms=0, polled_ms=0, time_ms=NOW_MS + 60_000)
    assert driver.sessions.offer(repeat, origin).outcome.name == "REPEAT"
    assert not driver.sessions.forgotten

    driver.sessions.replayed(NOW_MS + 60_000)
    driver.sessions.tick(NOW_MS + 60_000)
    assert set(driver.sessions.forgotten) == {"s"}


def test_a_forgotten_sessions_field_goes_without_further_words() -> None:
    world = World(rules=DecodingRules(forget_after_ms=30_000))
    worker = world.worker()
    world.send(*speech("ann", 12))
    worker.settle()
    assert list(world.redis.partition(0).sessions) == ["ann"]
    world.clock.pass_s(31)
    worker.settle()
    assert world.redis.partition(0).sessions == {}
    committed = world.broker.committed("caesura", "asr.words", 0)
    worker.settle()
    assert world.broker.committed("caesura", "asr.words", 0) == committed
