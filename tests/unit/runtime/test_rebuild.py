"""Loss of Redis: sessions come back from the log, and what was published stays what it was."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from caesura.schemas.codec import encode_event
from caesura.schemas.events import Emission
from caesura.schemas.segments import Segment
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.runtime.settings.settings import Partitioner
from tests.harness.in_memory_world import World
from tests.harness.rebuilds import Rebuilds
from tests.harness.speech import by_session, check_every_word_once, event, said, speech, untimed

PATIENT = DecodingRules(flush_after_ms=10_000, stall_after_ms=10_000)
CLOSES_IDLY = DecodingRules(flush_after_ms=5_000, stall_after_ms=5_000, idle_after_ms=20_000)
NOON_MS = 1_700_000_000_000


def _ordered(world: World) -> list[Segment]:
    return untimed(sorted(world.segments(), key=lambda one: (one.session, one.index)))


@pytest.mark.parametrize("emission", [Emission.SENTENCE, Emission.SETTLED])
@pytest.mark.parametrize("loss_after", [1, 3, 8, 13, 20, 25])
def test_losing_all_of_redis_in_mid_stream_changes_nothing(loss_after: int, emission: Emission) -> None:
    events = [one for pair in zip(speech("ann", 50), speech("ben", 50, emission=emission), strict=True) for one in pair]
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
    for loss_after in range(1, len(events)):
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
    world.send(event("ben", 0, "there"), timestamp_ms=NOON_MS)
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
    world.send(event("ben", 0, "there"), timestamp_ms=NOON_MS)
    seen_s = []
    for _ in range(80):
        worker.turn()
        if worker.worker.assignment.rebuilding:
            seen_s.append(world.clock.monotonic_s())
    assert len(seen_s) > 2
    assert len(set(seen_s)) == 1


def test_sessions_that_there_was_room_for_come_back_where_the_limit_is_lower_now() -> None:
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


def test_events_that_there_was_no_room_for_stay_refused_in_a_rebuild_that_has_room() -> None:
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


def test_a_session_that_needs_nothing_of_the_input_is_closed_where_nobody_speaks_after_the_rebuild() -> None:
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
