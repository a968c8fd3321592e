"""The rebuild of a partition whose sessions Redis lost: Kafka is the truth (docs/design.md, *Loss of Redis*).

1. read the committed records of the ledger up to its end (``ledger_reading``), keep the last one of each session, and
   compare them with what was committed of them (``ledger_check``);
2. read the input again from the replay offset, which the committed offset's metadata names, to the committed offset:
   the ledger's sessions get the text of their buffers back, and whatever came after a session's record is applied as if
   for the first time, but that no timer fires meanwhile (``worker.core.partition``, rule 5);
3. add up what was made. All of it is saved after the first checkpoint, by a full write.

Nothing that was published is published again: a segment and its session's ledger record commit together. Events that
were refused stay refused, and their dead letters are already where they belong: those that neither their bytes nor
their session decided, poison above all, stand in the ledger, in the transaction of their dead letter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from schemas.errors import NewerVersionError
from schemas.state import encode_state
from worker.core.context import DecodingContext, Origin
from worker.core.partition import PartitionSessions
from worker.core.recovery import Recovery
from worker.core.timeline import PartitionTime
from worker.errors import BadEventError
from worker.ports.clock import Clock
from worker.ports.log_reader import LogReader
from worker.ports.observer import RebuildSummary
from worker.ports.reasons import ParkReason
from worker.ports.records import Record
from worker.runtime.claimed_state import ClaimedState
from worker.runtime.found_sessions import PIECE_SESSIONS
from worker.runtime.ledger_check import LedgerCheck
from worker.runtime.ledger_reading import LedgerReading, UnreadableLedgerError
from worker.runtime.parking import Parked
from worker.runtime.record_decoding import read_event
from worker.runtime.replayed_time import AppliedRecord, ReplayedTime
from worker.runtime.settings import Partitioner, RuntimeSettings
from worker.runtime.totals import SessionTotals

__all__ = ["Rebuild", "Rebuilt"]

_CHUNK_RECORDS = 200
_DONE = object()


@dataclass(slots=True, kw_only=True)
class Rebuilt:
    """What a rebuild came to.

    lost_sessions: those of the ledger whose words the input does not hold any more. lost_offsets: the stretch of the
    input, first and next, that was to be read and lies below the log's start; what stood there of sessions that had no
    ledger record yet, or after their record, nobody knows. forgotten: see ``LedgerCheck``.
    """

    sessions: PartitionSessions
    time: PartitionTime
    ledger_records: int = 0
    input_records: int = 0
    lost_sessions: int = 0
    lost_words: int = 0
    lost_offsets: tuple[int, int] = (0, 0)
    forgotten: dict[str, int] = field(default_factory=dict)

    @property
    def summary(self) -> RebuildSummary:
        """Return the counts alone."""
        return RebuildSummary(
            sessions=len(self.sessions),
            ledger_records=self.ledger_records,
            input_records=self.input_records,
            lost_sessions=self.lost_sessions,
            lost_words=self.lost_words,
            lost_offsets=self.lost_offsets,
        )


class Rebuild:
    """One partition's rebuild, in chunks, so that the loop goes on polling and other partitions go on working.

    totals: what the rebuilt sessions add up to, once ``advance`` has said that it is done.
    """

    def __init__(
        self,
        state: ClaimedState,
        context: DecodingContext,
        *,
        reader: LogReader,
        clock: Clock,
        settings: RuntimeSettings,
        label: Callable[[PartitionSessions], object],
    ) -> None:
        self._context = context
        self._expected = state.ledger
        self._replay_offset = state.replay_offset
        self._next_offset = state.next_offset
        self._partitions = state.partitions
        self._reader = reader
        self._clock = clock
        self._settings = settings
        self._label = label
        self._recoveries: dict[str, Recovery] = {}
        self._ledger = LedgerReading(settings.ledger, context.partition, reader)
        self.parked: Parked | None = None
        self._rebuilt = Rebuilt(
            sessions=PartitionSessions(context, replays=True), time=PartitionTime(max_skew_ms=settings.max_skew_ms)
        )
        self.totals = SessionTotals()
        self._steps = self._run()

    @property
    def rebuilt(self) -> Rebuilt:
        """What has been made so far; all of it once ``advance`` said so."""
        return self._rebuilt

    def advance(self) -> bool:
        """Do one chunk of the work; True where that was all. RetriableError: begin again with a new rebuild.

        Nothing that stands in the log ends it otherwise than by ``parked``, which says what an operator has to fix.
        """
        try:
            return self.parked is not None or next(self._steps, _DONE) is _DONE
        except UnreadableLedgerError as error:
            self._park(ParkReason.LEDGER_UNREADABLE, error.detail(self._next_offset, self._expected))
        except NewerVersionError as error:
            self._park(ParkReason.NEWER_EVENT, str(error))
        return True

    def _park(self, reason: ParkReason, detail: str) -> None:
        self.parked = Parked(partition=self._context.partition, reason=reason, detail=detail)

    def _run(self) -> Iterator[None]:
        stall_s, timeout_s = self._settings.rebuild_stall_s, self._settings.claim_timeout_s
        yield from self._ledger.run(chunk_records=_CHUNK_RECORDS, timeout_s=timeout_s, stall_s=stall_s)
        replayed = range(self._replay_offset, self._next_offset)
        check = LedgerCheck(self._ledger, self._expected, replayed=replayed)
        place = (self._settings.segment_topic, self._context.partition)
        yield from check.run(self._reader, *place, timeout_s=timeout_s, stall_s=stall_s)
        if check.detail is not None:
            self._park(ParkReason.LEDGER_INCOMPLETE, check.detail)
            return
        self._rebuilt.forgotten = check.forgotten
        self._ledger.forgotten_through |= check.forgotten
        self._rebuilt.ledger_records = self._ledger.records
        for count, (session, state) in enumerate(self._ledger.states.items(), start=1):
            self._recoveries[session] = Recovery(state, self._context.segmenters)
            if count % _CHUNK_RECORDS == 0:
                yield
        states = self._ledger.states.values()
        applied = [AppliedRecord(one.last_offset, one.last_appended_ms, one.event_ms) for one in states]
        time = ReplayedTime(self._rebuilt.time, applied, self._replay_offset)
        self._ledger.states.clear()
        yield from self._read_input(time)
        for count, session in enumerate(list(self._recoveries), start=1):
            self._restore(session)
            if count % _CHUNK_RECORDS == 0:
                yield
        self._label(self._rebuilt.sessions)
        # Where no input was read there is no time yet, and nobody would be closed before the next record.
        self._rebuilt.time.catch_up(self._rebuilt.sessions.latest_ms)
        self._rebuilt.sessions.replayed(self._rebuilt.time.said_ms)
        self._context.counts.drain()
        names = list(self._rebuilt.sessions.names())
        for start in range(0, len(names), PIECE_SESSIONS):
            piece = self._rebuilt.sessions.encoded(names[start : start + PIECE_SESSIONS])
            self.totals.change(self.totals.shares(piece, piece.keys()))
            yield

    def _read_input(self, time: ReplayedTime) -> Iterator[None]:
        place = (self._settings.input_topic, self._context.partition)
        low, end = self._reader.bounds(*place, self._settings.claim_timeout_s)
        if self._next_offset > end:
            detail = f"next is {self._next_offset}, there is {low} to {end}; see docs/operations.md"
            self._park(ParkReason.OFFSET_OUT_OF_RANGE, detail)
            return
        if self._replay_offset < self._next_offset:
            start = min(max(low, self._replay_offset), self._next_offset)
            # Only what lies below the log's start was taken. A gap further up is a transaction's marker, or aborted.
            self._rebuilt.lost_offsets = (self._replay_offset, start)
            for record in self._reader.read(*place, start, self._next_offset, self._settings.rebuild_stall_s):
                self._rebuilt.input_records += 1
                self._replay(record, time)
                if self._rebuilt.input_records % _CHUNK_RECORDS == 0:
                    self._label(self._rebuilt.sessions)
                    yield

    def _replay(self, record: Record, time: ReplayedTime) -> None:
        wall_ms = self._clock.wall_ms()
        time_ms = time.observe(record, wall_ms)
        if record.offset in self._ledger.refused:
            return  # whatever was against it then, its dead letter is committed
        try:
            # Whether it belongs here was decided when it was applied, by the settings of that time.
            event = read_event(record, partitions=self._partitions, partitioner=Partitioner.UNCHECKED)
        except BadEventError:
            return  # refused then, refused now; its dead letter is where it belongs
        if record.offset <= self._ledger.forgotten_through.get(event.session, -1):
            return
        recovery = self._recoveries.get(event.session)
        if recovery is not None and record.offset <= recovery.through_offset:
            recovery.take(event, record.offset, record.timestamp_ms)
            return
        if recovery is not None:
            self._restore(event.session)
        origin = Origin(offset=record.offset, appended_ms=record.timestamp_ms, polled_ms=wall_ms, time_ms=time_ms)
        self._rebuilt.sessions.offer(event, origin, admitted=True)

    def _restore(self, session: str) -> None:
        recovery = self._recoveries.pop(session)
        state = recovery.state()
        if state is None:
            self._rebuilt.lost_sessions += 1
            self._rebuilt.lost_words += recovery.lost_words
            state = recovery.bare_state()
        self._rebuilt.sessions.restore(state, encode_state(state))
