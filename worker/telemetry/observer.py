"""Turns events of the runtime into log lines, metrics and health, in one ``match``.

There is a line for each checkpoint, rebalance, claim, dead letter and change of readiness; none for a word. Of sessions
it names only one that begins to flood.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from typing_extensions import override

from caesura.schemas.segments import Segment
from caesura.worker.core.decoding.decoding_counts import DecodingCounts
from caesura.worker.errors import AwaitedBroker
from caesura.worker.ports import commit_steps as commit
from caesura.worker.ports import observer as events
from caesura.worker.ports.reasons import CalledPart, PhaseName, RebalanceKind, SaveOutcome
from caesura.worker.telemetry import metric_table as table
from caesura.worker.telemetry.health import Health
from caesura.worker.telemetry.labelling_observer import LabellingObserver
from caesura.worker.telemetry.log import Log, SaidLately
from caesura.worker.telemetry.log_fields import OWN_TEXT_LENGTH, EventName
from caesura.worker.telemetry.metric_table import Metric
from caesura.worker.telemetry.metrics import Metrics

_COUNTED: tuple[tuple[str, Metric], ...] = (
    ("events", table.EVENTS),
    ("gaps", table.GAPS),
    ("missed_events", table.MISSED_EVENTS),
    ("unknown_targets", table.UNKNOWN_TARGETS),
    ("takeovers", table.MODEL_TAKEOVERS),
    ("unmodelled_words", table.UNMODELLED_WORDS),
    ("fallbacks", table.FALLBACKS),
)
_ALIKE_S = 10.0
"""How long a fault that goes on stands in the log with one line."""
_CHANGES = ("opened", "reopened", "closed", "forgotten")


class TelemetryObserver(LabellingObserver):
    """The worker's: called by the loop's thread alone; never raises."""

    def __init__(self, *, log: Log, metrics: Metrics, health: Health) -> None:
        super().__init__(log=log, metrics=metrics)
        self._health = health
        self._said = SaidLately(within_s=_ALIKE_S, most=1000)
        self._unready: tuple[str, ...] | None = None
        self._was_ready = False
        self._awaits: AwaitedBroker | None = None
        self._phases: dict[int, PhaseName] = {}
        metrics.set(table.READY, 0)
        self._count_phases()

    @override
    def note(self, event: events.Event) -> None:  # noqa: C901, PLR0912, PLR0915 - an arm an event, that is the point
        """Write what belongs into a line, count what belongs into a metric."""
        add = self._metrics.add
        match event:
            case events.LoopMoved():
                self._health.loop_moved()
                add(table.LOOP_TURNS)
            case events.ReadinessReported():
                self._readiness(tuple(event.reasons))
                self._await(event.awaits)
            case commit.CheckpointTaken():
                self._checkpoint(event)
            case commit.SegmentsPublished():
                self._published(event.segments)
            case commit.DecodingCounted():
                self._decoding(event.counts)
            case commit.ProducerRebuilt():
                self._log.warning("producer_rebuilt", reason=str(event.reason))
                add(table.PRODUCER_REBUILDS, reason=str(event.reason))
            case events.Rebalanced():
                self._rebalanced(event.kind, event.partitions)
            case events.ClaimWaits():
                self._warn_once("claim_waits", event, partition=event.partition, reason=str(event.reason))
                add(table.CLAIMS_WAITING, reason=str(event.reason))
            case events.PhaseEntered():
                self._enter(event.partition, event.phase)
            case events.PartitionClaimed():
                self._claimed(event)
            case events.PartitionCaughtUp():
                self._caught_up(event)
            case events.PartitionRebuilt():
                self._rebuilt(event)
            case events.PartitionParked():
                reason = str(event.reason)
                self._log.error("parked", partition=event.partition, reason=reason, detail=event.detail)
                self._metrics.set_of(event.partition, table.PARTITION_PARKED, 1, reason=reason)
            case events.PartitionLetGo():
                self._metrics.drop(event.partition)
                self._phases.pop(event.partition, None)
                self._count_phases()
            case events.TookOver():
                self._log.warning("took_over", partition=event.partition, peer=event.transactional_id)
                add(table.TAKEOVERS)
            case events.PositionMeasured():
                lag, age_s = event.end_offset - event.next_offset, event.oldest_unread_ms / 1000.0
                self._metrics.set_of(event.partition, table.LAG_RECORDS, max(0, lag))
                self._metrics.set_of(event.partition, table.OLDEST_UNREAD_AGE_SECONDS, max(0.0, age_s))
                self._metrics.set_of(event.partition, table.INPUT_HELD_SECONDS, event.held_ms / 1000.0)
            case events.SavesBehind():
                add(table.SAVES, outcome=str(event.outcome))
                if event.outcome is SaveOutcome.REFUSED:
                    add(table.FENCE_REJECTIONS, by="store")
                self._metrics.set_of(event.partition, table.UNSAVED_SECONDS, event.behind_s)
            case events.SessionsCounted():
                for status, count in event.by_status.items():
                    self._metrics.set_of(event.partition, table.SESSIONS, count, status=status)
            case events.EventRefused():
                reason = str(event.reason)
                self._log.warning("dead_letter", partition=event.partition, offset=event.offset, reason=reason)
                add(table.DEAD_LETTERS, reason=reason)
            case events.EventRepeated():
                add(table.REPEATS)
            case events.CallFailed():
                self._warn_once("fault", event, kind=str(event.part), call=event.call, error=event.error)
                add(table.STORE_ERRORS if event.part is CalledPart.STORE else table.BROKER_ERRORS, call=event.call)
            case _:
                super().note(event)

    def _warn_once(self, name: EventName, event: events.ClaimWaits | events.CallFailed, **fields: object) -> None:
        """Write what is tried several times a second, and why it fails; the same once in ``_ALIKE_S``."""
        if not self._said.asked(event, time.monotonic()):
            detail = {"detail": event.detail[:OWN_TEXT_LENGTH]} if event.detail else {}
            self._log.warning(name, **fields, **detail)

    def _checkpoint(self, taken: commit.CheckpointTaken) -> None:
        say = self._log.info if not taken.dropped else self._log.warning
        say(
            "checkpoint",
            outcome=str(taken.outcome),
            partitions=taken.partitions,
            sessions=taken.sessions,
            segments=taken.segments,
            words=taken.words,
            dead_letters=taken.dead_letters,
            step_ms={step: round(took_ms, 2) for step, took_ms in taken.step_ms.items()},
            dropped={partition: str(reason) for partition, reason in taken.dropped.items()},
        )
        self._metrics.add(table.TRANSACTIONS, outcome=str(taken.outcome))
        for step, took_ms in taken.step_ms.items():
            self._metrics.observe(table.CHECKPOINT_STEP_SECONDS, took_ms / 1000.0, step=step)
        for reason in taken.dropped.values():
            if reason.fenced:
                self._metrics.add(table.FENCE_REJECTIONS, by=reason.fenced)

    def _published(self, segments: Sequence[Segment]) -> None:
        for cause, times in Counter(segment.cause.value for segment in segments).items():
            self._metrics.add(table.SEGMENTS, times, cause=cause)
        self._metrics.add(table.WORDS, sum(len(segment.words) for segment in segments))
        for segment in segments:
            if segment.words:
                waited_ms = segment.timing.frozen_ms - segment.timing.appended_ms
                self._metrics.observe(table.FREEZE_DELAY_SECONDS, max(0, waited_ms) / 1000.0)

    def _decoding(self, counts: DecodingCounts) -> None:
        """Add what decoding has counted. Repeats and segments are counted as they are told."""
        for field, metric in _COUNTED:
            if amount := getattr(counts, field):
                self._metrics.add(metric, amount)
        for change in _CHANGES:
            if amount := getattr(counts, change):
                self._metrics.add(table.SESSION_CHANGES, amount, change=change)
        for words, times in counts.freeze_delay_words.items():
            self._metrics.observe_freeze_delay(words, times)

    def _rebalanced(self, kind: RebalanceKind, partitions: Sequence[int]) -> None:
        self._log.info("rebalance", kind=str(kind), which=sorted(partitions))
        self._metrics.add(table.REBALANCES, kind=str(kind))

    def _claimed(self, claimed: events.PartitionClaimed) -> None:
        verdict, took_ms = str(claimed.verdict), round(claimed.took_s * 1000.0, 1)
        self._log.info(
            "claimed", partition=claimed.partition, verdict=verdict, sessions=claimed.sessions, took_ms=took_ms
        )
        self._metrics.add(table.CLAIMS, verdict=verdict)
        self._metrics.observe(table.CLAIM_SECONDS, claimed.took_s)

    def _caught_up(self, caught_up: events.PartitionCaughtUp) -> None:
        summary = caught_up.summary
        self._log.info(
            "caught_up",
            partition=caught_up.partition,
            sessions=summary.sessions,
            ledger_records=summary.ledger_records,
            input_records=summary.input_records,
            took_ms=round(caught_up.took_s * 1000.0, 1),
        )

    def _rebuilt(self, rebuilt: events.PartitionRebuilt) -> None:
        """Write a rebuild's line; an error where the input does not hold every word any more."""
        summary = rebuilt.summary
        say = self._log.error if summary.lost_sessions or summary.lost_records else self._log.warning
        say(
            "rebuilt",
            partition=rebuilt.partition,
            sessions=summary.sessions,
            ledger_records=summary.ledger_records,
            input_records=summary.input_records,
            lost_sessions=summary.lost_sessions,
            lost_words=summary.lost_words,
            lost_records=summary.lost_records,
            lost_offsets=summary.lost_offsets if summary.lost_records else (),
            took_ms=round(rebuilt.took_s * 1000.0, 1),
        )
        self._metrics.add(table.REBUILDS)
        self._metrics.add(table.REBUILD_LOST_SESSIONS, summary.lost_sessions)
        self._metrics.add(table.REBUILD_LOST_WORDS, summary.lost_words)
        self._metrics.add(table.REBUILD_LOST_RECORDS, summary.lost_records)

    def _readiness(self, unready: tuple[str, ...]) -> None:
        """Write a line only where readiness has changed; a worker that still starts is no reason for a warning."""
        self._health.set_unready(unready)
        if unready == self._unready:
            return
        self._unready = unready
        self._metrics.set(table.READY, 0 if unready else 1)
        if unready:
            say = self._log.warning if self._was_ready else self._log.info
            say("not_ready", reasons=unready)
        else:
            self._was_ready = True
            self._log.info("ready")

    def _await(self, broker: AwaitedBroker | None) -> None:
        """Show which broker checkpoints wait for, and the last one no more."""
        if broker == self._awaits:
            return
        for one, value in ((self._awaits, 0), (broker, 1)):
            if one is not None:
                topic, partition = (one.topic, str(one.partition)) if one.topic else ("none", "none")
                self._metrics.set(table.BROKER_AWAITED, value, role=str(one.role), topic=topic, partition=partition)
        self._awaits = broker

    def _enter(self, partition: int, phase: PhaseName) -> None:
        if self._phases.get(partition) is PhaseName.PARKED:
            self._metrics.drop(partition)
        self._phases[partition] = phase
        self._count_phases()

    def _count_phases(self) -> None:
        phases = list(self._phases.values())
        for phase in PhaseName:
            self._metrics.set(table.PARTITIONS, phases.count(phase), phase=str(phase))
