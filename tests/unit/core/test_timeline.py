"""A partition's time goes by its records, not by anybody's clock."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from worker.core.timeline import PartitionTime

START_MS = 1_000_000


def test_time_stands_still_while_there_is_something_to_read() -> None:
    time = PartitionTime(max_skew_ms=100)
    time.observe(START_MS, START_MS)

    assert time.now_ms(10.0) == time.now_ms(5_000.0) == START_MS


def test_time_goes_on_by_the_monotonic_clock_once_the_end_is_reached() -> None:
    time = PartitionTime(max_skew_ms=100)
    time.observe(START_MS, START_MS)
    time.reached_end(50.0)
    time.reached_end(51.0)

    assert time.now_ms(50.75) == START_MS + 750


def test_a_timestamp_counts_as_at_most_the_wall_clock_and_the_allowed_skew() -> None:
    time = PartitionTime(max_skew_ms=100)

    assert time.observe(START_MS + 50_000, START_MS) == START_MS + 100


def test_a_record_without_a_timestamp_moves_nothing() -> None:
    time = PartitionTime(max_skew_ms=100, start_ms=START_MS)

    assert time.observe(-1, START_MS + 5_000) == START_MS


def test_a_record_ends_the_going_on_until_the_end_is_reached_again() -> None:
    time = PartitionTime(max_skew_ms=100)
    time.observe(START_MS, START_MS)
    time.reached_end(50.0)
    assert time.now_ms(51.0) == START_MS + 1_000

    time.observe(START_MS + 1_500, START_MS + 1_500)
    assert not time.is_at_end
    assert time.now_ms(60.0) == START_MS + 1_500
    time.reached_end(60.0)
    assert time.now_ms(60.25) == START_MS + 1_750


def test_a_pause_stops_time_where_it_was_last_asked() -> None:
    time = PartitionTime(max_skew_ms=100, start_ms=START_MS)
    time.reached_end(50.0)
    time.now_ms(50.5)
    time.left_end()

    assert time.now_ms(900.0) == START_MS + 500


def test_time_that_was_only_peeked_at_does_not_count_where_the_end_was_none() -> None:
    time = PartitionTime(max_skew_ms=100)
    time.observe(START_MS, START_MS)
    time.reached_end(50.0)
    assert time.peek_ms(51.0) == START_MS + 1_000
    time.left_end()

    assert time.observe(START_MS + 125, START_MS + 1_000) == START_MS + 125


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("record"), st.integers(-1, 5_000), st.integers(0, 5_000)),
        st.tuples(st.sampled_from(["end", "left", "now"]), st.integers(0, 3_000), st.just(0)),
    )
)


@given(_STEPS)
def test_time_never_goes_back_and_never_runs_ahead_of_records_and_the_monotonic_clock(
    steps: list[tuple[str, int, int]],
) -> None:
    time = PartitionTime(max_skew_ms=200)
    monotonic_s, last_ms, highest_ms, passed_ms = 0.0, 0, 0, 0
    for what, value, wall_ms in steps:
        if what == "record":
            now_ms = time.observe(value, wall_ms)
            highest_ms = max(highest_ms, min(value, wall_ms + 200))
        else:
            passed_ms += value if time.is_at_end else 0
            monotonic_s += value / 1000
            if what == "end":
                time.reached_end(monotonic_s)
            if what == "left":
                time.left_end()
            now_ms = time.now_ms(monotonic_s)
        assert now_ms >= last_ms
        assert now_ms <= highest_ms + passed_ms + 1
        last_ms = now_ms
