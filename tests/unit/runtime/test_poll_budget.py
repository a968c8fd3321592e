"""How many records a turn takes follows what the engine manages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.runtime.retries.poll_budget import PollBudget


def test_a_slow_engine_is_given_less_and_a_quick_one_more() -> None:
    budget = PollBudget(2000)
    first = budget.max_records
    budget.worked(first, 0.1)
    assert budget.max_records == 2 * first
    budget.worked(2 * first, 8.0)
    assert budget.max_records == first


def test_a_turn_with_little_to_do_says_nothing_about_the_engine() -> None:
    budget = PollBudget(2000)
    before = budget.max_records
    budget.worked(1, 0.001)
    assert budget.max_records == before


@given(records_a_s=st.floats(min_value=0.5, max_value=50_000), most=st.integers(1, 5000))
def test_a_backlog_settles_at_turns_of_about_a_second_at_any_speed(records_a_s: float, most: int) -> None:
    budget = PollBudget(most)
    for _ in range(30):
        budget.worked(budget.max_records, budget.max_records / records_a_s)
    assert 1 <= budget.max_records <= most
    assert budget.max_records == 1 or budget.max_records / records_a_s <= 2.0
