"""Records that are replayed are applied at the times of the first time, as far as anything says what those were."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.core.decoding.timeline import PartitionTime
from caesura.worker.ports.records import Record
from caesura.worker.runtime.claim.replayed_time import AppliedRecord, ReplayedTime

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


def test_where_only_those_who_speak_on_are_known_the_first_records_are_applied_by_their_clock() -> None:
    stamps_ms = _stamps(0, _HOUR_MS, 10, 20, 30, 40)
    times_ms = _first_times(stamps_ms)
    spoke_on = AppliedRecord(4, stamps_ms[4], times_ms[4])
    of_before = AppliedRecord(0, stamps_ms[0], times_ms[0])

    for known in ([spoke_on], [of_before, spoke_on]):
        assert _again(stamps_ms, known, 3) == times_ms[3:]


def test_so_are_all_before_the_first_one_known_that_may_be() -> None:
    stamps_ms = _stamps(30, -2_090, -2_080, -2_070)  # the leader's answers had brought the time to 810
    known = [AppliedRecord(3, stamps_ms[3], _START_MS + 830)]

    assert _again(stamps_ms, known, 0) == _stamps(30, 810, 820, 830)


def test_time_that_passed_by_the_stamps_has_passed_where_the_first_one_known_is_less_ahead_of_them() -> None:
    stamps_ms = _stamps(_HOUR_MS, 10, 500, _HOUR_MS + 600, _HOUR_MS - 2_400)
    times_ms = _first_times(stamps_ms)

    assert _again(stamps_ms, [AppliedRecord(4, stamps_ms[4], times_ms[4])], 0) == times_ms


def test_a_clock_that_was_set_within_what_is_replayed_is_seen_in_its_stamps() -> None:
    stamps_ms = _stamps(0, 10, _HOUR_MS, 20, 30, 40)
    times_ms = _first_times(stamps_ms)

    assert _again(stamps_ms, [AppliedRecord(4, stamps_ms[4], times_ms[4])], 2) == times_ms[2:]


def test_one_that_retention_took_is_passed_as_well() -> None:
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
def test_from_the_first_record_that_is_known_on_times_are_the_same_wherever_clocks_were_set(
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
