"""The sessions of one partition in memory, ahead of the last commit by what is staged.

Nothing is ever undone in memory: after a fault the whole object is thrown away and the partition is claimed again.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from caesura.schemas.checkpoint import CheckpointId
from caesura.worker.core.decoding.decoding_counts import DecodingCounts
from caesura.worker.core.decoding.timeline import PartitionTime
from caesura.worker.core.partition.partition import PartitionSessions
from caesura.worker.ports.records import EndAnswer, Record
from caesura.worker.runtime.checkpoint.saves import PartitionSaves
from caesura.worker.runtime.checkpoint.staged_checkpoint import StagedCheckpoint, TransactionPart
from caesura.worker.runtime.partition.checkpoint_staging import Staging
from caesura.worker.runtime.partition.claim_result import ClaimResult
from caesura.worker.runtime.partition.dead_letters import Refusals
from caesura.worker.runtime.partition.partition_state import PartitionState
from caesura.worker.runtime.partition.partition_timers import PartitionTimers
from caesura.worker.runtime.partition.read_position import ReadPosition
from caesura.worker.runtime.partition.record_admission import RecordAdmission
from caesura.worker.runtime.retries.parking import Parked
from caesura.worker.runtime.retries.poison_isolation import PoisonIsolation, StepDecision
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.runtime.settings.totals import SessionTotals

__all__ = ["LoadedPartition"]


class LoadedPartition:
    """One loaded partition: records in, timers fired, checkpoints staged and adopted."""

    def __init__(
        self,
        claimed: ClaimResult,
        parts: RuntimeAdapters,
        settings: RuntimeSettings,
        *,
        sessions: PartitionSessions,
        counts: DecodingCounts,
        time: PartitionTime,
        totals: SessionTotals,
    ) -> None:
        self.partition = claimed.partition
        self.verdict = claimed.verdict
        self.nonce = claimed.nonce
        self.sessions = sessions
        self.counts = counts
        self._announced = claimed.tries.announce
        self._parts = parts
        self._state = PartitionState(
            partition=claimed.partition,
            partitions=claimed.partitions,
            sessions=sessions,
            counts=counts,
            time=time,
            position=ReadPosition(claimed.next_offset, claimed.leader_epoch),
            isolation=PoisonIsolation(claimed.retry_history),
            totals=totals,
            saves=PartitionSaves(
                claimed.partition,
                totals,
                found=None if claimed.stored is None else CheckpointId.parse(claimed.stored.id),
                changed=claimed.changed,
                store=parts.store,
                executor=parts.saving,
                clock=parts.clock,
                observer=parts.observer,
            ),
        )
        refusals = Refusals(self._state, settings, source_topic=parts.source.topic, observer=parts.observer)
        self._records = RecordAdmission(self._state, parts, settings, refusals)
        self._timers = PartitionTimers(self._state, parts.clock, settings)
        self._staging = Staging(claimed, self._state, parts, settings, refusals)

    @property
    def session_count(self) -> int:
        """Sessions in memory, closed ones included."""
        return len(self.sessions)

    @property
    def next_offset(self) -> int:
        """The next record to apply."""
        return self._state.position.next_offset

    @property
    def position(self) -> ReadPosition:
        """How far it is read and committed."""
        return self._state.position

    @property
    def parked(self) -> Parked | None:
        """Why it takes nothing more; None where it does."""
        return self._state.parked

    @property
    def unlabelled(self) -> bool:
        """Tell whether the step that is done now goes without the engine."""
        return self._state.unlabelled

    @property
    def changed(self) -> bool:
        """Tell whether a checkpoint would have anything to write."""
        return self._staging.changed

    @property
    def unproven(self) -> bool:
        """Tell whether it was rebuilt, and no checkpoint has committed since: the next one concerns nobody else."""
        return self._staging.unproven

    @property
    def announced(self) -> bool:
        """Tell whether it is unproven, and a commit counts that as a failed try until the next one takes its place."""
        return self._announced and self.unproven

    @property
    def isolating(self) -> bool:
        """Tell whether the next step waits for a checkpoint of its own."""
        return self._state.isolation.busy

    @property
    def suspects(self) -> bool:
        """Tell whether the next step has been tried before, and did not commit: others had better wait."""
        return self._state.isolation.suspects

    def take(self, record: Record, most_timers: int = sys.maxsize) -> int:
        """Apply one record: to its session, or to the dead letters. Records must come in order of offset.

        Returns how many sessions' timers fired before it. Where it makes more due than ``most_timers`` it is put off,
        and read again once they have fired, turn by turn. BrokerError: nobody answered whether the partition count has
        changed; nothing may be made of the record.
        """
        state = self._state
        if state.parked is not None or self._timers.crowded or record.offset < state.position.next_offset:
            return 0
        if state.isolation.stopped:  # nor is its time observed: what comes before it is applied first
            state.isolation.put_off()
            return 0
        polled_ms = self._parts.clock.wall_ms()
        time_ms = state.time.observe(record.timestamp_ms, polled_ms, by_broker=record.stamped_by_broker)
        if not self._timers.pass_isolation(time_ms):
            state.isolation.put_off()
            return 0
        fired = self._timers.fire_before(time_ms, most_timers)
        if not self._timers.crowded:
            self._step(record, polled_ms=polled_ms, time_ms=time_ms)
        return fired

    def _step(self, record: Record, *, polled_ms: int, time_ms: int) -> None:
        decision = self._state.isolation.decide(record.offset)
        if decision is not StepDecision.READ_AGAIN:
            self._state.unlabelled = decision is StepDecision.APPLY_UNLABELLED
            self._records.apply(record, decision, polled_ms=polled_ms, time_ms=time_ms)

    def reached_end(self, next_offset: int) -> None:
        """Note that reading met the end: from here on it may be later than the last record says."""
        if self.parked is None and not self._timers.crowded and not self._state.isolation.reads_again:
            self._state.time.reached_end(self._parts.clock.monotonic_s())
            self._state.position.reached_end(next_offset)

    def tick(self, most: int = sys.maxsize) -> int:
        """Fire what is due by the partition's time; return how many sessions had a timer fire.

        most: of how many at most; what is left is due at the next turn.
        """
        return self._timers.fire(most)

    def question(self) -> int | None:
        """Return after which offset the leader is to be asked for the end now; None: there is nothing to be asked."""
        return self._timers.question()

    def answered(self, answer: EndAnswer) -> None:
        """Take the leader's answer to the last question."""
        self._timers.answered(answer)

    def stage(self) -> StagedCheckpoint | None:
        """Collect what has changed since the last checkpoint; None where nothing has. Every session is at rest."""
        return self._staging.stage()

    def save(self) -> bool:
        """Take the answer of the save under way, and begin the next one; False: it was refused, so claim again."""
        self._state.saves.advance(self._state.sessions)
        return not self._state.saves.refused

    def finish_saves(self, until_s: float) -> None:
        """Save what is committed, and wait for the answers, up to a time of the monotonic clock; or give up."""
        self._state.saves.finish(self._state.sessions, until_s)

    def adopt(self, staged: StagedCheckpoint) -> None:
        """Make a staged checkpoint the committed one. BrokerError: the partition must be claimed again."""
        self._staging.adopt(staged)
        records_put_off, crowd_gone = self._state.isolation.committed(), self._timers.committed()
        if records_put_off or crowd_gone:
            self._state.position.went_back()
            self._state.time.left_end()
            self._parts.source.seek(self.partition, self.next_offset, self.position.leader_epoch)

    def forget_all(self, through: Mapping[str, int]) -> None:
        """Have the next checkpoint forget what the ledger says under these keys, each through its input offset."""
        self._staging.forget_all(through)

    def forgive(self) -> None:
        """Try what failed again and again as if it never had: an operator has released the partition."""
        self._state.isolation.forgive()

    def withdraw(self) -> None:
        """Have the next checkpoint count no try of a step that is announced and not begun: the worker stops."""
        self._state.isolation.withdraw(self.next_offset)

    def take_withdrawal(self) -> TransactionPart | None:
        """Return, once, what says the same with the last commit's offset: the partition goes to another member."""
        return self._staging.take_withdrawal()

    def let_go(self) -> None:
        """Drop what the engine keeps: another member, or a new claim, goes on from what is committed."""
        for name in self.sessions.awake:
            self._parts.engine.forget(name)
