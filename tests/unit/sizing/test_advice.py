"""What is advised follows from what was measured; the chart's defaults hold the advice for the reference machine."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import msgspec
import pytest
import yaml

from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.sizing.advice import advise
from caesura.worker.sizing.measuring import LiveStage, Measured

ROOT = Path(__file__).parents[3]
MIB = 2**20


def measured(live_sessions: int = 100, *, row_mib: float = 1.5) -> Measured:
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
    advice = advise(measured(), sessions)
    assert advice.sessions_a_worker == 70
    assert advice.replicas == replicas
    assert advice.partitions >= replicas


def test_the_engines_memory_holds_the_rows_of_a_workers_sessions() -> None:
    advice = advise(measured(1000, row_mib=2.0), None)
    assert advice.sessions == advice.sessions_a_worker == 700
    assert advice.engine_memory_mib >= 1400
    assert advice.memory_request_mib > advice.engine_memory_mib
    assert advice.memory_limit_mib > advice.memory_request_mib


def test_where_nothing_fits_a_worker_is_given_one_session() -> None:
    assert advise(measured(0), 3).replicas == 4


def test_the_values_are_the_charts() -> None:
    chart = yaml.safe_load((ROOT / "deploy/chart/values.yaml").read_text(encoding="utf-8"))
    said = yaml.safe_load(advise(measured(), None).values())
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
