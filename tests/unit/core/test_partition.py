"""All sessions of a partition together: order of timers, what is touched, putting back after an abort."""

from __future__ import annotations

import zlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.events import WordsEvent
from caesura.schemas.labels import Labels
from caesura.schemas.segments import Cause
from caesura.schemas.state import (
    ModelWord,
    ModelWordPiece,
    SessionStatus,
    decode_state,
    encode_ledger,
    encode_state,
    encode_word,
    word_array,
)
from caesura.worker.core.decoding.buffer import Buffer
from caesura.worker.core.language.rules import Bounds, DecodingRules, OptionBounds
from caesura.worker.core.language.segmentation import segmenters
from caesura.worker.core.language.words import SegmenterFactory, whitespace_segmenters
from caesura.worker.core.partition.partition import PartitionSessions, ReplayOffsets
from caesura.worker.core.partition.partitioning import crc32_partition, murmur2_partition
from caesura.worker.core.partition.timers import Timers
from tests.harness.partition_driver import MARKED, NOW_MS, Driver, event, pair_segmenters
from tests.harness.speech import said


def test_timers_fire_by_due_time_and_name_before_the_next_record() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "one", session="b"))
    driver.give(event(0, "one", session="a"))
    driver.give(event(0, "one", session="c"), after_ms=1)
    driver.give(event(0, "one", session="d", utterance_end=True), after_ms=800)

    assert [segment.session for segment in driver.segments] == ["a", "b", "c", "d"]


def test_timers_of_a_session_without_new_words_fire_after_a_restart() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "one"))
    driver.restart()

    assert driver.sessions.next_due_ms == NOW_MS + 800
    driver.wait(800)
    assert [segment.cause for segment in driver.segments] == [Cause.SILENCE]


def test_a_new_owner_begins_at_the_latest_time_that_a_session_knows_of() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(idle_after_ms=20_000))
    driver.give(event(0, "one"))
    driver.wait(20_000)
    driver.restart()

    assert driver.sessions.latest_ms == NOW_MS + 20_000


@pytest.mark.parametrize(
    ("spoken", "silence_ms"),
    [
        (event(0, "one"), 800),
        (event(0, "one", heard_until_ms=100), 5_000),
        (event(0, "\u4f60", lang="zh"), 800),
    ],
    ids=["by arrival", "by its own clock", "held back"],
)
def test_replayed_words_that_were_never_published_were_no_silence(spoken: WordsEvent, silence_ms: int) -> None:
    driver = Driver(engine=MARKED, segmenters=segmenters)
    driver.sessions = PartitionSessions(driver.context, replays=True)
    driver.give(spoken)
    driver.give(event(0, session="another", session_end=True), after_ms=60_000)
    driver.sessions.replayed(driver.time_ms)

    driver.wait(silence_ms - 1)
    assert [segment.session for segment in driver.segments] == ["another"]
    driver.wait(1)
    assert [segment.session for segment in driver.segments] == ["another", "s"]


def test_a_replayed_session_records_its_waiting_time_and_event_time() -> None:
    driver = Driver(engine=MARKED)
    driver.sessions = PartitionSessions(driver.context, replays=True)
    driver.give(event(0, "one", heard_until_ms=100))
    driver.sessions.replayed(NOW_MS + 60_000)

    assert set(driver.sessions.unrecorded) == {"s"}
    record = driver.sessions.ledger_states(["s"])["s"]
    assert record is not None
    assert (record.admission.activity_ms, record.admission.event_ms) == (NOW_MS + 60_000, NOW_MS)
    assert driver.sessions.latest_ms == NOW_MS + 60_000


@pytest.mark.parametrize(
    ("utterance_end", "replayed_after_ms", "due_after_ms"),
    [
        pytest.param(False, 799, 800, id="a silence that was too short goes on"),
        pytest.param(True, 30_000, 20_000, id="idle since its last published word"),
    ],
)
def test_a_replayed_sessions_timers_go_on(utterance_end: bool, replayed_after_ms: int, due_after_ms: int) -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(idle_after_ms=20_000))
    driver.sessions = PartitionSessions(driver.context, replays=True)
    driver.give(event(0, "one", utterance_end=utterance_end))
    driver.sessions.replayed(NOW_MS + replayed_after_ms)

    assert driver.sessions.next_due_ms == NOW_MS + due_after_ms


def test_only_sessions_whose_state_may_have_changed_are_touched() -> None:
    driver = Driver()
    driver.give(event(0, "one", session="a"))
    driver.give(event(0, "one", session="b"))
    driver.sessions.settle()
    driver.give(event(1, "two", session="b"))
    driver.give(event(0, "one", session="a"))

    assert set(driver.sessions.touched) == {"b"}


def test_after_an_abort_the_same_input_gives_the_same_segments() -> None:
    driver = Driver()
    driver.give(event(0, "one two three", session="a"))
    committed = driver.states(["a"])
    driver.sessions.settle()
    offset = driver.offset
    tries = []
    for _ in range(2):
        driver.offset, driver.out = offset, []
        driver.give(event(1, " ".join(f"n{number}" for number in range(40)), session="a"))
        driver.give(event(0, "four", session="b", session_end=True))
        tries.append(driver.segments)
        for key in list(driver.sessions.touched):
            driver.sessions.put_back(key, committed.get(key))

    assert tries[0] == tries[1]
    assert tries[0] != []
    assert driver.states(["a"]) == committed
    assert list(driver.sessions.names()) == ["a"]
    assert not driver.sessions.touched


def test_undone_work_and_untaken_segments_go_with_an_abort() -> None:
    driver = Driver(lazy=True, engine=MARKED)
    driver.give(event(0, "one two-stop " + "w " * 10, utterance_end=True))
    (pending,) = driver.sessions.waiting(NOW_MS)
    (labels,) = driver.engine.label([pending.request])
    driver.sessions.resolve("s", labels, NOW_MS)
    driver.sessions.put_back("s", None)

    assert not driver.sessions.is_busy
    assert not driver.sessions.waiting(NOW_MS)
    assert driver.sessions.take_segments() == []
    assert len(driver.sessions) == 0


def test_queued_words_are_reported_so_that_floods_come_last() -> None:
    driver = Driver(lazy=True, rules=DecodingRules(look_ahead_words=0))
    for seq in range(4):
        driver.give(event(seq, "one two three"))
    queued = []
    while waiting := driver.sessions.waiting(NOW_MS):
        (pending,) = waiting
        queued.append(pending.queued_words)
        (labels,) = driver.engine.label([pending.request])
        driver.sessions.resolve("s", labels, NOW_MS)

    assert queued == [9, 6, 3, 0]


def test_events_during_a_step_are_applied_with_its_labels() -> None:
    driver = Driver(lazy=True, rules=DecodingRules(look_ahead_words=0))
    driver.give(event(0, "one two three"))
    (first,) = driver.sessions.waiting(NOW_MS)
    driver.give(event(1, "four"))
    (again,) = driver.sessions.waiting(NOW_MS)
    assert (first.queued_words, again.queued_words) == (0, 1)
    assert again.request is first.request

    driver.give(event(2, "five"))
    (labels,) = driver.engine.label([first.request])
    driver.sessions.resolve("s", labels, NOW_MS)
    assert not driver.sessions.waiting(NOW_MS)
    assert not driver.sessions.is_busy
    assert len(driver.state().buffer) == 5


def test_sessions_are_counted_by_where_they_are_in_their_life() -> None:
    driver = Driver(rules=DecodingRules(idle_after_ms=20_000))
    driver.give(event(0, "one", session="a"))
    driver.give(event(0, "one", session="b", session_end=True), after_ms=20_000)
    driver.give(event(0, "one", session="c"))

    assert driver.sessions.statuses() == {SessionStatus.OPEN: 1, SessionStatus.CLOSED: 1, SessionStatus.ENDED: 1}


def test_a_ledger_record_has_no_words_text_and_says_where_the_buffer_starts() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(max_context_words=0, context_words=1))
    driver.give(event(0, "canary-one canary-stop " + "canary " * 7 + "canaries"))
    record = driver.sessions.ledger_states(["s"])["s"]

    assert record is not None
    assert b"canar" not in encode_ledger(record)
    assert (record.start_offset, record.start_position, record.output.index, record.output.words) == (0, 1, 1, 2)
    assert (record.decoding.model_words, record.decoding.frozen, record.lengths) == (
        10,
        1,
        (11, 6, 6, 6, 6, 6, 6, 6, 8),
    )


def test_a_ledger_record_has_the_labels_of_frozen_context_words() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "one-comma two", utterance_end=True))
    driver.give(event(1, "three four"))
    record = driver.sessions.ledger_states(["s"])["s"]

    assert record is not None
    assert (record.decoding.frozen, record.decoding.labels.punctuation[:2], record.lengths) == (
        2,
        b"\1\0",
        (9, 3, 5, 4),
    )


def test_the_replay_offset_is_the_smallest_that_any_session_needs() -> None:
    driver = Driver(engine=MARKED)
    needed = []
    for one in (
        event(0, session="quiet"),
        event(0, "one", session="a"),
        event(1, session="quiet", session_end=True),
        event(1, session="a", session_end=True),
        event(0, "one", session="b", utterance_end=True),
    ):
        driver.give(one)
        needed.append(driver.sessions.replay_offset)

    assert needed == [0, 0, 1, None, 4]


def test_an_event_after_the_end_asks_for_a_ledger_record_only() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(idle_after_ms=20_000))
    driver.give(event(0, "one"))
    driver.wait(20_000)
    assert driver.sessions.replay_offset is None

    driver.give(event(1))
    assert set(driver.sessions.unrecorded) == {"s"}
    driver.restart()
    assert driver.sessions.replay_offset is None


HASTY = DecodingRules(
    flush_after_ms=400,
    stall_after_ms=400,
    idle_after_ms=1_000,
    forget_after_ms=1_200,
    bounds=OptionBounds(flush_after_ms=Bounds(least=200, most=1_000)),
)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 4), st.integers(0, 1_500)), max_size=40))
def test_labelling_at_once_or_late_freezes_the_same_whatever_timers_fire(script: list[tuple[str, int, int]]) -> None:
    at_once, late = Driver(rules=HASTY), Driver(rules=HASTY, lazy=True)
    seqs = dict.fromkeys("abc", 0)
    for name, words, after_ms in script:
        for driver in (at_once, late):
            driver.give(event(seqs[name], "one two three four " * words, session=name), after_ms=after_ms)
        seqs[name] += 1
    for driver in (at_once, late):
        driver.wait(10_000)
    late.work()

    for name in "abc":
        ours = [[one for one in driver.segments if one.session == name] for driver in (at_once, late)]
        assert ours[0] == ours[1]
    assert len(said(late.segments)) == 4 * sum(words for _, words, _ in script)
    assert len(late.sessions) == 0


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.none() | st.integers(0, 9))))
def test_the_smallest_replay_offset_is_kept_up(changes: list[tuple[str, int | None]]) -> None:
    offsets, naive = ReplayOffsets(), dict[str, int | None]()
    for _ in range(20):
        for name, offset in changes:
            offsets.set(name, offset)
            naive[name] = offset
            assert offsets.smallest == min((one for one in naive.values() if one is not None), default=None)


_JAVA_VECTORS = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize(("key", "signed_hash"), _JAVA_VECTORS.items())
def test_murmur2_agrees_with_the_vectors_of_the_java_client(key: bytes, signed_hash: int) -> None:
    for partitions in (1, 7, 12, 4096):
        assert murmur2_partition(key, partitions) == (signed_hash & 0x7FFFFFFF) % partitions


@given(key=st.binary(max_size=64), partitions=st.integers(1, 500))
def test_a_partition_is_always_within_the_count(key: bytes, partitions: int) -> None:
    assert 0 <= murmur2_partition(key, partitions) < partitions
    assert crc32_partition(key, partitions) == zlib.crc32(key) % partitions


_MOVES = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.none() | st.integers(0, 40)), max_size=80)


@given(_MOVES)
def test_the_earliest_timer_is_next_and_a_session_has_one_entry(
    moves: list[tuple[str, int | None]],
) -> None:
    due: dict[str, int | None] = {}
    timers = Timers(due.get)
    for session, due_ms in moves:
        due[session] = due_ms
        timers.update(session, due_ms)
        running = [(at_ms, name) for name, at_ms in due.items() if at_ms is not None]
        assert timers.next() == min(running, default=None)
        assert len(timers) <= len(due)


@given(_MOVES, st.data())
def test_due_sessions_are_found_past_stale_entries(moves: list[tuple[str, int | None]], data: st.DataObject) -> None:
    due: dict[str, int | None] = {}
    timers = Timers(due.get)
    for session, due_ms in moves:
        due[session] = due_ms
        timers.update(session, due_ms)
        by_ms = data.draw(st.integers(0, 40))
        running = [(at_ms, name) for name, at_ms in due.items() if at_ms is not None and at_ms <= by_ms]
        assert timers.next_by(by_ms) == min(running, default=None)


def test_a_session_that_falls_silent_again_and_again_keeps_one_entry() -> None:
    due = {"ann": 0}
    timers = Timers(due.get)
    for utterance in range(1_000):
        for due_ms in (
            3_600_000 + utterance,
            1_000 + utterance,
        ):
            due["ann"] = due_ms
            timers.update("ann", due_ms)
    assert len(timers) == 1


_WORD = st.text(min_size=1, max_size=40)
_EVENTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(("so", "uh", "four-stop", "日本", "well-comma", "cut-")), max_size=9),
        st.booleans(),  # the end of an utterance
        st.booleans(),  # a snapshot is taken behind it
        st.booleans(),  # the process ends there, and another goes on
    ),
    min_size=1,
    max_size=30,
)


def _word(*texts: str) -> ModelWord:
    return ModelWord(view="".join(texts).casefold(), pieces=tuple(map(_piece, texts)))


def _piece(text: str) -> ModelWordPiece:
    return ModelWordPiece(
        text=text,
        start_ms=None,
        end_ms=70_000,
        confidence=0.5,
        offset=1 << 40,
        position=0,
        appended_ms=0,
        polled_ms=0,
        unit_start=0,
        unit_length=len(text),
    )


@given(_EVENTS, st.sampled_from((whitespace_segmenters, pair_segmenters)))
def test_repeated_snapshots_equal_a_first_snapshot(
    said: list[tuple[list[str], bool, bool, bool]], segmenters: SegmenterFactory
) -> None:
    seldom, often = (Driver(engine=MARKED, segmenters=segmenters) for _ in range(2))
    for seq, (words, ends, stored, restarted) in enumerate(said):
        for driver in (seldom, often):
            driver.give(event(seq, " ".join(words), utterance_end=ends))
        if stored:
            often.sessions.snapshots(["s"])
            often.sessions.ledger_states(["s"])
        if restarted:
            often.restart()
    (at_first,), (again,) = (driver.sessions.snapshots(["s"]).values() for driver in (seldom, often))
    assert at_first is not None
    assert again == at_first == encode_state(decode_state(at_first))
    assert often.sessions.ledger_states(["s"]) == seldom.sessions.ledger_states(["s"])


@given(st.lists(st.tuples(st.lists(_WORD, max_size=20), st.integers(0, 20), st.booleans()), max_size=20))
def test_stored_words_are_those_that_the_buffer_has(turns: list[tuple[list[str], int, bool]]) -> None:
    buffer = Buffer()
    for texts, dropped, stored in turns:
        for text in texts:
            buffer.append(_word(text, text[::-1]) if len(text) % 3 else _word(text))
        count = len(buffer)
        buffer.relabel(Labels(punctuation=bytes(count), disfluency=bytes(count)), first=0, look_ahead_words=0)
        if stored:
            buffer.stored_words()
            buffer.lengths()
        buffer.freeze(min(dropped, count), 0)
        buffer.drop(min(dropped, count))
    assert bytes(buffer.stored_words()) == msgspec.msgpack.encode(buffer.words)
    assert buffer.lengths() == tuple(sum(len(piece.text) for piece in word.pieces) for word in buffer.words)


@pytest.mark.parametrize("count", [0, 1, 15, 16, 65_535, 65_536])
def test_an_array_of_any_size_is_one_that_the_codec_writes(count: int) -> None:
    words = [ModelWord(view="a", pieces=())] * count
    assert bytes(word_array([*map(encode_word, words)])) == msgspec.msgpack.encode(words)
