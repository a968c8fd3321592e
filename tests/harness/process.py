"""``python -m tests.harness.process``: a worker in a process of its own, built from JSON on standard input."""

from __future__ import annotations

import faulthandler
import json
import signal
import sys
import threading

from tests.harness.pipeline import Pipeline, build


def main() -> None:
    pipeline = Pipeline(**json.load(sys.stdin))
    faulthandler.register(signal.SIGUSR1)  # a test that waits in vain asks where every thread stands
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    _, worker = build(pipeline)
    worker.run(stopping.is_set)


if __name__ == "__main__":
    main()
