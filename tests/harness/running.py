"""A worker on real parts in a process of its own."""

from __future__ import annotations

import faulthandler
import signal
import threading

import pytest

from tests.harness.forked import Forked
from tests.harness.pipeline import Pipeline, build


def worker_process(pipeline: Pipeline) -> Forked:
    """Start a worker; it tells standard error of its checkpoints, claims and rebalances."""
    return Forked(_work, pipeline)


def _work(pipeline: Pipeline) -> None:
    """Run a worker until SIGTERM."""
    faulthandler.register(signal.SIGUSR1)  # a test that waits in vain asks where every thread stands
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    _, worker = build(pipeline)
    worker.run(stopping.is_set)


GROUP_PROTOCOLS = ["classic", pytest.param("consumer", marks=pytest.mark.long)]
"""Values of ``group_protocol`` for tests of what does not depend on it; those of a seam step run under both always."""
