"""What a service counts of itself: the metrics that it serves on ``/metrics``, and errors as JSON lines on stderr."""

from __future__ import annotations

import sys
import time

from worker.telemetry.health import Health
from worker.telemetry.log import make_log
from worker.telemetry.metrics import Metrics
from worker.telemetry.observer import TelemetryObserver

__all__ = ["ServiceTelemetry"]


class ServiceTelemetry:
    """Metrics, and who moves them. Told from the event loop and from the decoding thread."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        log = make_log(sys.stderr)
        self.observer = TelemetryObserver(log=log, metrics=self.metrics, health=Health(time.monotonic))
