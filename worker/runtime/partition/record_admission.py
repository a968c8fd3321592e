"""Gives each record to its session or to the dead letters; parks the partition if neither is possible."""

from __future__ import annotations

from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.errors import NewerVersionError
from caesura.worker.core.decoding.admission import OfferOutcome
from caesura.worker.core.decoding.context import Origin
from caesura.worker.errors import BadEventError, OwnFaultError
from caesura.worker.ports.observer import EventRepeated
from caesura.worker.ports.reasons import ParkReason
from caesura.worker.ports.records import Record
from caesura.worker.runtime.claim.skips import is_skipped
from caesura.worker.runtime.partition.dead_letters import Refusals
from caesura.worker.runtime.partition.partition_state import PartitionState
from caesura.worker.runtime.partition.record_decoding import read_event
from caesura.worker.runtime.retries.own_faults import blamed
from caesura.worker.runtime.retries.parking import count_changed
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings


class RecordAdmission:
    """Applies the records of one partition, in order of offset."""

    def __init__(
        self, state: PartitionState, parts: RuntimeAdapters, settings: RuntimeSettings, refusals: Refusals
    ) -> None:
        self._state = state
        self._parts = parts
        self._settings = settings
        self._refusals = refusals

    def apply(self, record: Record, *, polled_ms: int, time_ms: int) -> None:
        """Apply a record, or refuse it, and go beyond it; where it parks the partition, it may stand there.

        BrokerError: no broker answered whether the partition count has changed; the record must not be applied.
        OwnFaultError: our own code raised in the record's session.
        """
        state = self._state
        try:
            self._offer(record, polled_ms=polled_ms, time_ms=time_ms)
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

    def _offer(self, record: Record, *, polled_ms: int, time_ms: int) -> None:
        state = self._state
        if is_skipped(state.skips, record):
            raise BadEventError(DeadLetterReason.SKIPPED, "an operator had the record set aside")
        if record.offset in state.search.given_up:
            raise BadEventError(DeadLetterReason.POISON, "no transaction could hold what came of the record alone")
        try:
            event = blamed(
                state.partition,
                read_event,
                record,
                partitions=state.partitions,
                partitioner=self._settings.partitioner,
            )
            trace = blamed(state.partition, self._parts.tracer.context_of, record)
        except OwnFaultError as error:  # no session has been touched yet
            raise BadEventError(DeadLetterReason.POISON, f"reading the record raised {error}") from None
        origin = Origin(
            offset=record.offset,
            appended_ms=record.timestamp_ms,
            polled_ms=polled_ms,
            time_ms=time_ms,
            trace=trace,
        )
        try:
            offered = blamed(state.partition, state.sessions.offer, event, origin)
        except OwnFaultError as error:
            error.record = record.offset
            raise
        if offered.outcome is OfferOutcome.REPEAT:
            self._parts.observer.note(EventRepeated(partition=state.partition))
        elif offered.reason is not None:
            raise BadEventError(offered.reason, "the session does not take this event any more")

    def _count_partitions(self) -> int:
        return self._parts.source.partition_count(self._settings.claim_timeout_s)
