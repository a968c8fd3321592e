"""A silence that is published was one in the log, whenever it was read, asked for and answered, and by whomever.

The log's own timestamps say what comes out: words of a session that stand ``flush_after_ms`` or more apart are cut
there, others are not. No code of the worker's has a part in that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import accumulate

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from caesura.schemas.checkpoint import OffsetMetadata
from caesura.schemas.codec import encode_event
from caesura.schemas.segments import Segment
from caesura.worker.core.decoding.timeline import PartitionTime
from caesura.worker.ports.records import OutMessage, Record
from caesura.worker.runtime.claim.replayed_time import AppliedRecord, ReplayedTime
from tests.harness.speech import event
from tests.harness.troubled_reading import FLUSH_MS, NAMES, REPLICATION_MS, Troubled, cuts_that_came_out

_LONG_MS = 2_500
"""So long a replica may lack what its leader has stamped, where it died and is in sync still."""


def test_an_end_told_long_ago_makes_no_silence_of_words_in_the_log() -> None:
    troubled = Troubled()
    troubled.speak("ann", 0)
    troubled.speak("ben", 500)
    troubled.fetch(held=True)
    troubled.speak("ann", 100)
    troubled.wait(140_000)  # the process stands still; then the next fetch is slow
    troubled.turn(45)
    troubled.finish()
    assert cuts_that_came_out(troubled.world) == {"ann": [["ann-0", "ann-1"]], "ben": [["ben-0"]]}


def test_an_answer_heard_late_says_nothing_of_later_appends() -> None:
    troubled = Troubled()
    troubled.speak("ann", 0)
    troubled.speak("ben", 200)
    troubled.turn(2)
    troubled.wait(650)  # ann is due, and asked for
    troubled.leader(slow=True)
    troubled.turn(1)
    troubled.fetch(held=True)
    troubled.speak("ben", 50)
    troubled.wait(900)
    troubled.leader(slow=False)
    troubled.turn(20)
    troubled.finish()
    assert cuts_that_came_out(troubled.world) == {"ann": [["ann-0"]], "ben": [["ben-0", "ben-1"]]}


def test_a_slow_worker_clock_makes_no_silence_of_reading_time() -> None:
    troubled = Troubled()
    troubled.step_clock(-3_000)
    troubled.speak("ann", 0)
    troubled.turn(2)
    troubled.speak("ann", 530)
    troubled.wait(2_000)
    troubled.finish()
    assert cuts_that_came_out(troubled.world) == {"ann": [["ann-0", "ann-1"]]}


def test_words_in_an_open_transaction_are_no_silence() -> None:
    troubled = Troubled()
    troubled.speak("ann", 0)
    writer = troubled.world.broker.init_producer("recogniser")
    troubled.wait(500)
    spoken = event("ann", 1, "ann-1")
    message = OutMessage(topic="asr.words", partition=0, key=b"ann", value=encode_event(spoken))
    troubled.world.broker.write(writer, message)
    troubled.turn(60)
    troubled.world.broker.end_transaction(writer, commit=True)
    troubled.finish()
    assert cuts_that_came_out(troubled.world) == {"ann": [["ann-0", "ann-1"]]}


def test_a_stamped_word_that_is_not_yet_replicated_is_no_silence() -> None:
    troubled = Troubled()
    troubled.speak("ann", 0)
    troubled.turn(2)
    troubled.speak("ann", FLUSH_MS - 100, unseen_ms=REPLICATION_MS)
    troubled.finish()
    assert cuts_that_came_out(troubled.world) == {"ann": [["ann-0", "ann-1"]]}


def test_a_word_missing_on_a_replica_is_no_silence() -> None:
    troubled = Troubled()
    troubled.speak("ann", 0)
    troubled.turn(2)
    troubled.speak("ann", FLUSH_MS - 100, unseen_ms=_LONG_MS, told=True)
    troubled.finish()
    assert cuts_that_came_out(troubled.world) == {"ann": [["ann-0", "ann-1"]]}


@pytest.mark.parametrize("name", NAMES)
def test_silence_is_cut_soon_without_other_traffic(name: str) -> None:
    troubled = Troubled()
    troubled.speak(name, 0)
    began_s = troubled.world.clock.monotonic_s()
    while not troubled.world.segments():
        troubled.turn(1)
        assert troubled.world.clock.monotonic_s() - began_s < (FLUSH_MS + REPLICATION_MS) / 1000 + 0.3


_ACTIONS = st.lists(
    st.one_of(
        st.builds(
            lambda name, after_ms, unseen_ms: partial(
                Troubled.speak, name=name, after_ms=after_ms, unseen_ms=unseen_ms, told=unseen_ms == _LONG_MS
            ),
            st.sampled_from(NAMES),
            st.one_of(st.integers(0, 900), st.sampled_from([0, 100, 400, 530, 780, 799, 800, 801])),
            st.sampled_from([0, 0, 0, 50, REPLICATION_MS, _LONG_MS]),
        ),
        st.builds(lambda times: partial(Troubled.turn, times=times), st.integers(1, 60)),
        st.builds(lambda for_ms: partial(Troubled.wait, for_ms=for_ms), st.sampled_from([1, 100, 400, 700, 3_000])),
        st.builds(lambda held: partial(Troubled.fetch, held=held), st.booleans()),
        st.builds(lambda slow: partial(Troubled.leader, slow=slow), st.booleans()),
        st.just(Troubled.leader_fails),
        st.builds(lambda by_ms: partial(Troubled.step_clock, by_ms=by_ms), st.sampled_from([-2_000, -300, 300, 2_000])),
        st.just(Troubled.hand_over),
        st.just(Troubled.claim_in_vain),
    ),
    max_size=40,
)


@settings(max_examples=80)
@given(_ACTIONS)
def test_every_silence_cut_is_a_silence_in_the_log(
    actions: list[Callable[[Troubled], None]],
) -> None:
    troubled = Troubled()
    for act in actions:
        act(troubled)
    troubled.finish()
    assert cuts_that_came_out(troubled.world) == troubled.cuts


def _clock_set_back() -> Troubled:
    """Have one record stamped by a clock that is an hour ahead, and set before the next one."""
    troubled = Troubled()
    troubled.speak("ann", 0)
    troubled.world.clock.wall_offset_ms += 3_600_000
    troubled.speak("ben", 100)
    troubled.world.clock.wall_offset_ms -= 3_600_000
    troubled.speak("ann", 100)
    troubled.speak("cat", 100)
    return troubled


def _lose_redis(troubled: Troubled) -> None:
    troubled.hand_over()
    troubled.world.redis.lose_everything()


_MEANWHILE = pytest.mark.parametrize(
    "meanwhile",
    [lambda _: None, Troubled.hand_over, _lose_redis],
    ids=["the same owner", "another owner", "a rebuild"],
)


@_MEANWHILE
def test_a_clock_an_hour_fast_hides_no_silence(
    meanwhile: Callable[[Troubled], None],
) -> None:
    troubled = _clock_set_back()
    troubled.turn(3)
    meanwhile(troubled)
    troubled.fetch(held=True)
    for _ in range(15):  # words lie in the log all the while
        troubled.speak("cat", 100)
    troubled.speak("ann", 100)
    troubled.finish()
    said = cuts_that_came_out(troubled.world)
    assert said["ann"] == [["ann-0"], ["ann-1"], ["ann-2"]]
    assert len(said["cat"]) == 1


@_MEANWHILE
def test_a_fast_clock_hides_no_silence_after_the_last_record_read(meanwhile: Callable[[Troubled], None]) -> None:
    troubled = _clock_set_back()
    troubled.turn(3)
    meanwhile(troubled)
    troubled.fetch(held=True)
    troubled.speak("ann", 2_000)
    troubled.finish()
    assert cuts_that_came_out(troubled.world)["ann"] == [["ann-0"], ["ann-1"], ["ann-2"]]


@_MEANWHILE
def test_a_fast_clock_makes_no_silence_of_later_words(meanwhile: Callable[[Troubled], None]) -> None:
    troubled = Troubled()
    troubled.world.clock.wall_offset_ms += 3_600_000
    troubled.speak("ben", 0, ends=True)
    troubled.world.clock.wall_offset_ms -= 3_600_000
    troubled.speak("cat", 100)
    troubled.turn(3)
    meanwhile(troubled)
    troubled.speak("cat", 100)
    troubled.finish()
    words = [[word.text for word in one.words] for one in troubled.world.segments() if one.session == "cat"]
    assert words == [["cat-0", "cat-1"]]


@_MEANWHILE
@pytest.mark.parametrize("known", ["nobody", "somebody of before", "who spoke since"])
def test_a_fast_clock_makes_no_silence_of_replayed_later_words(
    meanwhile: Callable[[Troubled], None], known: str
) -> None:
    """A rebuild reads nothing of the stamp that was ahead, and whoever the ledger knows best has spoken on."""
    troubled = Troubled()
    if known == "somebody of before":
        troubled.speak("ben", 0, ends=True)
    troubled.world.clock.wall_offset_ms += 3_600_000
    troubled.speak("cat", 0)
    troubled.world.clock.wall_offset_ms -= 3_600_000
    for _ in range(120):
        troubled.speak("cat", 20)
        troubled.turn(1)
    troubled.fetch(held=True)
    troubled.speak("cat", 1_000)
    troubled.speak("ann", 10)
    if known != "nobody":
        troubled.speak("cat", 10)
    troubled.fetch(held=False)
    troubled.turn(5)
    committed = troubled.world.broker.last_committed("caesura", "asr.words", 0)
    assert committed is not None
    metadata = OffsetMetadata.decode(committed.metadata)
    assert metadata is not None
    assert metadata.replay_offset > 10
    meanwhile(troubled)
    troubled.turn(5)
    troubled.speak("ann", 100)
    troubled.turn(300)
    words = [[word.text for word in one.words] for one in troubled.world.segments() if one.session == "ann"]
    assert words == [["ann-0", "ann-1"]]


_Act = Callable[[Troubled], None]


def _say(name: str, after_ms: int = 0, *, ends: bool = False) -> _Act:
    return partial(Troubled.speak, name=name, after_ms=after_ms, ends=ends)


def _pass(for_ms: int) -> _Act:
    def act(troubled: Troubled) -> None:
        for _ in range(for_ms // 20):
            troubled.wait(20)
            troubled.turn(2)

    return act


def _set_clock(by_ms: int) -> _Act:
    def act(troubled: Troubled) -> None:
        troubled.world.clock.wall_offset_ms += by_ms

    return act


def _went(*actions: _Act) -> Troubled:
    """Go a way on which nothing but the actions makes time pass, and have all of it committed."""
    troubled = Troubled()
    troubled.world.broker.wait = lambda _: None
    for act in actions:
        act(troubled)
    _pass(REPLICATION_MS - 20)(troubled)
    return troubled


def _rebuild_in_silence(troubled: Troubled) -> None:
    """Have it lost, and the partition rebuilt, before any silence can be noticed that was none yet."""
    troubled.hand_over()
    troubled.world.redis.lose_everything()
    _pass(REPLICATION_MS - 20)(troubled)
    assert not troubled.worker.worker.unready()
    assert troubled.worker.worker.assignment.loaded[0].verdict == "behind"
    assert not troubled.worker.worker.assignment.loaded[0].changed


def _bare(segments: list[Segment]) -> list[tuple[str, int, str, list[str]]]:
    return [(one.session, one.index, one.cause, [word.text for word in one.words]) for one in segments]


_SET_BACK = (_say("ann"), _set_clock(-3_000), _say("ben"), _pass(2_100), _say("cat"), _say("ann", 10, ends=True))
"""By her silence time is beyond what the stamps say, so that the next one counts by what passed; nobody knows that."""


@example([*_SET_BACK, _say("cat", 100)])
@example([_say("cat"), _set_clock(-3_000), _pass(2_000), _say("cat"), _say("ann", 10, ends=True)])
@given(
    st.lists(
        st.one_of(
            st.builds(_say, st.sampled_from(NAMES), st.sampled_from([0, 0, 100, 500, 900])),
            st.builds(_pass, st.sampled_from([40, 200, 600, 2_000])),
            st.builds(_set_clock, st.sampled_from([-3_600_000, -3_000, -700, 700, 3_000, 3_600_000])),
        ),
        min_size=1,
        max_size=25,
    )
)
def test_a_rebuild_publishes_nothing_of_its_own_wherever_clocks_were_set(actions: list[_Act]) -> None:
    troubled = _went(_say("cat"), *actions)
    before = _bare(troubled.world.segments())

    _rebuild_in_silence(troubled)
    assert _bare(troubled.world.segments()) == before


@pytest.mark.parametrize("meanwhile", [lambda _: None, _rebuild_in_silence], ids=["the same owner", "a rebuild"])
@pytest.mark.parametrize("again", [(), (_say("cat", 100),)], ids=["its last word", "words before it"])
def test_a_rebuild_makes_one_segment_where_no_silence_lay_between(meanwhile: _Act, again: tuple[_Act, ...]) -> None:
    troubled = _went(*_SET_BACK, *again)
    meanwhile(troubled)
    _say("cat", 100)(troubled)
    _pass(3_000)(troubled)
    said = [words for session, _, _, words in _bare(troubled.world.segments()) if session == "cat"]
    assert said == [["cat-0", "cat-1", *(["cat-2"] if again else [])]]


def test_a_silence_is_noticed_however_often_redis_is_lost() -> None:
    troubled = _went(*_SET_BACK)
    for _ in range(2):
        _rebuild_in_silence(troubled)
        for _ in range(5):
            _say("ben", 100)(troubled)
            troubled.turn(2)
    assert [words for session, _, _, words in _bare(troubled.world.segments()) if session == "cat"] == [["cat-0"]]


_START_MS = 1_000_000_000
_HOUR_MS = 3_600_000


def _record(offset: int, stamp_ms: int, *, by_broker: bool = True) -> Record:
    return Record(partition=0, offset=offset, timestamp_ms=stamp_ms, key=None, value=None, stamped_by_broker=by_broker)


def _first_times(stamps_ms: list[int]) -> list[int]:
    time = PartitionTime(max_skew_ms=100)
    return [time.observe(stamp_ms, 0, by_broker=True) for stamp_ms in stamps_ms]


def _again(stamps_ms: list[int], known: list[AppliedRecord], replay_offset: int) -> list[int]:
    time = ReplayedTime(PartitionTime(max_skew_ms=100), known, replay_offset)
    left = list(enumerate(stamps_ms))[replay_offset:]
    return [time.observe(_record(offset, stamp_ms), 0) for offset, stamp_ms in left]


def _stamps(*passed_ms: int) -> list[int]:
    return [_START_MS + one for one in passed_ms]


def test_the_first_records_are_applied_by_the_clock_of_known_speakers() -> None:
    stamps_ms = _stamps(0, _HOUR_MS, 10, 20, 30, 40)
    times_ms = _first_times(stamps_ms)
    spoke_on = AppliedRecord(4, stamps_ms[4], times_ms[4])
    of_before = AppliedRecord(0, stamps_ms[0], times_ms[0])

    for known in ([spoke_on], [of_before, spoke_on]):
        assert _again(stamps_ms, known, 3) == times_ms[3:]


def test_records_before_the_first_known_time_follow_its_clock() -> None:
    stamps_ms = _stamps(30, -2_090, -2_080, -2_070)  # the leader's answers had brought the time to 810
    known = [AppliedRecord(3, stamps_ms[3], _START_MS + 830)]

    assert _again(stamps_ms, known, 0) == _stamps(30, 810, 820, 830)


def test_time_passed_by_timestamps_holds_after_a_rebuild() -> None:
    stamps_ms = _stamps(_HOUR_MS, 10, 500, _HOUR_MS + 600, _HOUR_MS - 2_400)
    times_ms = _first_times(stamps_ms)

    assert _again(stamps_ms, [AppliedRecord(4, stamps_ms[4], times_ms[4])], 0) == times_ms


def test_a_clock_change_inside_the_replay_is_seen_in_its_timestamps() -> None:
    stamps_ms = _stamps(0, 10, _HOUR_MS, 20, 30, 40)
    times_ms = _first_times(stamps_ms)

    assert _again(stamps_ms, [AppliedRecord(4, stamps_ms[4], times_ms[4])], 2) == times_ms[2:]


def test_a_clock_change_on_a_deleted_record_is_passed_over() -> None:
    stamps_ms = _stamps(0, _HOUR_MS, 10, 20, 30)
    times_ms = _first_times(stamps_ms)
    time = ReplayedTime(PartitionTime(max_skew_ms=100), [AppliedRecord(3, stamps_ms[3], times_ms[3])], 2)

    assert time.observe(_record(4, stamps_ms[4]), 0) == times_ms[4]


def test_producers_stamps_are_no_clock_to_go_on_by() -> None:
    known = [AppliedRecord(1, _START_MS - _HOUR_MS, _START_MS)]
    time = ReplayedTime(PartitionTime(max_skew_ms=100), known, 0)

    given_ms = [time.observe(_record(offset, _START_MS - 50, by_broker=False), _START_MS) for offset in range(3)]
    assert given_ms == [_START_MS - 50, _START_MS, _START_MS]


@given(
    st.lists(st.tuples(st.integers(0, 5_000), st.sampled_from([0, 0, 0, 700, 9_000, _HOUR_MS])), min_size=2), st.data()
)
def test_times_from_the_first_known_record_ignore_clock_changes(
    steps: list[tuple[int, int]], data: st.DataObject
) -> None:
    passed_ms = accumulate(after_ms for after_ms, _ in steps)
    stamps_ms = [_START_MS + at_ms + beside_ms for at_ms, (_, beside_ms) in zip(passed_ms, steps, strict=True)]
    times_ms = _first_times(stamps_ms)
    offsets = data.draw(st.sets(st.integers(0, len(stamps_ms) - 1), min_size=1))
    replay_offset = data.draw(st.integers(0, max(offsets)))
    known = [AppliedRecord(offset, stamps_ms[offset], times_ms[offset]) for offset in offsets]

    first = min(offset for offset in offsets if offset >= replay_offset)
    given_ms = _again(stamps_ms, known, replay_offset)
    assert given_ms[first - replay_offset :] == times_ms[first:]
    assert given_ms == sorted(given_ms)
