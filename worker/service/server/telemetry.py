"""What a service counts of itself: the metrics that it serves on ``/metrics``, and errors as JSON lines on stderr."""

from __future__ import annotations

import logging
import sys
from typing import Final

from typing_extensions import override

from caesura.worker.feeds.recognisers.catalogue import RecogniserName
from caesura.worker.telemetry.log import ALIKE_S, Log, SaidLately, failure_fields, make_log
from caesura.worker.telemetry.metric_table import SERVICE_METRICS
from caesura.worker.telemetry.metrics import Metrics
from caesura.worker.telemetry.service_observer import ServiceObserver

_SERVERS_LOGGERS: Final = ("asyncio", "uvicorn", "websockets")
"""Their tracebacks would quote what a client sent, and invalid requests would flood the log."""


class _ServerFaults(logging.Handler):
    """Writes that something of the server's failed, and where, once a minute; nothing of what it says."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.ERROR)
        self._log = log
        self._said = SaidLately(within_s=ALIKE_S)

    @override
    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, Exception):
            fields = failure_fields(error)
            if not self._said.asked(str(fields), record.created):
                self._log.warning("fault", kind="server", **fields)


class ServiceTelemetry:
    """Metrics, and who moves them. Told from the event loop and from the decoding thread."""

    def __init__(self) -> None:
        self.metrics = Metrics(SERVICE_METRICS)
        self._log = make_log(sys.stderr)
        self._failed_readers: set[tuple[RecogniserName, type[Exception]]] = set()
        self.observer = ServiceObserver(log=self._log, metrics=self.metrics)
        for name in _SERVERS_LOGGERS:
            logger = logging.getLogger(name)
            logger.handlers = [_ServerFaults(self._log)]
            logger.propagate = False

    def reader_failed(self, recogniser: RecogniserName, error: Exception) -> None:
        """Write once of each recogniser and kind of error where its reader failed, and nothing of the message."""
        failed = (recogniser, type(error))
        if failed not in self._failed_readers:
            self._failed_readers.add(failed)
            self._log.warning("fault", kind="reader", call=recogniser.value, **failure_fields(error))
