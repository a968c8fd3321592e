"""Every metric by name, kind, labels and meaning: the one table that code, dashboards and docs/metrics.md go by.

Names carry their unit; durations are in seconds as Prometheus wants them. Label values are short lower-case names from
our own code, never a session or a word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["METRICS", "Metric", "MetricName", "markdown"]

MetricName = Literal[
    "caesura_batch_sessions",
    "caesura_batch_words",
    "caesura_broker_errors_total",
    "caesura_checkpoint_step_seconds",
    "caesura_claim_seconds",
    "caesura_claims_total",
    "caesura_claims_waiting_total",
    "caesura_dead_letters_total",
    "caesura_engine_failures_total",
    "caesura_events_total",
    "caesura_fallbacks_total",
    "caesura_fence_rejections_total",
    "caesura_freeze_delay_seconds",
    "caesura_freeze_delay_words",
    "caesura_gaps_total",
    "caesura_inference_seconds",
    "caesura_lag_records",
    "caesura_loop_turns_total",
    "caesura_missed_events_total",
    "caesura_model_takeovers_total",
    "caesura_oldest_unread_age_seconds",
    "caesura_partition_parked",
    "caesura_partitions",
    "caesura_producer_rebuilds_total",
    "caesura_queue_age_seconds",
    "caesura_ready",
    "caesura_rebalances_total",
    "caesura_rebuild_lost_records_total",
    "caesura_rebuild_lost_sessions_total",
    "caesura_rebuild_lost_words_total",
    "caesura_rebuilds_total",
    "caesura_repeats_total",
    "caesura_segments_total",
    "caesura_session_changes_total",
    "caesura_sessions",
    "caesura_store_errors_total",
    "caesura_takeovers_total",
    "caesura_transactions_total",
    "caesura_unknown_targets_total",
    "caesura_unmodelled_words_total",
    "caesura_words_total",
]

Kind = Literal["counter", "gauge", "histogram"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric. buckets: upper bounds of a histogram, in the unit of its name."""

    name: MetricName
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


_QUICK_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_DELAY_S = (0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 120.0)
_WORDS = (1, 2, 3, 6, 9, 11, 14, 20, 30, 50, 100, 200)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def _counter(name: MetricName, text: str, *labels: str) -> Metric:
    return Metric(name=name, kind="counter", help=text, labels=labels)


def _gauge(name: MetricName, text: str, *labels: str) -> Metric:
    return Metric(name=name, kind="gauge", help=text, labels=labels)


def _histogram(name: MetricName, text: str, buckets: tuple[float, ...], *labels: str) -> Metric:
    return Metric(name=name, kind="histogram", help=text, labels=labels, buckets=buckets)


METRICS: tuple[Metric, ...] = (
    # delay
    _histogram("caesura_freeze_delay_words", "Words that came after a word before its label froze.", _WORDS),
    _histogram(
        "caesura_freeze_delay_seconds", "From the append of a segment's last word in Kafka to its freezing.", _DELAY_S
    ),
    _gauge("caesura_lag_records", "Records of a partition not yet applied.", "partition"),
    _gauge("caesura_oldest_unread_age_seconds", "Age of the oldest word not yet applied; 0 at the end.", "partition"),
    # what came in and went out
    _counter("caesura_events_total", "Events applied to a session."),
    _counter("caesura_words_total", "Words published; each is counted once its transaction is committed."),
    _counter("caesura_segments_total", "Segments published, by what ended them.", "cause"),
    _counter("caesura_dead_letters_total", "Events refused, by reason.", "reason"),
    _counter("caesura_repeats_total", "Events dropped because their number had been seen."),
    _counter("caesura_gaps_total", "Gaps passed in a session's numbers."),
    _counter("caesura_missed_events_total", "Events that those gaps stand for."),
    _counter("caesura_unknown_targets_total", "Events that name a translation route which is not the operator's."),
    _counter("caesura_unmodelled_words_total", "Words of a language without a model, published without labels."),
    _gauge("caesura_sessions", "Sessions in memory, by status.", "partition", "status"),
    _counter("caesura_session_changes_total", "Sessions opened, reopened, closed and forgotten.", "change"),
    # engine
    _histogram("caesura_batch_sessions", "Sessions labelled in one inference.", _SIZES),
    _histogram("caesura_batch_words", "Words of all buffers in one inference.", tuple(16.0 * n for n in _SIZES)),
    _histogram("caesura_inference_seconds", "Time of one inference.", _QUICK_S),
    _histogram("caesura_queue_age_seconds", "How long the oldest session of a batch waited for it.", _QUICK_S),
    _counter("caesura_engine_failures_total", "Batches that the engine refused."),
    _counter("caesura_fallbacks_total", "Sessions frozen without labels because the engine failed on them alone."),
    _counter("caesura_model_takeovers_total", "Buffers whose model this worker does not have."),
    # the seam
    _histogram("caesura_checkpoint_step_seconds", "Time of a checkpoint's steps.", _QUICK_S, "step"),
    _counter("caesura_transactions_total", "Checkpoints by outcome: committed, or why not.", "outcome"),
    _counter("caesura_fence_rejections_total", "Writes refused because somebody newer owns the state.", "by"),
    _counter("caesura_producer_rebuilds_total", "Producers destroyed and made anew.", "reason"),
    _counter("caesura_store_errors_total", "Calls to Redis that failed or went unanswered.", "call"),
    _counter("caesura_broker_errors_total", "Calls to Kafka that failed or went unanswered.", "call"),
    # the group
    _counter("caesura_rebalances_total", "Rebalances, by what they did to this worker.", "kind"),
    _counter("caesura_claims_total", "Partitions claimed, by what was found.", "verdict"),
    _counter("caesura_claims_waiting_total", "Claims that had to wait, by reason.", "reason"),
    _histogram("caesura_claim_seconds", "From assignment to all sessions loaded.", _DELAY_S),
    _counter("caesura_takeovers_total", "Dead peers' transactions that a claim ended rather than waited for."),
    _counter("caesura_rebuilds_total", "Partitions made again from the log, because Redis was behind it."),
    _counter("caesura_rebuild_lost_sessions_total", "Sessions whose words the input did not hold any more."),
    _counter("caesura_rebuild_lost_words_total", "Their words that were never published."),
    _counter("caesura_rebuild_lost_records_total", "Offsets that a rebuild had to read, below the input's start."),
    _gauge("caesura_partitions", "Partitions held, by phase: claiming, loaded, parked.", "phase"),
    _gauge("caesura_partition_parked", "1 for a partition that waits for an operator.", "partition", "reason"),
    # the process
    _counter("caesura_loop_turns_total", "Turns of the loop; one that stands still is not alive."),
    _gauge("caesura_ready", "1 where this worker counts as ready."),
)


def markdown() -> str:
    """Return the table for the docs."""
    rows = [
        f"| `{metric.name}` | {metric.kind} | {', '.join(f'`{label}`' for label in metric.labels)} | {metric.help} |"
        for metric in METRICS
    ]
    return "\n".join(["| metric | kind | labels | meaning |", "|---|---|---|---|", *rows]) + "\n"
