"""Every metric of the table is moved by something that is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace

from caesura.schemas.dead_letters import DeadLetterReason
from caesura.worker.core.decoding.decoding_counts import DecodingCounts
from caesura.worker.errors import AwaitedBroker, BrokerRole
from caesura.worker.ports.commit_steps import DecodingCounted, ProducerRebuilt, SegmentsPublished
from caesura.worker.ports.observer import (
    BatchLabelled,
    BatchQueued,
    CallFailed,
    ClaimWaits,
    EngineFailed,
    EngineRestarted,
    EventRefused,
    EventRepeated,
    LoopMoved,
    PartitionClaimed,
    PartitionParked,
    PartitionRebuilt,
    PhaseEntered,
    PositionMeasured,
    ReadinessReported,
    Rebalanced,
    RebuildSummary,
    SavesBehind,
    SessionsCounted,
    SessionsFlooding,
    TookOver,
)
from caesura.worker.ports.reasons import (
    CalledPart,
    CheckpointOutcome,
    ClaimVerdict,
    ClaimWaitReason,
    ParkReason,
    PhaseName,
    RebalanceKind,
    SaveOutcome,
)
from caesura.worker.ports.service_events import (
    ClientRefused,
    ClientsConnected,
    ClientWordsTaken,
    SessionsServed,
    UnfrozenReported,
)
from caesura.worker.service.server.messages import RefusalReason
from caesura.worker.service.server.telemetry import ServiceTelemetry
from caesura.worker.telemetry.metric_table import METRICS, SERVICE_METRICS, WORKER_METRICS, Metric
from caesura.worker.telemetry.metrics import Metrics
from tests.harness.watched_telemetry import COMMITTED, Watched, secret

LABELLED = BatchLabelled(
    sessions=8,
    words=120,
    took_s=0.5,
    layer_rows=144,
    begun_buffers=2,
    evicted_sessions=1,
    kept_bytes=10_000,
    cpu_s=0.25,
    resident_bytes=1,
)


def moved(metrics: Metrics) -> set[str]:
    return {family.name for family in metrics.registry.collect() if any(one.value for one in family.samples)}


def names_of(rows: Sequence[Metric]) -> set[str]:
    return {metric.name.removesuffix("_total") for metric in rows}


def test_every_metric_of_a_worker_is_moved_by_something_that_the_runtime_tells() -> None:
    watched = Watched()
    told = watched.observer
    told.note(LoopMoved())
    told.note(ReadinessReported(reasons=[]))
    told.note(Rebalanced(kind=RebalanceKind.ASSIGNED, partitions=[0, 1]))
    told.note(PhaseEntered(partition=0, phase=PhaseName.CLAIMING))
    told.note(ClaimWaits(partition=0, reason=ClaimWaitReason.STORE_FAILED))
    told.note(TookOver(partition=0, transactional_id="blue-1"))
    told.note(
        PartitionRebuilt(
            partition=0,
            summary=RebuildSummary(sessions=1, ledger_records=1, input_records=1, lost_sessions=1, lost_words=1),
            took_s=0.5,
        )
    )
    told.note(PartitionClaimed(partition=0, verdict=ClaimVerdict.GOOD, sessions=12, took_s=0.5))
    told.note(PartitionParked(partition=1, reason=ParkReason.STATE_UNREADABLE, detail=""))
    told.note(PositionMeasured(partition=0, next_offset=10, end_offset=14, oldest_unread_ms=2500, held_ms=1))
    told.note(SessionsCounted(partition=0, by_status={"open": 3}))
    told.note(LABELLED)
    told.note(BatchQueued(oldest_s=0.5))
    told.note(UnfrozenReported(offered=1))
    told.note(EngineFailed(sessions=8))
    told.note(CallFailed(part=CalledPart.BROKER, call="poll", error="BrokerError"))
    told.note(EventRefused(partition=0, offset=77, reason=DeadLetterReason.MALFORMED))
    told.note(EngineRestarted(times=1))
    told.note(EventRepeated(partition=0))
    told.note(ReadinessReported(reasons=(), awaits=AwaitedBroker(role=BrokerRole.GROUP_COORDINATOR)))
    told.note(ProducerRebuilt(reason=CheckpointOutcome.COMMIT_UNKNOWN))
    told.note(
        replace(
            COMMITTED,
            outcome=CheckpointOutcome.ABORTED_FENCED,
            dropped={0: CheckpointOutcome.ABORTED_FENCED},
        )
    )
    told.note(CallFailed(part=CalledPart.STORE, call="save", error="StoreError"))
    told.note(SavesBehind(partition=0, outcome=SaveOutcome.UNANSWERED, behind_s=1.0))
    told.note(SegmentsPublished(partition=0, segments=[secret()]))
    counted = {
        field.name: 1 for field in fields(DecodingCounts) if field.name not in ("segments", "freeze_delay_words")
    }
    told.note(DecodingCounted(counts=DecodingCounts(**counted, freeze_delay_words=Counter({11: 1}))))  # type: ignore[arg-type]

    assert moved(watched.metrics) == names_of(WORKER_METRICS)


def test_every_metric_of_a_service_is_moved_by_something_that_it_tells() -> None:
    telemetry = ServiceTelemetry()
    told = telemetry.observer
    told.note(ClientsConnected(count=1))
    told.note(SessionsServed(count=1))
    told.note(ClientWordsTaken(words=1))
    told.note(ClientRefused(reason=RefusalReason.IDLE))
    told.note(LABELLED)
    told.note(BatchQueued(oldest_s=0.5))
    told.note(UnfrozenReported(offered=1))
    told.note(EngineFailed(sessions=8))
    told.note(SessionsFlooding(queued_words={}))

    assert moved(telemetry.metrics) == names_of(SERVICE_METRICS)


def test_a_metric_is_told_by_a_worker_or_by_a_service() -> None:
    assert {*WORKER_METRICS, *SERVICE_METRICS} == set(METRICS)
