"""A partition's time goes by its records and its leader's word, not by anybody's clock."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.core.decoding.timeline import PartitionTime

START_MS = 1_000_000


def a_time(*, max_skew_ms: int = 100, now_ms: int = START_MS) -> PartitionTime:
    return PartitionTime(max_skew_ms=max_skew_ms, start_ms=now_ms)


def test_time_stands_still_while_there_is_something_to_read() -> None:
    time = a_time()

    assert time.latest_possible_ms(10.0) == time.latest_possible_ms(5_000.0) == time.now_ms == START_MS


def test_time_passes_at_the_end_only_after_the_leader_answers() -> None:
    time = a_time()
    time.reached_end(50.0)
    time.reached_end(51.0)

    assert time.latest_possible_ms(50.75) == START_MS + 750
    assert time.now_ms == START_MS
    time.confirm(START_MS + 750)
    assert time.now_ms == START_MS + 750
    assert time.latest_possible_ms(51.0) == START_MS + 1_000


def test_a_producers_timestamp_is_capped_at_the_wall_clock_plus_skew() -> None:
    assert a_time().observe(START_MS + 50_000, START_MS, by_broker=False) == START_MS + 100


def test_a_brokers_timestamp_counts_however_slow_the_workers_clock_is() -> None:
    assert a_time().observe(START_MS + 50_000, START_MS, by_broker=True) == START_MS + 50_000


def test_a_record_without_a_timestamp_moves_nothing() -> None:
    assert a_time().observe(-1, START_MS + 5_000, by_broker=False) == START_MS


def test_a_record_stops_the_clock_until_the_end_is_reached_again() -> None:
    time = a_time()
    time.reached_end(50.0)
    time.confirm(START_MS + 1_000)

    time.observe(START_MS + 1_500, START_MS + 1_500, by_broker=False)
    assert not time.is_at_end
    assert time.latest_possible_ms(60.0) == START_MS + 1_500
    time.reached_end(60.0)
    assert time.latest_possible_ms(60.25) == START_MS + 1_750


def test_leaving_the_end_stops_time_where_it_was_last_confirmed() -> None:
    time = a_time()
    time.reached_end(50.0)
    time.confirm(START_MS + 500)
    time.left_end()

    assert time.latest_possible_ms(900.0) == START_MS + 500


def test_a_record_overrides_the_latest_possible_time() -> None:
    time = a_time()
    time.reached_end(50.0)
    assert time.latest_possible_ms(51.0) == START_MS + 1_000

    assert time.observe(START_MS + 125, START_MS + 1_000, by_broker=True) == START_MS + 125


@pytest.mark.parametrize(
    ("stamps_ms", "times_ms"),
    [
        ((3_600_000, 10, 30, 3_030), [3_600_000, 3_600_000, 3_600_020, 3_603_020]),
        ((3_600_000, 10, 3_600_020, 30, 3_600_040), [3_600_000, 3_600_000, 3_600_020, 3_600_020, 3_600_040]),
        ((10, -3_600_000, 20, 30), [10, 10, 20, 30]),
    ],
    ids=["a clock steps back", "two clocks by turns", "an old stamp"],
)
def test_after_a_broker_clock_steps_back_time_advances_by_deltas(
    stamps_ms: tuple[int, ...], times_ms: list[int]
) -> None:
    time = a_time()
    given_ms = [time.observe(START_MS + stamp_ms, 0, by_broker=True) for stamp_ms in stamps_ms]
    assert [one - START_MS for one in given_ms] == times_ms


def test_a_producers_stamps_of_long_ago_make_no_time_pass_however_many() -> None:
    time = a_time()
    stamps_ms = (10, -3_600_000, -1_800_000, -10_000, 20)
    given_ms = [time.observe(START_MS + stamp_ms, START_MS + 50, by_broker=False) for stamp_ms in stamps_ms]

    assert [one - START_MS for one in given_ms] == [10, 10, 10, 10, 20]


def test_a_brokers_stamp_after_an_old_producers_stamp_passes_no_time() -> None:
    for stamp_ms in (START_MS - 3_600_000, -1):
        time = a_time(max_skew_ms=5_000)
        time.observe(START_MS + 5_000, START_MS, by_broker=False)
        time.observe(stamp_ms, START_MS, by_broker=False)
        given_ms = [time.observe(START_MS + passed_ms, START_MS, by_broker=True) for passed_ms in (10, 20)]

        assert [one - START_MS for one in given_ms] == [5_000, 5_010]


def test_a_record_without_timestamp_advances_no_time() -> None:
    time = a_time()
    time.go_on_from(-1, START_MS + 5_000)
    assert time.observe(START_MS + 10, START_MS, by_broker=True) == START_MS + 5_000


@given(st.lists(st.integers(0, 5_000), min_size=1), st.lists(st.integers(0, 5_000), min_size=1), st.data())
def test_a_new_owner_gives_the_same_times_after_a_clock_change(
    before_ms: list[int], after_ms: list[int], data: st.DataObject
) -> None:
    stamps_ms = [START_MS + 3_600_000 + passed_ms for passed_ms in accumulate(before_ms)]
    stamps_ms += [START_MS + passed_ms for passed_ms in accumulate(after_ms)]
    time = a_time()
    given_ms = [time.observe(stamp_ms, 0, by_broker=True) for stamp_ms in stamps_ms]

    read = data.draw(st.integers(1, len(stamps_ms) - 1))
    other = a_time(now_ms=0)
    other.go_on_from(stamps_ms[read - 1], given_ms[read - 1])
    assert [other.observe(stamp_ms, 0, by_broker=True) for stamp_ms in stamps_ms[read:]] == given_ms[read:]


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["record", "stamped"]), st.integers(-1, 5_000), st.integers(0, 5_000)),
        st.tuples(st.sampled_from(["end", "left", "ask"]), st.integers(0, 3_000), st.just(0)),
    )
)


@given(_STEPS)
def test_time_never_goes_back_nor_ahead_of_records_and_clock(
    steps: list[tuple[str, int, int]],
) -> None:
    time = PartitionTime(max_skew_ms=200)
    monotonic_s, last_ms, highest_ms, before_ms = 0.0, 0, 0, 0
    for what, value, wall_ms in steps:
        if what in ("record", "stamped"):
            time.observe(value, wall_ms, by_broker=what == "stamped")
            given_ms = value if what == "stamped" else min(value, wall_ms + 200)
            later_ms = value - before_ms if what == "stamped" else 0
            highest_ms = max(highest_ms, given_ms, last_ms + later_ms)
            before_ms = value
        else:
            highest_ms += value if time.is_at_end else 0
            monotonic_s += value / 1000
            if what == "end":
                time.reached_end(monotonic_s)
            if what == "left":
                time.left_end()
            if what == "ask":
                time.confirm(time.latest_possible_ms(monotonic_s))
        assert time.now_ms >= last_ms
        assert time.now_ms <= highest_ms + 1
        last_ms = time.now_ms
