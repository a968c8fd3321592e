"""Turns what the runtime tells of itself into canonical log lines, metrics and health.

It has the shape of ``worker.runtime.observer.Observer`` and stands below the runtime, which it does not import. Lines:
one a checkpoint, a rebalance, a claim, a dead letter, a change of readiness; none a word; of sessions only one that
begins to flood is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schemas.segments import Segment
from worker.core.decoding_counts import DecodingCounts
from worker.telemetry.facts import CheckpointFacts, RebuildFacts
from worker.telemetry.health import Health
from worker.telemetry.log import Log
from worker.telemetry.metric_table import MetricName
from worker.telemetry.metrics import Metrics

__all__ = ["TelemetryObserver"]

_FENCED_BY: Mapping[str, str] = {
    "save_refused": "store",
    "aborted_fenced": "group",
    "publisher_fenced": "producer",
}
"""Why a partition was left out of a checkpoint, where that was somebody newer; by whom."""

_TALLIED: tuple[tuple[str, MetricName], ...] = (
    ("events", "caesura_events_total"),
    ("gaps", "caesura_gaps_total"),
    ("missed_events", "caesura_missed_events_total"),
    ("unknown_targets", "caesura_unknown_targets_total"),
    ("takeovers", "caesura_model_takeovers_total"),
    ("unmodelled_words", "caesura_unmodelled_words_total"),
    ("fallbacks", "caesura_fallbacks_total"),
)
_CHANGES = ("opened", "reopened", "closed", "forgotten")


class TelemetryObserver:
    """Called by the loop's thread alone; never raises."""

    def __init__(self, *, log: Log, metrics: Metrics, health: Health) -> None:
        self._log = log
        self._metrics = metrics
        self._health = health
        self._unready: tuple[str, ...] | None = None
        self._phases: dict[int, str] = {}
        self._flooding: frozenset[str] = frozenset()
        metrics.set("caesura_ready", 0)
        self._count_phases()

    def loop_moved(self) -> None:
        """Note that the loop turned once more: liveness."""
        self._health.loop_moved()
        self._metrics.add("caesura_loop_turns_total")

    def seam(self, step: str) -> None:
        """Note a step of the seam: its time stands in the checkpoint's line."""

    def checkpoint(self, summary: CheckpointFacts) -> None:
        """Write a checkpoint's canonical line and count it."""
        say = self._log.info if not summary.dropped else self._log.warning
        say(
            "checkpoint",
            outcome=summary.outcome,
            partitions=summary.partitions,
            sessions=summary.sessions,
            segments=summary.segments,
            words=summary.words,
            dead_letters=summary.dead_letters,
            step_ms={step: round(took_ms, 2) for step, took_ms in summary.step_ms.items()},
            dropped=dict(summary.dropped),
        )
        self._metrics.add("caesura_transactions_total", outcome=summary.outcome)
        for step, took_ms in summary.step_ms.items():
            self._metrics.observe("caesura_checkpoint_step_seconds", took_ms / 1000.0, step=step)
        for reason in summary.dropped.values():
            if reason in _FENCED_BY:
                self._metrics.add("caesura_fence_rejections_total", by=_FENCED_BY[reason])
            if reason == "save_unanswered":
                self._metrics.add("caesura_store_errors_total", call="write")

    def published(self, partition: int, segments: Sequence[Segment]) -> None:
        """Count segments whose checkpoint has committed."""
        del partition
        for segment in segments:
            self._metrics.add("caesura_segments_total", cause=segment.cause.value)
            if segment.words:
                self._metrics.add("caesura_words_total", len(segment.words))
                waited_ms = segment.timing.frozen_ms - segment.timing.appended_ms
                self._metrics.observe("caesura_freeze_delay_seconds", max(0, waited_ms) / 1000.0)

    def tallied(self, tally: DecodingCounts) -> None:
        """Add what decoding has counted since the last call. Repeats and segments are counted as they are told."""
        for field, name in _TALLIED:
            if amount := getattr(tally, field):
                self._metrics.add(name, amount)
        for change in _CHANGES:
            if amount := getattr(tally, change):
                self._metrics.add("caesura_session_changes_total", amount, change=change)
        for words, times in tally.freeze_delay_words.items():
            self._metrics.observe_freeze_delay(words, times)

    def sessions(self, partition: int, by_status: Mapping[str, int]) -> None:
        """Note how many sessions a partition has in memory, by status."""
        for status, count in by_status.items():
            self._metrics.set_of(partition, "caesura_sessions", count, status=status)

    def rebalanced(self, kind: str, partitions: Sequence[int]) -> None:
        """Write a rebalance's canonical line."""
        self._log.info("rebalance", kind=kind, which=sorted(partitions))
        self._metrics.add("caesura_rebalances_total", kind=kind)
        if kind == "assigned":
            self._phases.update(dict.fromkeys(partitions, "claiming"))
            self._count_phases()

    def claimed(self, partition: int, verdict: str, sessions: int, took_s: float) -> None:
        """Write a claim's canonical line."""
        took_ms = round(took_s * 1000.0, 1)
        self._log.info("claimed", partition=partition, verdict=str(verdict), sessions=sessions, took_ms=took_ms)
        self._metrics.add("caesura_claims_total", verdict=str(verdict))
        self._metrics.observe("caesura_claim_seconds", took_s)
        self._enter(partition, "loaded")

    def rebuilt(self, partition: int, summary: RebuildFacts, took_s: float) -> None:
        """Write a rebuild's canonical line; an error where the input does not hold every word any more."""
        say = self._log.error if summary.lost_sessions or summary.lost_records else self._log.warning
        say(
            "rebuilt",
            partition=partition,
            sessions=summary.sessions,
            ledger_records=summary.ledger_records,
            input_records=summary.input_records,
            lost_sessions=summary.lost_sessions,
            lost_words=summary.lost_words,
            lost_records=summary.lost_records,
            lost_offsets=summary.lost_offsets if summary.lost_records else (),
            took_ms=round(took_s * 1000.0, 1),
        )
        self._metrics.add("caesura_rebuilds_total")
        self._metrics.add("caesura_rebuild_lost_sessions_total", summary.lost_sessions)
        self._metrics.add("caesura_rebuild_lost_words_total", summary.lost_words)
        self._metrics.add("caesura_rebuild_lost_records_total", summary.lost_records)

    def took_over(self, partition: int, transactional_id: str) -> None:
        """Write the line of a dead peer's transaction that was ended."""
        self._log.warning("took_over", partition=partition, peer=transactional_id)
        self._metrics.add("caesura_takeovers_total")

    def waiting(self, partition: int, reason: str) -> None:
        """Note a partition that cannot be claimed yet, or must be claimed again."""
        self._log.warning("claim_waits", partition=partition, reason=reason)
        self._metrics.add("caesura_claims_waiting_total", reason=reason)
        self._enter(partition, "claiming")

    def parked(self, partition: int, reason: str, detail: str) -> None:
        """Note a partition that waits for an operator; ``detail`` is our own text, and says what to do."""
        self._log.error("parked", partition=partition, reason=reason, detail=detail)
        self._enter(partition, "parked")
        self._metrics.set_of(partition, "caesura_partition_parked", 1, reason=reason)

    def let_go(self, partition: int) -> None:
        """Drop the gauges of a partition that is no longer held."""
        self._metrics.drop(partition)
        self._phases.pop(partition, None)
        self._count_phases()

    def dead_letter(self, partition: int, offset: int, reason: str) -> None:
        """Write a dead letter's canonical line."""
        self._log.warning("dead_letter", partition=partition, offset=offset, reason=reason)
        self._metrics.add("caesura_dead_letters_total", reason=reason)

    def repeated(self, partition: int) -> None:
        """Count a repeated event."""
        del partition
        self._metrics.add("caesura_repeats_total")

    def labelled(self, sessions: int, words: int, took_s: float) -> None:
        """Count one batch through the engine."""
        self._metrics.observe("caesura_batch_sessions", sessions)
        self._metrics.observe("caesura_batch_words", words)
        self._metrics.observe("caesura_inference_seconds", took_s)

    def queued(self, oldest_s: float) -> None:
        """Note how long the oldest session of a batch waited for it."""
        self._metrics.observe("caesura_queue_age_seconds", oldest_s)

    def flooding(self, queued_words: Mapping[str, int]) -> None:
        """Name a session in a line when it begins to flood, and not again before it has stopped."""
        for session, words in queued_words.items():
            if session not in self._flooding:
                self._log.warning("session_floods", session=session, words=words)
        self._flooding = frozenset(queued_words)

    def engine_failed(self, sessions: int) -> None:
        """Note a batch that the engine refused."""
        self._log.error("engine_failed", sessions=sessions)
        self._metrics.add("caesura_engine_failures_total")

    def faulted(self, part: str, call: str, error: str) -> None:
        """Note a call that failed: ``part`` is ``store`` or ``broker``, ``error`` the kind of error."""
        self._log.warning("fault", kind=part, call=call, error=error)
        name: MetricName = "caesura_store_errors_total" if part == "store" else "caesura_broker_errors_total"
        self._metrics.add(name, call=call)

    def position(self, partition: int, next_offset: int, end_offset: int, oldest_unread_ms: int) -> None:
        """Note how far a partition is read, and how old its oldest unread word is."""
        self._metrics.set_of(partition, "caesura_lag_records", max(0, end_offset - next_offset))
        self._metrics.set_of(partition, "caesura_oldest_unread_age_seconds", max(0, oldest_unread_ms) / 1000.0)

    def publisher_rebuilt(self, reason: str) -> None:
        """Note a producer destroyed and made anew."""
        self._log.warning("producer_rebuilt", reason=reason)
        self._metrics.add("caesura_producer_rebuilds_total", reason=reason)

    def readiness(self, reasons: Sequence[str]) -> None:
        """Note why this worker should not count as ready; a line only where that has changed."""
        unready = tuple(reasons)
        self._health.set_unready(unready)
        if unready == self._unready:
            return
        self._unready = unready
        self._metrics.set("caesura_ready", 0 if unready else 1)
        if unready:
            self._log.warning("not_ready", reasons=unready)
        else:
            self._log.info("ready")

    def _enter(self, partition: int, phase: str) -> None:
        if self._phases.get(partition) == "parked" and phase != "parked":
            self._metrics.drop(partition)
        self._phases[partition] = phase
        self._count_phases()

    def _count_phases(self) -> None:
        phases = list(self._phases.values())
        for phase in ("claiming", "loaded", "parked"):
            self._metrics.set("caesura_partitions", phases.count(phase), phase=phase)
