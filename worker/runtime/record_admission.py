"""From a record to its session, or to the dead letters; or the partition stands where nobody can say which."""

from __future__ import annotations

from schemas.dead_letters import DeadLetterReason
from schemas.errors import NewerVersionError
from worker.core.admission import OfferOutcome
from worker.core.context import Origin
from worker.errors import BadEventError
from worker.ports.observer import EventRepeated
from worker.ports.reasons import ParkReason
from worker.ports.records import Record
from worker.runtime.dead_letters import Refusals
from worker.runtime.parking import count_changed
from worker.runtime.partition_state import PartitionState
from worker.runtime.parts import RuntimeParts
from worker.runtime.poison_isolation import StepDecision
from worker.runtime.record_decoding import read_event
from worker.runtime.settings import RuntimeSettings

__all__ = ["RecordAdmission"]


class RecordAdmission:
    """Applies the records of one partition, in order of offset."""

    def __init__(
        self, state: PartitionState, parts: RuntimeParts, settings: RuntimeSettings, refusals: Refusals
    ) -> None:
        self._state = state
        self._parts = parts
        self._settings = settings
        self._refusals = refusals

    def apply(self, record: Record, decision: StepDecision, *, polled_ms: int, time_ms: int) -> None:
        """Apply a record, or refuse it, and go beyond it; where it parks the partition, it may stand there.

        BrokerError: nobody answered whether the partition count has changed; nothing may be made of the record.
        """
        state = self._state
        try:
            self._offer(record, decision, polled_ms=polled_ms, time_ms=time_ms)
        except NewerVersionError as error:
            # Not a dead letter: a newer worker can apply it. The partition stands here until there is one.
            state.park(ParkReason.NEWER_EVENT, str(error))
            return
        except BadEventError as error:
            moved = error.reason is DeadLetterReason.WRONG_PARTITION
            if moved and (partitions := self._count_partitions()) != state.partitions:
                # Its producer knows already what this worker does not: the event is in order.
                state.park(*count_changed(state.partitions, partitions))
                return
            self._refusals.refuse(record, error, time_ms)
        state.position.applied(record)

    def _offer(self, record: Record, decision: StepDecision, *, polled_ms: int, time_ms: int) -> None:
        if decision is StepDecision.GIVE_UP:
            raise BadEventError(
                DeadLetterReason.POISON, "the record was tried alone, again and again, and never committed"
            )
        state = self._state
        event = read_event(record, partitions=state.partitions, partitioner=self._settings.partitioner)
        origin = Origin(
            offset=record.offset,
            appended_ms=record.timestamp_ms,
            polled_ms=polled_ms,
            time_ms=time_ms,
            trace=self._parts.tracer.context_of(record),
        )
        offered = state.sessions.offer(event, origin)
        if offered.outcome is OfferOutcome.REPEAT:
            self._parts.observer.note(EventRepeated(partition=state.partition))
        elif offered.reason is not None:
            raise BadEventError(offered.reason, "the session does not take this event any more")

    def _count_partitions(self) -> int:
        return self._parts.source.partition_count(self._settings.claim_timeout_s)
