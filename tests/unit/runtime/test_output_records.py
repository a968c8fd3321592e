"""Notes in the ledger are read as they were written, however much was refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.runtime.output_records import REFUSED_HEADER, OutputRecords, parse_refused
from worker.runtime.settings import RuntimeSettings


def noted(offsets: list[int]) -> bytes:
    """Return the header that notes refusals."""
    (message,) = OutputRecords(settings=RuntimeSettings()).refused(0, offsets)
    return dict(message.headers)[REFUSED_HEADER]


@given(st.sets(st.integers(0, 300), min_size=1))
def test_refusals_are_read_as_they_were_written(offsets: set[int]) -> None:
    assert parse_refused(noted(sorted(offsets))) == offsets


@pytest.mark.parametrize("count", [999_999, 1_000_000, 1_000_001, 2_500_000])
def test_a_long_run_of_refusals_is_split_into_ranges_that_a_worker_reads(count: int) -> None:
    assert parse_refused(noted(list(range(7, 7 + count)))) == set(range(7, 7 + count))


def test_neighbouring_offsets_are_one_range() -> None:
    assert noted([3, 5, 6, 7, 9]) == b"3 5-7 9"
