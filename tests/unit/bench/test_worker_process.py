"""A benchmark waits for nothing from a worker that is gone, and leaves none behind."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from bench.live_load import Listener
from bench.worker_process import WorkerProcess, wait_until_joined
from tests.harness.real_world import RealWorld
from tests.harness.waiting import wait_until

SLEEPS = ("-c", "import time; time.sleep(60)")
FALLS = ("-c", "raise SystemExit(3)")


def wait_for_members(count: int, *, turning: Callable[[], None]) -> None:
    """Wait for members of a group that nobody ever joins."""
    wait_until(lambda: False, f"never {count}", within_s=30.0, meanwhile=turning)


def nowhere() -> RealWorld:
    """Return a world of which nothing answers."""
    world = SimpleNamespace(
        kafka=SimpleNamespace(bootstrap="127.0.0.1:1"),
        redis_url="redis://127.0.0.1:1/0",
        deployment="nobody",
        words_topic="words",
        segments_topic="segments",
        dead_topic="dead",
        wait_for_members=wait_for_members,
    )
    return cast("RealWorld", world)


def children() -> set[int]:
    """Return the processes that this one has started and not yet heard the end of."""
    return set(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()))


def test_a_worker_that_ends_by_itself_ends_the_wait_for_what_it_would_have_said() -> None:
    world = nowhere()
    with WorkerProcess(world, program=SLEEPS) as worker:
        worker.require_running()
    with (
        WorkerProcess(world, program=FALLS) as fallen,
        pytest.raises(RuntimeError, match="its exit status is 3"),
    ):
        Listener(world).wait_for_ended(1, 30.0, [fallen])


def test_a_worker_that_ends_by_itself_ends_the_wait_for_its_group() -> None:
    with (
        WorkerProcess(nowhere(), program=FALLS) as fallen,
        pytest.raises(RuntimeError, match="its exit status is 3"),
    ):
        wait_until_joined(nowhere(), [fallen])


@pytest.mark.parametrize("folder", ["worker", "caesura/worker"])
def test_a_commit_runs_its_own_sources_and_not_the_installed_ones(folder: str, tmp_path: Path) -> None:
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "caesura").mkdir(exist_ok=True)
    for package in (tmp_path / "caesura", tmp_path / folder):
        (package / "__init__.py").touch()
    (tmp_path / folder / "cli.py").write_text("def main() -> None:\n    raise SystemExit(4)\n", encoding="utf-8")
    with (
        WorkerProcess(nowhere(), code=tmp_path) as worker,
        pytest.raises(RuntimeError, match="its exit status is 4"),
    ):
        wait_until_joined(nowhere(), [worker])


@pytest.mark.parametrize("failure", [TimeoutError, AssertionError, KeyboardInterrupt])
def test_a_measurement_that_fails_leaves_no_worker_running(failure: type[BaseException]) -> None:
    before = children()
    with contextlib.suppress(failure), WorkerProcess(nowhere(), program=SLEEPS):
        assert len(children() - before) == 1
        raise failure
    assert children() == before


def test_a_worker_that_cannot_have_its_cores_does_not_run() -> None:
    before = children()
    with pytest.raises(OSError, match="Invalid argument"):
        WorkerProcess(nowhere(), cpus={1_000}, program=SLEEPS)
    assert children() == before
