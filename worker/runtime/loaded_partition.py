"""The sessions of one partition in memory, ahead of the last commit by what is staged.

The live sessions are one copy; what the last committed checkpoint wrote is kept as bytes, because a save writes it
beside the new snapshot. Nothing is ever undone in memory: after a fault the whole object is thrown away and the
partition is claimed again.
"""

from __future__ import annotations

import sys

from schemas.checkpoint import CheckpointId, OffsetMetadata, Slot
from schemas.dead_letters import DeadLetterReason
from schemas.errors import NewerVersionError
from worker.core.admission import OfferOutcome
from worker.core.context import Origin
from worker.core.decoding_counts import DecodingCounts
from worker.core.partition import PartitionSessions
from worker.core.segment_writer import OutSegment
from worker.core.timeline import PartitionTime
from worker.errors import BadEventError
from worker.ports.observer import EventRefused, EventRepeated
from worker.ports.reasons import ParkReason
from worker.ports.records import EndAnswer, NextOffset, OutMessage, Record
from worker.ports.tracer import SegmentSpan
from worker.runtime.claim import ClaimedState, Parked
from worker.runtime.leader_question import LeaderQuestion
from worker.runtime.poison_isolation import PoisonIsolation, StepDecision
from worker.runtime.record_decoding import REMEMBERED_REFUSALS, MalformedLimit, read_event
from worker.runtime.staged import Staged
from worker.runtime.stored import StoredSlots
from worker.runtime.surroundings import Surroundings
from worker.runtime.verdict import ClaimVerdict

__all__ = ["LoadedPartition"]


class LoadedPartition:
    """One loaded partition."""

    def __init__(
        self,
        state: ClaimedState,
        surroundings: Surroundings,
        *,
        sessions: PartitionSessions,
        counts: DecodingCounts,
        time: PartitionTime,
    ) -> None:
        settings = surroundings.settings
        self.partition = state.partition
        self.sessions = sessions
        self.counts = counts
        self.verdict = state.verdict
        self.parked: Parked | None = None
        self.unlabelled = False
        self._time = time
        self._settings = settings
        self._source = surroundings.source
        self._clock = surroundings.clock
        self._observer = surroundings.observer
        self._tracer = surroundings.tracer
        self._publishing = surroundings.publishing
        self._dead_letters = surroundings.dead_letters
        self._partitions = surroundings.partitions
        self._forget = surroundings.forget
        self._malformed = MalformedLimit(limit=settings.dead_letter_limit, window_s=settings.dead_letter_window_s)
        self._stored = StoredSlots(state)
        self._isolation = PoisonIsolation(state.retry_history)
        self._next_offset = state.next_offset
        self._committed_offset = state.next_offset
        self._notes: list[OutMessage] = []
        self._refused: list[int] = []
        # A first start commits our id at once, so that a restart goes on from here and nowhere else; a rebuild saves
        # what it made. After a roll-back to a commit nothing is owed, and must not be: an empty commit between two
        # claims would hide that they end without one.
        rolled_back = state.verdict is ClaimVerdict.IN_DOUBT and isinstance(state.id, CheckpointId) and state.id.n > 0
        self._owes_checkpoint = not (state.verdict is ClaimVerdict.GOOD or rolled_back)
        self._end_offset = state.next_offset
        self._crowded = False
        self._leader_question = LeaderQuestion(time, surroundings.clock, settings)
        self._read_to_ms: int | None = None
        self._uncommitted_ms: int | None = None

    @property
    def session_count(self) -> int:
        """Sessions in memory, closed ones included."""
        return len(self.sessions)

    @property
    def next_offset(self) -> int:
        """The next record to apply."""
        return self._next_offset

    @property
    def changed(self) -> bool:
        """Tell whether a checkpoint would have anything to write."""
        owes = self._owes_checkpoint or self._isolation.owes_checkpoint or self._stored.owes_drop
        return owes or self._next_offset != self._committed_offset or bool(self.sessions.touched)

    @property
    def unproven(self) -> bool:
        """Tell whether it was rebuilt, and no checkpoint has committed since: the next one concerns nobody else."""
        return self._stored.unproven

    @property
    def isolating(self) -> bool:
        """Tell whether the next step waits for a checkpoint of its own."""
        return self._isolation.busy

    @property
    def suspects(self) -> bool:
        """Tell whether the next step has been tried before, and did not commit: others had better wait."""
        return self._isolation.suspects

    def is_unread(self, end_offset: int) -> bool:
        """Tell whether the log, which ends there, holds records that are not committed as read."""
        return self._uncommitted_ms is not None or end_offset > self._read_to

    @property
    def unread_since(self) -> tuple[int, int | None]:
        """Return the committed offset, and about when the record there was appended, None where none was read yet."""
        return self._committed_offset, self._read_to_ms if self._uncommitted_ms is None else self._uncommitted_ms

    def take(self, record: Record, most_timers: int = sys.maxsize) -> int:
        """Apply one record: to its session, or to the dead letters. Records must come in order of offset.

        Returns how many sessions' timers fired before it. Where it makes more due than ``most_timers`` it is put off,
        and read again once they have fired, turn by turn. BrokerError: nobody answered whether the partition count has
        changed; nothing may be made of the record.
        """
        if self.parked is not None or self._crowded or record.offset < self._next_offset:
            return 0
        if self._isolation.stopped:  # nor is its time observed: what comes before it is applied first
            self._isolation.put_off()
            return 0
        polled_ms = self._clock.wall_ms()
        time_ms = self._time.observe(record.timestamp_ms, polled_ms, by_broker=record.stamped_by_broker)
        if not self._fired(time_ms):
            self._isolation.put_off()
            return 0
        fired = self.sessions.tick(time_ms, most=most_timers)
        self._crowded = self._is_due(time_ms)
        if not self._crowded:
            self._step(record, polled_ms=polled_ms, time_ms=time_ms)
        return fired

    def _step(self, record: Record, *, polled_ms: int, time_ms: int) -> None:
        decision = self._isolation.decide(record.offset)
        if decision is StepDecision.READ_AGAIN:
            return
        self.unlabelled = decision is StepDecision.APPLY_UNLABELLED
        try:
            self._apply(record, decision, polled_ms=polled_ms, time_ms=time_ms)
        except NewerVersionError as error:
            # Not a dead letter: a newer worker can apply it. The partition stands here until there is one.
            self.parked = Parked(partition=self.partition, reason=ParkReason.NEWER_EVENT, detail=str(error))
            return
        except BadEventError as error:
            moved = error.reason is DeadLetterReason.WRONG_PARTITION
            if moved and (partitions := self._count_partitions()) != self._partitions:
                # Its producer knows already what this worker does not: the event is in order.
                detail = f"{self._partitions} before, {partitions} now"
                self.parked = Parked(partition=self.partition, reason=ParkReason.PARTITION_COUNT_CHANGED, detail=detail)
                return
            self._refuse(record, error)
            if error.reason.counts_against_producer and self._malformed.passed(time_ms):
                detail = f"more than {self._settings.dead_letter_limit} malformed events within the window"
                self.parked = Parked(partition=self.partition, reason=ParkReason.DEAD_LETTER_LIMIT, detail=detail)
        self._next_offset = record.offset + 1
        self._read_to_ms = record.timestamp_ms
        if self._uncommitted_ms is None:
            self._uncommitted_ms = record.timestamp_ms

    def _apply(self, record: Record, decision: StepDecision, *, polled_ms: int, time_ms: int) -> None:
        if decision is StepDecision.GIVE_UP:
            raise BadEventError(
                DeadLetterReason.POISON, "the record was tried alone, again and again, and never committed"
            )
        event = read_event(record, partitions=self._partitions, partitioner=self._settings.partitioner)
        origin = Origin(
            offset=record.offset,
            appended_ms=record.timestamp_ms,
            polled_ms=polled_ms,
            time_ms=time_ms,
            trace=self._tracer.context_of(record),
        )
        offered = self.sessions.offer(event, origin)
        if offered.outcome is OfferOutcome.REPEAT:
            self._observer.note(EventRepeated(partition=self.partition))
        elif offered.reason is not None:
            raise BadEventError(offered.reason, "the session does not take this event any more")

    def _count_partitions(self) -> int:
        return self._source.partition_count(self._settings.claim_timeout_s)

    def _refuse(self, record: Record, error: BadEventError) -> None:
        self._notes.append(self._dead_letters.letter(record, error))
        if error.reason in REMEMBERED_REFUSALS:
            self._refused.append(record.offset)
        self._observer.note(EventRefused(partition=self.partition, offset=record.offset, reason=error.reason))

    def reached_end(self, next_offset: int) -> None:
        """Note that reading met the end: from here on it may be later than the last record says."""
        if self.parked is None and not self._crowded and not self._isolation.reads_again:
            self._time.reached_end(self._clock.monotonic_s())
            # Beyond the last record where a transaction's marker ends the log; never an offset to commit.
            self._end_offset = next_offset

    def question(self) -> int | None:
        """Return after which offset the leader is to be asked for the end now; None: there is nothing to be asked."""
        asks = self.parked is None and self._leader_question.ask(self.sessions.next_due_ms)
        return self._read_to if asks else None

    def answered(self, answer: EndAnswer) -> None:
        """Take the leader's answer to the last question."""
        self._leader_question.answered(answer, self._read_to)

    @property
    def _read_to(self) -> int:
        return max(self._next_offset, self._end_offset)

    def tick(self, most: int = sys.maxsize) -> int:
        """Fire what is due by the partition's time; return how many sessions had a timer fire.

        most: of how many at most; what is left is due at the next turn.
        """
        time_ms = self._time.said_ms
        if self.parked is not None or self._isolation.stopped or not self._is_due(time_ms):
            return 0
        return self.sessions.tick(time_ms, most=most) if self._fired(time_ms) else 0

    def _is_due(self, time_ms: int) -> bool:
        due_ms = self.sessions.next_due_ms
        return due_ms is not None and due_ms <= time_ms

    def _fired(self, time_ms: int) -> bool:
        """Where timers are fired in isolation, fire some that are due; False: a checkpoint has to come first."""
        if not self._isolation.of_timers or not self._is_due(time_ms):
            return True
        decision = self._isolation.decide_timers()
        if decision is StepDecision.GIVE_UP:
            detail = "what a session's silence or end has to publish never commits; see docs/operations.md"
            self.parked = Parked(partition=self.partition, reason=ParkReason.FLUSH_FAILS, detail=detail)
        elif decision is not StepDecision.READ_AGAIN:
            self.unlabelled = decision is StepDecision.APPLY_UNLABELLED
            self.sessions.tick(time_ms, most=self._isolation.max_timers)
        return False

    def stage(self) -> Staged | None:
        """Collect what has changed since the last checkpoint; None where nothing has. Every session is at rest."""
        if not self.changed:
            return None
        checkpoint = self._stored.next_id()
        out = self.sessions.take_segments()
        spans = [self._tracer.begin(one) for one in out]
        slots = self._stored.new_slots(checkpoint, self.sessions.states(self.sessions.touched))
        return Staged(
            partition=self.partition,
            id=checkpoint,
            alone=self.unproven,
            onward=bool(slots or out or self._notes) or self._next_offset != self._committed_offset,
            write=self._stored.write(checkpoint, slots),
            messages=[*self._notes, *self._messages(out, spans, slots)],
            next=NextOffset(next_offset=self._next_offset, metadata=self._metadata(checkpoint).encode()),
            slots=slots,
            segments=[one.segment for one in out],
            spans=spans,
            dead_letters=sum(one.topic != self._settings.ledger for one in self._notes),
        )

    def _metadata(self, checkpoint: CheckpointId) -> OffsetMetadata:
        replay_offset = self.sessions.replay_offset
        isolated_until_offset, tries = self._isolation.noted(self._next_offset)
        return OffsetMetadata(
            id=checkpoint,
            replay_offset=self._next_offset if replay_offset is None else replay_offset,
            partitions=self._partitions,
            isolated_until_offset=isolated_until_offset,
            tries=tries,
            transactional_id=self._settings.transactional_id,
        )

    def _messages(self, out: list[OutSegment], spans: list[SegmentSpan], slots: dict[str, Slot]) -> list[OutMessage]:
        messages: list[OutMessage] = []
        for one, span in zip(out, spans, strict=True):
            messages += self._publishing.segment(self.partition, one, span.headers)
        spoken = {one.segment.session for one in out} | {name for name, slot in slots.items() if slot.state is None}
        through = self._next_offset - 1
        for name, record in self.sessions.ledger_states(sorted(spoken.union(self.sessions.replaced))).items():
            messages.append(self._publishing.ledger(self.partition, name, record, through=through))
        return messages + self._publishing.refused(self.partition, self._refused)

    def adopt(self, staged: Staged) -> None:
        """Make a staged checkpoint the committed one. BrokerError: the partition must be claimed again."""
        self._committed_offset = staged.next.next_offset
        self._uncommitted_ms = None
        self._owes_checkpoint = False
        self._notes.clear()
        self._refused.clear()
        self._stored.adopt(staged.id, staged.slots)
        for span in staged.spans:
            span.end(self._clock.wall_ms())
        for name, slot in staged.slots.items():
            if slot.state is None:
                self._forget(name)
        self.sessions.settle()
        self.unlabelled = False
        put_off = self._isolation.committed()
        if self._crowded and not self._is_due(self._time.said_ms):
            self._crowded, put_off = False, True
        if put_off:
            self._end_offset = self._next_offset
            self._time.left_end()
            self._source.seek(self.partition, self._next_offset)

    def forget_all(self, keys: list[str]) -> None:
        """Have the next checkpoint forget what these keys say in the ledger: it is of before what was adopted."""
        through = self._next_offset - 1
        self._notes += [self._publishing.ledger(self.partition, key, None, through=through) for key in keys]

    def forgive(self) -> None:
        """Try what failed again and again as if it never had: an operator has released the partition."""
        self._isolation.forgive()

    def let_go(self) -> None:
        """Drop what the engine keeps: another member, or a new claim, goes on from what is committed."""
        for name in self._stored.names:
            self._forget(name)
