"""A benchmark waits for nothing from a worker that is gone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from bench.live_load import Listener
from bench.worker_process import WorkerProcess
from tests.harness.real_world import RealWorld


def test_a_worker_that_ends_by_itself_ends_the_wait_for_what_it_would_have_said() -> None:
    nowhere = SimpleNamespace(
        kafka=SimpleNamespace(bootstrap="127.0.0.1:1"),
        redis_url="redis://127.0.0.1:1/0",
        deployment="nobody",
        words_topic="words",
        segments_topic="segments",
        dead_topic="dead",
    )
    world = cast("RealWorld", nowhere)
    worker = WorkerProcess(world, program=("-c", "import time; time.sleep(60)"))
    worker.require_running()
    worker.kill()
    fallen = WorkerProcess(world, program=("-c", "raise SystemExit(3)"))
    with pytest.raises(RuntimeError, match="its exit status is 3"):
        Listener(world).wait_for_ended(1, 30.0, [fallen])
