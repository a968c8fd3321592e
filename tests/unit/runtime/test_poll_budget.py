"""How many records a turn takes follows what the engine manages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from worker.runtime.poll_budget import PollBudget


def test_a_slow_engine_is_given_less_and_a_quick_one_more() -> None:
    pace = PollBudget(2000)
    first = pace.max_records
    pace.worked(first, 0.1)
    assert pace.max_records == 2 * first
    pace.worked(2 * first, 8.0)
    assert pace.max_records == first


def test_a_turn_with_little_to_do_says_nothing_about_the_engine() -> None:
    pace = PollBudget(2000)
    before = pace.max_records
    pace.worked(1, 0.001)
    assert pace.max_records == before


@given(records_a_s=st.floats(min_value=0.5, max_value=50_000), most=st.integers(1, 5000))
def test_a_backlog_settles_at_turns_of_about_a_second_at_any_speed(records_a_s: float, most: int) -> None:
    pace = PollBudget(most)
    for _ in range(30):
        pace.worked(pace.max_records, pace.max_records / records_a_s)
    assert 1 <= pace.max_records <= most
    assert pace.max_records == 1 or pace.max_records / records_a_s <= 2.0
