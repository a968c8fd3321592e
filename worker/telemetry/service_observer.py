"""Metrics of the service: its clients, and labelling as in the worker."""

from __future__ import annotations

from typing_extensions import override

from caesura.worker.ports import observer as events
from caesura.worker.ports import service_events as served
from caesura.worker.telemetry import metric_table as table
from caesura.worker.telemetry.labelling_observer import LabellingObserver


class ServiceObserver(LabellingObserver):
    """Told of clients by the event loop, of labelling by the thread that decodes. Never raises."""

    @override
    def note(self, event: events.Event) -> None:
        """Count clients, their words and what was refused."""
        match event:
            case served.ClientsConnected():
                self._metrics.set(table.SERVE_CONNECTIONS, event.count)
            case served.SessionsServed():
                self._metrics.set(table.SERVE_SESSIONS, event.count)
            case served.ClientWordsTaken():
                self._metrics.add(table.SERVE_WORDS, event.words)
            case served.ClientRefused():
                self._metrics.add(table.SERVE_REFUSED, reason=str(event.reason))
            case _:
                super().note(event)
