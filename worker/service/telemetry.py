"""What a service counts of itself: the metrics that it serves on ``/metrics``, and errors as JSON lines on stderr."""

from __future__ import annotations

import sys
import time

from worker.feeds.recognisers.catalogue import RecogniserName
from worker.telemetry.health import Health
from worker.telemetry.log import failure_fields, make_log
from worker.telemetry.metrics import Metrics
from worker.telemetry.observer import TelemetryObserver

__all__ = ["ServiceTelemetry"]


class ServiceTelemetry:
    """Metrics, and who moves them. Told from the event loop and from the decoding thread."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self._log = make_log(sys.stderr)
        self._failed_readers: set[tuple[RecogniserName, type[Exception]]] = set()
        self.observer = TelemetryObserver(log=self._log, metrics=self.metrics, health=Health(time.monotonic))

    def reader_failed(self, recogniser: RecogniserName, error: Exception) -> None:
        """Write once of each recogniser and kind of error where its reader failed, and nothing of the message."""
        failed = (recogniser, type(error))
        if failed not in self._failed_readers:
            self._failed_readers.add(failed)
            self._log.warning("fault", kind="reader", call=recogniser.value, **failure_fields(error))
