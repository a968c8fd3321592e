"""What the runtime tells becomes lines, metrics and health, and no said word gets into any of them."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import partial

import pytest

from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.segments import Cause
from caesura.worker.core.decoding.decoding_counts import DecodingCounts
from caesura.worker.errors import AwaitedBroker, BrokerRole, StoreError
from caesura.worker.ports.commit_steps import (
    CommitStep,
    CommitStepReached,
    DecodingCounted,
    ProducerRebuilt,
    SegmentsPublished,
)
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
    PartitionLetGo,
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
from caesura.worker.telemetry.log import SaidLately
from caesura.worker.telemetry.metric_table import METRICS, SERVICE_METRICS, WORKER_METRICS, Metric
from caesura.worker.telemetry.metrics import Metrics
from tests.harness.watched_telemetry import CANARY, COMMITTED, Watched, secret


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_a_checkpoint_is_one_line_and_counted_by_outcome_and_step(watched: Watched) -> None:
    watched.observer.note(COMMITTED)
    (line,) = watched.lines()
    assert (line["event"], line["level"], line["outcome"], line["words"]) == ("checkpoint", "info", "committed", 20)
    assert line["step_ms"] == {"stage": 1.23, "publish": 0.5, "commit": 8.0}
    assert (line["deployment"], line["worker"]) == ("blue", "blue-0")
    assert watched.value("caesura_transactions_total", outcome="committed") == 1
    assert watched.value("caesura_checkpoint_step_seconds_sum", step="commit") == 0.008


@pytest.mark.parametrize(
    ("reason", "by"),
    [
        (CheckpointOutcome.ABORTED_FENCED, "group"),
        (CheckpointOutcome.PUBLISHER_FENCED, "producer"),
    ],
)
def test_a_fence_that_held_is_a_warning_and_counted_by_who_held_it(
    watched: Watched, reason: CheckpointOutcome, by: str
) -> None:
    watched.observer.note(replace(COMMITTED, outcome=reason, dropped={3: reason}))
    (line,) = watched.lines()
    assert (line["level"], line["dropped"]) == ("warning", {"3": reason})
    assert watched.value("caesura_fence_rejections_total", by=by) == 1


def test_a_save_without_an_answer_shows_how_long_a_partition_is_unsaved(watched: Watched) -> None:
    watched.observer.note(SavesBehind(partition=3, outcome=SaveOutcome.UNANSWERED, behind_s=7.5))
    assert watched.value("caesura_unsaved_seconds", partition="3") == 7.5
    watched.observer.note(SavesBehind(partition=3, outcome=SaveOutcome.LANDED, behind_s=0.0))
    assert watched.value("caesura_unsaved_seconds", partition="3") == 0
    assert watched.value("caesura_saves_total", outcome="unanswered") == 1


def test_published_segments_are_counted_by_cause_with_their_delay(watched: Watched) -> None:
    watched.observer.note(
        SegmentsPublished(partition=0, segments=[secret(), secret(Cause.SILENCE, words=3), secret(Cause.END, words=0)])
    )
    assert watched.value("caesura_segments_total", cause="sentence") == 1
    assert watched.value("caesura_segments_total", cause="silence") == 1
    assert watched.value("caesura_words_total") == 5
    assert watched.value("caesura_freeze_delay_seconds_count") == 2
    assert watched.value("caesura_freeze_delay_seconds_sum") == 0.6
    assert watched.lines() == []


def test_what_decoding_counts_is_added_up(watched: Watched) -> None:
    tally = DecodingCounts(events=7, gaps=1, missed_events=4, unmodelled_words=9, opened=2, closed=1)
    tally.freeze_delay_words.update({11: 40, 3: 2})
    watched.observer.note(DecodingCounted(counts=tally))
    watched.observer.note(DecodingCounted(counts=tally))
    assert watched.value("caesura_events_total") == 14
    assert watched.value("caesura_missed_events_total") == 8
    assert watched.value("caesura_session_changes_total", change="opened") == 4
    assert watched.value("caesura_freeze_delay_words_bucket", le="3.0") == 4
    assert watched.value("caesura_freeze_delay_words_bucket", le="11.0") == 84
    assert watched.value("caesura_freeze_delay_words_count") == 84
    assert watched.value("caesura_freeze_delay_words_sum") == 2 * (11 * 40 + 3 * 2)


def test_a_partition_is_in_one_phase_and_leaves_no_gauge_behind(watched: Watched) -> None:
    def phases() -> list[float | None]:
        return [watched.value("caesura_partitions", phase=phase) for phase in PhaseName]

    def enter(partition: int, phase: PhaseName) -> None:
        watched.observer.note(PhaseEntered(partition=partition, phase=phase))

    assert phases() == [0, 0, 0, 0]
    enter(1, PhaseName.CLAIMING)
    enter(0, PhaseName.CLAIMING)
    watched.observer.note(Rebalanced(kind=RebalanceKind.ASSIGNED, partitions=[1, 0]))
    assert phases() == [2, 0, 0, 0]
    enter(0, PhaseName.REBUILDING)
    assert phases() == [1, 1, 0, 0]
    enter(0, PhaseName.LOADED)
    watched.observer.note(PartitionClaimed(partition=0, verdict=ClaimVerdict.GOOD, sessions=12, took_s=0.02))
    enter(1, PhaseName.PARKED)
    watched.observer.note(PartitionParked(partition=1, reason=ParkReason.STATE_UNREADABLE, detail="12 before, 24 now"))
    assert phases() == [0, 0, 1, 1]
    assert watched.value("caesura_partition_parked", partition="1", reason=ParkReason.STATE_UNREADABLE) == 1
    enter(1, PhaseName.CLAIMING)
    watched.observer.note(ClaimWaits(partition=1, reason=ClaimWaitReason.UNPARKED))
    assert phases() == [1, 0, 1, 0]
    assert watched.value("caesura_partition_parked", partition="1", reason=ParkReason.STATE_UNREADABLE) is None
    watched.observer.note(PositionMeasured(partition=0, next_offset=10, end_offset=14, oldest_unread_ms=2500))
    watched.observer.note(SessionsCounted(partition=0, by_status={"open": 3, "closed": 9}))
    assert watched.value("caesura_lag_records", partition="0") == 4
    assert watched.value("caesura_oldest_unread_age_seconds", partition="0") == 2.5
    assert watched.value("caesura_sessions", partition="0", status="open") == 3
    watched.observer.note(PartitionLetGo(partition=0))
    assert phases() == [1, 0, 0, 0]
    assert watched.value("caesura_lag_records", partition="0") is None
    assert watched.value("caesura_sessions", partition="0", status="open") is None
    assert [line["event"] for line in watched.lines()] == ["rebalance", "claimed", "parked", "claim_waits"]
    assert watched.lines()[2]["detail"] == "12 before, 24 now"


def test_readiness_is_a_line_only_where_it_changes(watched: Watched) -> None:
    watched.observer.note(LoopMoved())
    for reasons in (["store: StoreError"], ["store: StoreError"], [], []):
        watched.observer.note(ReadinessReported(reasons=reasons))
    assert [line["event"] for line in watched.lines()] == ["not_ready", "ready"]
    assert watched.lines()[0]["reasons"] == ["store: StoreError"]
    assert watched.health.why_not_ready() == ()
    assert watched.value("caesura_ready") == 1


def test_a_worker_that_still_starts_is_no_reason_for_a_warning(watched: Watched) -> None:
    for reasons in (["starting"], [], ["store: StoreError"]):
        watched.observer.note(ReadinessReported(reasons=reasons))
    assert [(line["event"], line["level"]) for line in watched.lines()] == [
        ("not_ready", "info"),
        ("ready", "info"),
        ("not_ready", "warning"),
    ]


def test_the_engines_work_is_measured(watched: Watched) -> None:
    watched.observer.note(BatchLabelled(sessions=8, words=120, took_s=0.03))
    watched.observer.note(BatchQueued(oldest_s=0.05))
    watched.observer.note(EngineFailed(sessions=8, detail="model en-a: a step of 8 sessions failed: RuntimeError"))
    (line,) = watched.lines()
    assert (line["event"], line["sessions"]) == ("engine_failed", 8)
    assert line["detail"] == "model en-a: a step of 8 sessions failed: RuntimeError"
    assert watched.value("caesura_batch_sessions_sum") == 8
    assert watched.value("caesura_batch_words_sum") == 120
    assert watched.value("caesura_queue_age_seconds_sum") == 0.05
    assert watched.value("caesura_engine_failures_total") == 1


def test_sessions_that_begin_to_flood_are_named(watched: Watched) -> None:
    watched.observer.note(SessionsFlooding(queued_words={"call-17": 1200, "call-9": 301}))
    assert [(line["event"], line["session"], line["words"]) for line in watched.lines()] == [
        ("session_floods", "call-17", 1200),
        ("session_floods", "call-9", 301),
    ]


def test_faults_and_refusals_are_counted_by_their_names(watched: Watched) -> None:
    watched.observer.note(CallFailed(part=CalledPart.STORE, call="ping", error="StoreError"))
    watched.observer.note(CallFailed(part=CalledPart.BROKER, call="poll", error="BrokerError"))
    watched.observer.note(EventRefused(partition=2, offset=77, reason=DeadLetterReason.MALFORMED))
    watched.observer.note(EventRepeated(partition=2))
    watched.observer.note(ProducerRebuilt(reason=CheckpointOutcome.COMMIT_UNKNOWN))
    assert watched.value("caesura_store_errors_total", call="ping") == 1
    assert watched.value("caesura_broker_errors_total", call="poll") == 1
    assert watched.value("caesura_dead_letters_total", reason="malformed") == 1
    assert watched.value("caesura_repeats_total") == 1
    assert watched.value("caesura_producer_rebuilds_total", reason="commit_unknown") == 1


def test_a_fault_that_lasts_is_said_with_its_reason_and_not_at_every_try(watched: Watched) -> None:
    refused = StoreError("asking Redis for a sign of life at redis:6379: connection refused: nothing listens there")
    for _ in range(50):
        watched.observer.note(CallFailed.of("ping", refused))
        for partition in (0, 1):
            waits = ClaimWaits(partition=partition, reason=ClaimWaitReason.STORE_FAILED, detail=str(refused))
            watched.observer.note(waits)
    watched.observer.note(CallFailed.of("ping", StoreError("no answer in time")))
    lines = watched.lines()
    assert [line["event"] for line in lines] == ["fault", "claim_waits", "claim_waits", "fault"]
    assert [line["detail"] for line in lines] == [*[str(refused)] * 3, "no answer in time"]
    assert (lines[0]["kind"], lines[0]["call"], lines[0]["error"]) == ("store", "ping", "StoreError")
    assert watched.value("caesura_store_errors_total", call="ping") == 51
    assert watched.value("caesura_claims_waiting_total", reason=str(ClaimWaitReason.STORE_FAILED)) == 100


def test_a_fault_at_many_addresses_is_told_with_what_fits_of_its_text(watched: Watched) -> None:
    addresses = ", ".join(f"redis-{number}.redis.caesura.svc.cluster.local:6379" for number in range(30))
    refused = StoreError(f"claiming partition 3 at {addresses}: nobody answers")
    watched.observer.note(CallFailed.of("claim", refused))
    watched.observer.note(ClaimWaits(partition=3, reason=ClaimWaitReason.STORE_FAILED, detail=str(refused)))
    assert [str(line["detail"])[:24] for line in watched.lines()] == ["claiming partition 3 at "] * 2


def test_a_repeated_line_is_logged_again_after_the_interval() -> None:
    said = SaidLately(within_s=10.0, most=2)
    assert [said.asked("a", now_s) for now_s in (0.0, 9.9, 10.0, 19.0, 20.0)] == [False, True, False, True, False]
    assert [said.asked(what, 21.0) for what in ("b", "c", "a")] == [False, False, False]  # no room for three


def test_a_rebuilds_missed_records_are_logged_and_counted(watched: Watched) -> None:
    whole = RebuildSummary(sessions=3, ledger_records=2, input_records=9, lost_sessions=0, lost_words=0)
    watched.observer.note(PartitionRebuilt(partition=4, summary=whole, took_s=0.5))
    watched.observer.note(PartitionRebuilt(partition=4, summary=replace(whole, lost_offsets=(7, 10)), took_s=0.5))
    first, second = watched.lines()
    assert (first["level"], first["lost_records"], first["lost_offsets"]) == ("warning", 0, [])
    assert (second["level"], second["lost_records"], second["lost_offsets"]) == ("error", 3, [7, 10])
    assert (second["event"], second["partition"]) == ("rebuilt", 4)
    assert watched.value("caesura_rebuild_lost_records_total") == 3


def test_a_commit_step_needs_no_line_of_its_own(watched: Watched) -> None:
    watched.observer.note(CommitStepReached(step=CommitStep.SAVED))
    assert watched.lines() == []


def test_a_word_that_strays_into_a_reason_gets_into_neither_line_nor_metric(watched: Watched) -> None:
    said = f"well {CANARY}, I mean"
    watched.observer.note(EventRefused(partition=2, offset=77, reason=said))  # type: ignore[arg-type]
    watched.observer.note(ClaimWaits(partition=1, reason=said))  # type: ignore[arg-type]
    watched.observer.note(PartitionParked(partition=1, reason=said, detail=""))  # type: ignore[arg-type]
    watched.observer.note(PartitionClaimed(partition=1, verdict=said, sessions=1, took_s=0.1))  # type: ignore[arg-type]
    watched.observer.note(Rebalanced(kind=said, partitions=[1]))  # type: ignore[arg-type]
    watched.observer.note(ProducerRebuilt(reason=said))  # type: ignore[arg-type]
    watched.observer.note(CallFailed(part=CalledPart.STORE, call=said, error=said))
    watched.observer.note(replace(COMMITTED, outcome=said, step_ms={said: 1.0}))  # type: ignore[arg-type]
    watched.observer.note(SessionsCounted(partition=1, by_status={said: 1}))
    watched.observer.note(SegmentsPublished(partition=1, segments=[secret()]))
    assert CANARY not in watched.stream.getvalue()
    assert CANARY not in str([list(family.samples) for family in watched.metrics.registry.collect()])
    assert {str(line["withheld"]) for line in watched.lines()} >= {"['reason']", "['outcome', 'step_ms']"}


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


def test_a_fault_of_the_server_is_logged_once_a_minute_and_place(capsys: pytest.CaptureFixture[str]) -> None:
    def raised(where: Callable[[], object]) -> Exception:
        try:
            where()
        except Exception as error:  # noqa: BLE001 - whatever it is
            return error
        raise AssertionError

    ServiceTelemetry()
    for _ in range(100):
        for error in (raised(list[int]().pop), raised(partial(dict[str, str]().pop, "SAID"))):
            logging.getLogger("uvicorn.error").error("an answer failed", exc_info=error)
    told = capsys.readouterr().err
    assert [json.loads(line)["error"] for line in told.splitlines()] == ["IndexError", "KeyError"]
    assert "SAID" not in told


def test_a_metric_is_told_by_a_worker_or_by_a_service() -> None:
    assert {*WORKER_METRICS, *SERVICE_METRICS} == set(METRICS)
