"""The measurement finds what a machine of a known speed carries, and leaves words as it should."""

from __future__ import annotations

import json
import mmap
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from caesura.schemas.labels import Labels
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.engine import EngineWork
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.sizing.advice import advise
from caesura.worker.sizing.measuring import OVERHEAD, LiveStage, Measured, Measurement, rising
from caesura.worker.sizing.resident_memory import resident_bytes
from caesura.worker.sizing.speech import EVENT_WORDS, WORDS_A_SECOND

STEP_WORDS = DecodingRules().step_words


class Machine(ScriptedEngine):
    """An engine whose steps take a time that is known; its clock is the processor's."""

    def __init__(self, *, step_s: float, batch_s: float = 0.0) -> None:
        super().__init__(script=marked_words)
        self._step_s = step_s
        self._batch_s = batch_s
        self.spent_s = 0.0

    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        self.spent_s += self._batch_s + self._step_s * len(requests)
        return super().label(requests)

    def clock_s(self) -> float:
        return self.spent_s


class Keeper(Machine):
    """An engine that keeps rows in memory that was there before, as the first slabs of a network's are."""

    @property
    @override
    def work(self) -> EngineWork:
        return EngineWork(kept_sessions=8, kept_bytes=8 * 2**30)


def measured(machine: Machine, *, most: int = 512, seconds: float = 4.0) -> Measured:
    measurement = Measurement(machine, RuntimeSettings(), DecodingRules(), clock_s=machine.clock_s)
    return measurement.run(seconds=seconds, first_sessions=8, most_sessions=most)


def test_as_many_sessions_fit_as_the_engines_steps_leave_room_for() -> None:
    step_s = 0.02
    one_core = 1 / (WORDS_A_SECOND / STEP_WORDS * step_s * OVERHEAD)
    assert one_core > 40
    found = measured(Machine(step_s=step_s)).live_sessions
    assert 0.75 * one_core < found <= 1.05 * one_core


@pytest.mark.slow
def test_twice_the_speed_carries_about_twice_the_sessions() -> None:
    slow, fast = (measured(Machine(step_s=step_s)).live_sessions for step_s in (0.01, 0.005))
    assert 1.6 < fast / slow < 2.4


def test_a_batchs_cost_is_shared_by_its_sessions() -> None:
    found = measured(Machine(step_s=0.0005, batch_s=0.02), most=128)
    prices = [stage.cpu_s_per_million_words for stage in found.stages]
    assert [stage.sessions for stage in found.stages] == [8, 16, 32, 64, 128]
    assert prices[0] > 2 * prices[-1]
    assert all(more < 1.05 * fewer for fewer, more in pairwise(prices))


def test_the_rise_ends_where_it_is_told_to() -> None:
    found = measured(Machine(step_s=1e-6), most=20)
    assert [stage.sessions for stage in found.stages] == [8, 16]
    assert all(stage.fits for stage in found.stages)
    assert found.live_sessions == 16


def test_a_machine_too_slow_for_one_session_carries_no_session() -> None:
    found = measured(Machine(step_s=3.0), seconds=1.0)
    assert found.live_sessions == 0
    assert not any(stage.fits for stage in found.stages)


def test_a_backlogs_price_is_what_its_steps_take() -> None:
    found = measured(Machine(step_s=0.009), most=8)
    assert abs(found.cpu_s_per_million_words - 0.009 / STEP_WORDS * 1e6) < 0.05 * 0.009 / STEP_WORDS * 1e6
    assert EVENT_WORDS == 2


def test_a_session_takes_no_less_than_the_rows_that_are_kept_of_it() -> None:
    found = measured(Keeper(step_s=1e-6), most=16)
    assert found.session_bytes == found.row_bytes == 2**30


def tried(first: int, most: int, capacity: int, between: int) -> list[int]:
    """Return what is tried of a machine that carries so many."""
    carried: dict[int, bool] = {}
    for sessions in rising(first, most, carried, between=between):
        assert sessions not in carried
        carried[sessions] = sessions <= capacity
    return [*carried]


@pytest.mark.parametrize(
    ("capacity", "wanted"),
    [
        (350, [100, 200, 400, 300, 350]),
        (299, [100, 200, 400, 300, 250]),
        (30, [100, 50, 25]),
        (0, [100, 50, 25]),
        (5_000, [100, 200, 400, 800]),
    ],
)
def test_the_search_doubles_then_bisects(capacity: int, wanted: list[int]) -> None:
    assert tried(100, 800, capacity, between=2) == wanted


def test_no_stage_runs_if_the_first_exceeds_the_maximum() -> None:
    assert tried(100, 99, 1_000, between=3) == []


@given(first=st.integers(1, 200), capacity=st.integers(0, 2_000), between=st.integers(12, 20))
def test_with_enough_tries_between_it_finds_the_very_number(first: int, capacity: int, between: int) -> None:
    found = max((sessions for sessions in tried(first, 10_000, capacity, between) if sessions <= capacity), default=0)
    assert found == capacity


def test_peak_memory_follows_the_touched_bytes() -> None:
    with mmap.mmap(-1, 64 * 2**20) as fresh:
        before = resident_bytes()
        fresh.write(b"x" * len(fresh))
        assert resident_bytes(os.getpid()) - before > 60 * 2**20
    assert resident_bytes() <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + 2**20


def test_an_ended_process_has_no_resident_memory() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    assert resident_bytes(ended.pid) == 0
    ended.wait()
    with pytest.raises(OSError, match="No such file"):
        resident_bytes(ended.pid)


ROOT = Path(__file__).parents[3]
MIB = 2**20


def machine_measured(live_sessions: int = 100, *, row_mib: float = 1.5) -> Measured:
    stage = LiveStage(sessions=live_sessions, busy=0.8, late_ms=100, cpu_s_per_million_words=900, fits=True)
    return Measured(
        words_a_second=1000,
        cpu_s_per_million_words=1000,
        live_sessions=live_sessions,
        stages=[stage],
        start_bytes=256 * MIB,
        session_bytes=int((row_mib + 0.5) * MIB),
        row_bytes=int(row_mib * MIB),
        load_average=0.1,
    )


@pytest.mark.parametrize(("sessions", "replicas"), [(1, 2), (70, 2), (71, 3), (700, 11), (701, 12)])
def test_there_is_one_worker_more_than_the_sessions_need(sessions: int, replicas: int) -> None:
    advice = advise(machine_measured(), sessions)
    assert advice.sessions_a_worker == 70
    assert advice.replicas == replicas
    assert advice.partitions >= replicas


def test_the_engines_memory_holds_the_rows_of_a_workers_sessions() -> None:
    advice = advise(machine_measured(1000, row_mib=2.0), None)
    assert advice.sessions == advice.sessions_a_worker == 700
    assert advice.engine_memory_mib >= 1400
    assert advice.memory_request_mib > advice.engine_memory_mib
    assert advice.memory_limit_mib > advice.memory_request_mib


def test_a_machine_that_is_too_small_gets_one_session() -> None:
    assert advise(machine_measured(0), 3).replicas == 4


def test_the_values_are_the_charts() -> None:
    chart = yaml.safe_load((ROOT / "deploy/chart/values.yaml").read_text(encoding="utf-8"))
    said = yaml.safe_load(advise(machine_measured(), None).values())
    assert isinstance(said, dict)
    assert set(said) <= set(chart)
    assert set(said["resources"]) == set(chart["resources"])
    assert all(set(said["resources"][part]) == set(chart["resources"][part]) for part in said["resources"])
    assert set(said["settings"]["worker"]) <= {one.name for one in fields(RuntimeSettings)}


def test_the_charts_defaults_hold_what_the_reference_machine_was_advised() -> None:
    stored = json.loads((ROOT / "bench/results/caesura_bench.json").read_text(encoding="utf-8"))
    advice = advise(msgspec.convert(stored["measured"], Measured), None)
    said = yaml.safe_load(advice.values())
    chart = yaml.safe_load((ROOT / "deploy/chart/values.yaml").read_text(encoding="utf-8"))
    assert chart["replicas"] == said["replicas"]
    resources = chart["resources"]
    assert {part: resources[part]["cpu"] for part in resources} == {
        part: said["resources"][part]["cpu"] for part in resources
    }
    given_mib = {part: int(resources[part]["memory"].removesuffix("Mi")) for part in resources}
    rows_mib = chart["settings"]["worker"].get("engine_memory_mib", RuntimeSettings().engine_memory_mib)
    assert advice.engine_memory_mib <= rows_mib <= 2 * advice.engine_memory_mib
    assert advice.memory_request_mib <= given_mib["requests"] <= 2 * advice.memory_request_mib
    assert advice.memory_limit_mib <= given_mib["limits"] <= 2 * advice.memory_limit_mib
