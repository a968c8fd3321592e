"""Threads come from the quota that the kernel enforces."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from caesura.worker.adapters.onnx.cpu_quota import threads_allowed


@pytest.fixture(autouse=True)
def sixteen_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))


def v2(folder: Path, quota: str, own: str = "/") -> Path:
    """Write a version 2 tree whose cgroup ``own`` has a quota; return the file that names the process's cgroup."""
    place = folder / "cgroups" / own.strip("/")
    place.mkdir(parents=True, exist_ok=True)
    (place / "cpu.max").write_text(quota + "\n")
    (folder / "own").write_text(f"0::{own}\n")
    return folder / "own"


@pytest.mark.parametrize(
    ("quota", "threads"), [("200000 100000", 2), ("250000 100000", 2), ("50000 100000", 1), ("max 100000", 16)]
)
def test_the_quota_of_version_two_is_taken(quota: str, threads: int, tmp_path: Path) -> None:
    own = v2(tmp_path, quota)
    assert threads_allowed(tmp_path / "cgroups", own) == threads


def test_the_smallest_quota_on_the_way_up_holds(tmp_path: Path) -> None:
    v2(tmp_path, "300000 100000", "/slice")
    own = v2(tmp_path, "800000 100000", "/slice/pod")
    assert threads_allowed(tmp_path / "cgroups", own) == 3


def test_the_quota_of_version_one_is_taken(tmp_path: Path) -> None:
    place = tmp_path / "cgroups" / "cpu,cpuacct" / "pod"
    place.mkdir(parents=True)
    (place / "cpu.cfs_quota_us").write_text("400000\n")
    (place / "cpu.cfs_period_us").write_text("100000\n")
    (tmp_path / "own").write_text("4:memory:/pod\n3:cpu,cpuacct:/pod\n")
    assert threads_allowed(tmp_path / "cgroups", tmp_path / "own") == 4


@pytest.mark.parametrize("quota", ["", "nonsense 100000", "100000 0"])
def test_a_quota_that_cannot_be_read_bounds_nothing(quota: str, tmp_path: Path) -> None:
    own = v2(tmp_path, quota)
    assert threads_allowed(tmp_path / "cgroups", own) == 16


def test_without_cgroups_the_affinity_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5})
    assert threads_allowed(tmp_path / "none", tmp_path / "nobody") == 2
