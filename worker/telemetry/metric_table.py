"""Every metric by name, kind, labels and meaning: the one table for code, dashboards and docs/metrics.md.

Names have their unit; durations are in seconds, as Prometheus expects. Label values are short lower-case names from our
own code, never a session or a word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from caesura.worker.ports.reasons import PhaseName

Kind = Literal["counter", "gauge", "histogram"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric. buckets: upper bounds of a histogram, in the unit of its name."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


_QUICK_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_DELAY_S = (0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 120.0)
_WORDS = (1, 2, 3, 6, 9, 11, 14, 20, 30, 50, 100, 200)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


_ALL: list[Metric] = []


def _counter(name: str, text: str, *labels: str) -> Metric:
    return _row(Metric(name=name, kind="counter", help=text, labels=labels))


def _gauge(name: str, text: str, *labels: str) -> Metric:
    return _row(Metric(name=name, kind="gauge", help=text, labels=labels))


def _histogram(name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Metric:
    return _row(Metric(name=name, kind="histogram", help=text, labels=labels, buckets=buckets))


def _row(metric: Metric) -> Metric:
    _ALL.append(metric)
    return metric


# delay
FREEZE_DELAY_WORDS: Final = _histogram(
    "caesura_freeze_delay_words", "Words that came after a word before its label froze.", _WORDS
)
FREEZE_DELAY_SECONDS: Final = _histogram(
    "caesura_freeze_delay_seconds", "From the append of a segment's last word in Kafka to its freezing.", _DELAY_S
)
LAG_RECORDS: Final = _gauge("caesura_lag_records", "Records of a partition not yet applied.", "partition")
OLDEST_UNREAD_AGE_SECONDS: Final = _gauge(
    "caesura_oldest_unread_age_seconds", "Age of the oldest word not yet applied; 0 at the end.", "partition"
)
INPUT_HELD_SECONDS: Final = _gauge(
    "caesura_input_held_seconds",
    "How long one transaction has been open in the input and holds back the words behind it; 0 without one.",
    "partition",
)
# what came in and went out
EVENTS: Final = _counter("caesura_events_total", "Events applied to a session.")
WORDS: Final = _counter("caesura_words_total", "Words published, counted once their transaction is committed.")
SEGMENTS: Final = _counter("caesura_segments_total", "Segments published, by cause.", "cause")
DEAD_LETTERS: Final = _counter("caesura_dead_letters_total", "Events refused, by reason.", "reason")
REPEATS: Final = _counter("caesura_repeats_total", "Events dropped as repeats of a number.")
GAPS: Final = _counter("caesura_gaps_total", "Gaps passed in a session's numbers.")
MISSED_EVENTS: Final = _counter("caesura_missed_events_total", "Events that are missing in those gaps.")
UNKNOWN_TARGETS: Final = _counter("caesura_unknown_targets_total", "Events that name an unknown translation route.")
UNMODELLED_WORDS: Final = _counter(
    "caesura_unmodelled_words_total", "Words of a language without a model, published without labels."
)
SESSIONS: Final = _gauge("caesura_sessions", "Sessions in memory, by status.", "partition", "status")
SESSION_CHANGES: Final = _counter(
    "caesura_session_changes_total", "Sessions opened, reopened, closed and forgotten.", "change"
)
# engine
BATCH_SESSIONS: Final = _histogram("caesura_batch_sessions", "Sessions labelled in one inference.", _SIZES)
BATCH_WORDS: Final = _histogram(
    "caesura_batch_words", "Words of all buffers in one inference.", tuple(16.0 * n for n in _SIZES)
)
INFERENCE_SECONDS: Final = _histogram("caesura_inference_seconds", "Time of one inference.", _QUICK_S)
LAYER_ROWS: Final = _counter(
    "caesura_engine_layer_rows_total",
    "Words that the engine computed, counted once a layer. Divided by the words published it gives the cost of a word.",
)
BEGUN_BUFFERS: Final = _counter(
    "caesura_engine_begun_buffers_total", "Buffers that the engine computed from their first word on."
)
EVICTED_SESSIONS: Final = _counter(
    "caesura_engine_evicted_sessions_total", "Sessions whose KV cache the engine dropped because memory was full."
)
KEPT_BYTES: Final = _gauge("caesura_engine_kept_bytes", "Bytes of the engine's KV caches.")
ENGINE_RESTARTS: Final = _counter(
    "caesura_engine_restarts_total", "Restarts of the engine's process after it ended or stood still."
)
ENGINE_CPU_SECONDS: Final = _counter(
    "caesura_engine_cpu_seconds_total", "CPU time of the engine's process, which is not in `process_cpu_seconds_total`."
)
ENGINE_RESIDENT_BYTES: Final = _gauge(
    "caesura_engine_resident_bytes", "Memory of the engine's process, without the worker's own."
)
QUEUE_AGE_SECONDS: Final = _histogram(
    "caesura_queue_age_seconds", "How long the oldest session of a batch waited.", _QUICK_S
)
ENGINE_FAILURES: Final = _counter("caesura_engine_failures_total", "Batches that the engine refused.")
FALLBACKS: Final = _counter(
    "caesura_fallbacks_total",
    "Sessions frozen without labels, because the engine or Caesura's own code failed on them.",
)
MODEL_TAKEOVERS: Final = _counter(
    "caesura_model_takeovers_total", "Buffers taken over because this worker does not have their model."
)
# the commit protocol
CHECKPOINT_STEP_SECONDS: Final = _histogram(
    "caesura_checkpoint_step_seconds", "Time of a checkpoint's steps.", _QUICK_S, "step"
)
TRANSACTIONS: Final = _counter("caesura_transactions_total", "Checkpoints by outcome.", "outcome")
FENCE_REJECTIONS: Final = _counter(
    "caesura_fence_rejections_total",
    "Commits refused because of a newer owner or producer, and saves that Redis refused.",
    "by",
)
PRODUCER_REBUILDS: Final = _counter("caesura_producer_rebuilds_total", "Producers replaced by new ones.", "reason")
SAVES: Final = _counter("caesura_saves_total", "Saves of a partition to Redis: landed, refused, unanswered.", "outcome")
UNSAVED_SECONDS: Final = _gauge(
    "caesura_unsaved_seconds",
    "How long Redis has lacked committed state; the next claim is slower.",
    "partition",
)
STORE_ERRORS: Final = _counter("caesura_store_errors_total", "Calls to Redis that failed or went unanswered.", "call")
BROKER_ERRORS: Final = _counter("caesura_broker_errors_total", "Calls to Kafka that failed or went unanswered.", "call")
BROKER_AWAITED: Final = _gauge(
    "caesura_broker_awaited",
    "1 while checkpoints wait for this broker: a partition's leader, or the coordinator of group or transaction.",
    "role",
    "topic",
    "partition",
)
# the group
REBALANCES: Final = _counter("caesura_rebalances_total", "Rebalances by kind.", "kind")
CLAIMS: Final = _counter("caesura_claims_total", "Partitions claimed, by verdict.", "verdict")
CLAIMS_WAITING: Final = _counter("caesura_claims_waiting_total", "Claims that had to wait, by reason.", "reason")
CLAIM_SECONDS: Final = _histogram("caesura_claim_seconds", "From assignment to all sessions loaded.", _DELAY_S)
TAKEOVERS: Final = _counter("caesura_takeovers_total", "Transactions of dead workers that a claim ended.")
REBUILDS: Final = _counter("caesura_rebuilds_total", "Partitions rebuilt from the log, because Redis was behind it.")
REBUILD_LOST_SESSIONS: Final = _counter(
    "caesura_rebuild_lost_sessions_total", "Sessions whose words were no longer in the input."
)
REBUILD_LOST_WORDS: Final = _counter("caesura_rebuild_lost_words_total", "Their words that were never published.")
REBUILD_LOST_RECORDS: Final = _counter(
    "caesura_rebuild_lost_records_total", "Offsets that a rebuild needed and that lie below the input's start."
)
PARTITIONS: Final = _gauge("caesura_partitions", f"Partitions held, by phase: {', '.join(PhaseName)}.", "phase")
PARTITION_PARKED: Final = _gauge(
    "caesura_partition_parked", "1 for a partition that waits for an operator.", "partition", "reason"
)
# words before they freeze, and clients over WebSocket
TENTATIVE_LOOKS: Final = _counter(
    "caesura_tentative_looks_total",
    "Records of unfrozen words: offered, dropped (a newer one, a queue, a broker), passed_over under load.",
    "outcome",
)
SERVE_CONNECTIONS: Final = _gauge("caesura_serve_connections", "Clients connected to `caesura serve` or `view`.")
SERVE_SESSIONS: Final = _gauge("caesura_serve_sessions", "Sessions in the memory of `caesura serve`.")
SERVE_WORDS: Final = _counter("caesura_serve_words_total", "Words that clients have sent to `caesura serve`.")
SERVE_REFUSED: Final = _counter(
    "caesura_serve_refused_total", "Messages, openings and connections that were refused, by reason.", "reason"
)
# the process
LOOP_TURNS: Final = _counter(
    "caesura_loop_turns_total", "Turns of the loop. If the count stands still, the worker is not alive."
)
READY: Final = _gauge("caesura_ready", "1 if this worker is ready.")

METRICS: Final = tuple(_ALL)
"""Every row above, in their order."""

_OF_CLIENTS = (SERVE_CONNECTIONS, SERVE_SESSIONS, SERVE_WORDS, SERVE_REFUSED)
_OF_LABELLING = (
    *(BATCH_SESSIONS, BATCH_WORDS, INFERENCE_SECONDS, QUEUE_AGE_SECONDS, ENGINE_FAILURES),
    *(LAYER_ROWS, BEGUN_BUFFERS, EVICTED_SESSIONS, KEPT_BYTES, TENTATIVE_LOOKS),
    *(ENGINE_RESTARTS, ENGINE_CPU_SECONDS, ENGINE_RESIDENT_BYTES),
)

WORKER_METRICS: Final = tuple(metric for metric in METRICS if metric not in _OF_CLIENTS)
"""What a worker tells of itself."""

SERVICE_METRICS: Final = tuple(metric for metric in METRICS if metric in _OF_CLIENTS or metric in _OF_LABELLING)
"""What ``caesura serve`` and ``view`` tell: nothing that alerts and dashboards would take for a worker's."""


def markdown() -> str:
    """Return the tables for the docs: one for each set of processes that report the same metrics."""
    both = [metric for metric in WORKER_METRICS if metric in SERVICE_METRICS]
    sections = {
        "Of a worker": [metric for metric in WORKER_METRICS if metric not in both],
        "Of a worker, `caesura serve` and `caesura view`": both,
        "Of `caesura serve` and `caesura view`": [metric for metric in SERVICE_METRICS if metric not in both],
    }
    return "\n".join(f"## {title}\n\n{_table(metrics)}" for title, metrics in sections.items())


def _table(metrics: list[Metric]) -> str:
    rows = [
        f"| `{metric.name}` | {metric.kind} | {', '.join(f'`{label}`' for label in metric.labels)} | {metric.help} |"
        for metric in metrics
    ]
    return "\n".join(["| metric | kind | labels | meaning |", "|---|---|---|---|", *rows]) + "\n"
