"""A seed says it all: faults and words are drawn before anything runs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.core.partition.partitioning import murmur2_partition
from tests.chaos.schedule import FaultKind, draw_faults
from tests.harness.producers import session_records

SEEDS = st.integers(min_value=0, max_value=1_000_000)


@given(SEEDS, st.integers(min_value=0, max_value=60))
def test_a_seed_draws_the_same_faults_again(seed: int, count: int) -> None:
    faults = draw_faults(seed, count, static_members=True)
    assert len(faults) == count
    assert faults == draw_faults(seed, count, static_members=True)


@given(SEEDS)
def test_a_long_schedule_has_every_kind(seed: int) -> None:
    assert {fault.kind for fault in draw_faults(seed, 40, static_members=True)} == set(FaultKind)


@given(SEEDS)
def test_without_static_members_none_is_killed(seed: int) -> None:
    kinds = {fault.kind for fault in draw_faults(seed, 60, static_members=False)}
    assert FaultKind.WORKER_KILL_STATIC not in kinds


@given(SEEDS, st.sampled_from(FaultKind))
def test_a_schedule_of_one_kind_has_no_other(seed: int, kind: FaultKind) -> None:
    assert {fault.kind for fault in draw_faults(seed, 5, static_members=True, only=(kind,))} == {kind}


@given(SEEDS, st.integers(min_value=0, max_value=10_000))
def test_a_session_is_in_the_partition_of_its_key(seed: int, number: int) -> None:
    every = list(session_records(seed, number, 6))
    assert every == list(session_records(seed, number, 6))
    records = [one for one in every if one.refused is None]
    assert {murmur2_partition(one.key, 6) for one in records} == {one.partition for one in records} == {number % 6}
