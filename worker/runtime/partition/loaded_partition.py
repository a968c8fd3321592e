"""The sessions of one partition in memory. They are ahead of the last commit by the staged changes.

Memory is never rolled back: after a fault the whole object is dropped and the partition is claimed again.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from caesura.schemas.checkpoint import CheckpointId
from caesura.worker.core.decoding.decoding_counts import DecodingCounts
from caesura.worker.core.decoding.timeline import PartitionTime
from caesura.worker.core.partition.partition import PartitionSessions
from caesura.worker.errors import ContentRefusedError, OwnFaultError
from caesura.worker.ports.reasons import ClaimVerdict, ParkReason
from caesura.worker.ports.records import EndAnswer, Record
from caesura.worker.runtime.checkpoint.saves import PartitionSaves
from caesura.worker.runtime.checkpoint.staged_checkpoint import StagedCheckpoint
from caesura.worker.runtime.partition.checkpoint_staging import Staging
from caesura.worker.runtime.partition.claim_result import ClaimResult
from caesura.worker.runtime.partition.dead_letters import Refusals
from caesura.worker.runtime.partition.partition_state import PartitionState
from caesura.worker.runtime.partition.partition_timers import PartitionTimers
from caesura.worker.runtime.partition.read_position import ReadPosition
from caesura.worker.runtime.partition.record_admission import RecordAdmission
from caesura.worker.runtime.retries.parking import Parked
from caesura.worker.runtime.retries.step_search import FailedSteps, StepSearch
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.runtime.settings.totals import SessionTotals


class LoadedPartition:
    """One loaded partition: takes records, fires timers, stages and adopts checkpoints.

    search: how many steps the next checkpoint may have, and how a failed step is tried.
    """

    def __init__(  # noqa: PLR0913 - what a partition is made of
        self,
        claimed: ClaimResult,
        parts: RuntimeAdapters,
        settings: RuntimeSettings,
        *,
        sessions: PartitionSessions,
        counts: DecodingCounts,
        time: PartitionTime,
        totals: SessionTotals,
        search: StepSearch,
    ) -> None:
        self.partition = claimed.partition
        self.verdict = claimed.verdict
        self.nonce = claimed.nonce
        self.sessions = sessions
        self.counts = counts
        self._is_rebuilt = claimed.verdict in {ClaimVerdict.BEHIND, ClaimVerdict.CAUGHT_UP}
        self._steps = int(self._is_rebuilt)
        self._record: int | None = None
        self._put_off = False
        self._dead_letter_topic = settings.dead_letter_topic
        self._parts = parts
        self._state = PartitionState(
            partition=claimed.partition,
            partitions=claimed.partitions,
            sessions=sessions,
            counts=counts,
            time=time,
            position=ReadPosition(claimed.next_offset, claimed.leader_epoch),
            search=search,
            skips=claimed.skips,
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
                interval_s=settings.save_interval_ms / 1000.0,
            ),
        )
        refusals = Refusals(self._state, settings, source_topic=parts.source.topic, observer=parts.observer)
        self._records = RecordAdmission(self._state, parts, settings, refusals)
        self._timers = PartitionTimers(self._state, parts.clock, settings)
        self._staging = Staging(claimed, self._state, parts, settings, refusals)

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
        """Why it takes no more records; None if it does."""
        return self._state.parked

    @property
    def unlabelled(self) -> bool:
        """Tell whether the present steps go without the engine."""
        return self._state.search.unlabelled

    @property
    def changed(self) -> bool:
        """Tell whether a checkpoint would write anything."""
        return self._staging.changed

    @property
    def awaits_checkpoint(self) -> bool:
        """Tell whether the next step waits for a checkpoint."""
        return self._steps_left <= 0

    @property
    def is_awaited(self) -> bool:
        """Tell whether a reader, a delayed record or an operator waits for a checkpoint."""
        return self._waits or self._staging.is_awaited

    @property
    def _steps_left(self) -> int:
        return self._state.search.most_steps - self._steps

    def refused(self, error: ContentRefusedError, staged: StagedCheckpoint) -> ParkReason | None:
        """Note that a broker refused staged content; return why the partition parks, None: it is claimed again."""
        message = staged.message(error.topic, error.value)
        return self._state.search.refused(error, message, self._failed, dead_letter_topic=self._dead_letter_topic)

    def raised(self, error: OwnFaultError) -> ParkReason | None:
        """Note that our own code raised; return why the partition parks, None: it is claimed again."""
        return self._state.search.raised(error, self._failed)

    @property
    def _failed(self) -> FailedSteps:
        return FailedSteps(steps=self._steps, record=self._record, is_rebuilt=self._is_rebuilt)

    def take(self, record: Record, most_timers: int = sys.maxsize) -> int:
        """Apply one record: to its session, or to the dead letters. Records must come in order of offset.

        Returns how many sessions' timers fired before it. If it makes more than ``most_timers`` due, it is put off and
        read again after they have fired, turn by turn. BrokerError: no broker answered whether the partition count has
        changed; the record must not be applied.
        """
        state = self._state
        if self._waits or record.offset < state.position.next_offset:
            return 0
        left = self._steps_left
        if left <= 0:  # nor is its time observed: what comes before it is applied first
            self._put_off = True
            return 0
        polled_ms = self._parts.clock.wall_ms()
        time_ms = state.time.observe(record.timestamp_ms, polled_ms, by_broker=record.stamped_by_broker)
        fired = self._timers.fire_before(time_ms, min(most_timers, left))
        self._steps += fired
        self._put_off = fired >= left
        if not self._waits:
            self._steps += 1
            # What was committed before its record is in no dead letter: alone, it shows whether it raises by itself.
            self._put_off = self.unlabelled and self.sessions.flush((record.key or b"").decode(errors="replace"))
        if not self._waits:
            self._record = record.offset
            self._records.apply(record, polled_ms=polled_ms, time_ms=time_ms)
        return fired

    @property
    def _waits(self) -> bool:
        """Tell whether no record may be applied now: it is parked, or a record waits for a checkpoint."""
        return self.parked is not None or self._timers.crowded or self._put_off

    def reached_end(self, next_offset: int) -> None:
        """Note that reading met the end: from here on time may pass without records."""
        if not self._waits:
            self._state.time.reached_end(self._parts.clock.monotonic_s())
            self._state.position.reached_end(next_offset)

    def tick(self, most: int = sys.maxsize) -> int:
        """Fire timers that are due by partition time; return how many sessions had one.

        most: of how many sessions; the others are due at the next turn.
        """
        fired = self._timers.fire(min(most, self._steps_left))
        self._steps += fired
        return fired

    def question(self) -> int | None:
        """Return the offset after which to ask the leader for the end now; None: do not ask."""
        return self._timers.question()

    def answered(self, answer: EndAnswer) -> None:
        """Take the leader's answer to the last question."""
        self._timers.answered(answer)

    def stage(self) -> StagedCheckpoint | None:
        """Collect the changes since the last checkpoint; None without changes. No session may have open work."""
        return self._staging.stage()

    def save(self) -> bool:
        """Take the answer of the running save, and begin the next one; False: it was refused, so claim again."""
        self._state.saves.advance(self._state.sessions)
        return not self._state.saves.refused

    def finish_saves(self, until_s: float) -> None:
        """Save what is committed and wait for the answers, up to this monotonic time; then give up."""
        self._state.saves.finish(self._state.sessions, until_s)

    def adopt(self, staged: StagedCheckpoint) -> None:
        """Make a staged checkpoint the committed one. BrokerError: the partition must be claimed again."""
        self._staging.adopt(staged)
        if not self._is_rebuilt or self._steps > 1:  # a rebuild alone is not what failed: it comes before each try
            self._state.search.committed(staged.next.next_offset)
        self._steps, self._record, self._is_rebuilt = 0, None, False
        put_off, self._put_off = self._put_off, False
        crowd_gone = self._timers.committed()
        if put_off or crowd_gone:
            self._state.position.went_back()
            self._state.time.left_end()
            self._parts.source.seek(self.partition, self.next_offset, self.position.leader_epoch)

    def forget_all(self, through: Mapping[str, int]) -> None:
        """Make the next checkpoint write tombstones under these keys, each through its input offset."""
        self._staging.forget_all(through)

    def let_go(self) -> None:
        """Drop what the engine keeps: another member, or a new claim, goes on from the committed state."""
        for name in self.sessions.awake:
            self._parts.engine.forget(name)
