"""Log lines and metrics of labelling, for the worker and the service."""

from __future__ import annotations

from typing_extensions import override

from caesura.worker.ports import observer as events
from caesura.worker.ports import service_events as served
from caesura.worker.ports.observer import Observer
from caesura.worker.telemetry import metric_table as table
from caesura.worker.telemetry.log import Log
from caesura.worker.telemetry.log_fields import OWN_TEXT_LENGTH
from caesura.worker.telemetry.metrics import Metrics


class LabellingObserver(Observer):
    """Hears of batches, floods and looks at unfrozen words; told of floods by the thread that labels. Never raises."""

    def __init__(self, *, log: Log, metrics: Metrics) -> None:
        self._log = log
        self._metrics = metrics

    @override
    def note(self, event: events.Event) -> None:
        """Count what belongs into a metric; name a session that floods."""
        add, observe = self._metrics.add, self._metrics.observe
        match event:
            case events.BatchQueued():
                observe(table.QUEUE_AGE_SECONDS, event.oldest_s)
            case events.BatchLabelled():
                observe(table.BATCH_SESSIONS, event.sessions)
                observe(table.BATCH_WORDS, event.words)
                observe(table.INFERENCE_SECONDS, event.took_s)
                add(table.LAYER_ROWS, event.layer_rows)
                add(table.BEGUN_BUFFERS, event.begun_buffers)
                add(table.EVICTED_SESSIONS, event.evicted_sessions)
                self._metrics.set(table.KEPT_BYTES, event.kept_bytes)
                add(table.ENGINE_CPU_SECONDS, event.cpu_s)
                self._metrics.set(table.ENGINE_RESIDENT_BYTES, event.resident_bytes)
            case events.EngineRestarted():
                add(table.ENGINE_RESTARTS, event.times)
            case events.EngineFailed():
                detail = {"detail": event.detail[:OWN_TEXT_LENGTH]} if event.detail else {}
                self._log.error("engine_failed", sessions=event.sessions, **detail)
                add(table.ENGINE_FAILURES)
            case events.SessionsFlooding():
                for session, words in event.queued_words.items():
                    self._log.warning("session_floods", session=session, words=words)
            case served.UnfrozenReported():
                for outcome in ("offered", "dropped", "passed_over"):
                    if looks := getattr(event, outcome):
                        add(table.TENTATIVE_LOOKS, looks, outcome=outcome)
            case _:  # a step of the commit protocol: its time stands in the checkpoint's line
                pass
