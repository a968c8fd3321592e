"""Rebuilds a partition's sessions from the log (docs/design.md, *Loss of Redis*).

If Redis has an older checkpoint of the same history, its sessions catch up:

1. Read the ledger from the end that the checkpoint noted. A tombstone drops a session's snapshot. A record replaces
   it; the snapshot then supplies only the text from before the checkpoint.
2. Compare the checksum of all sessions with the committed one. If they differ, or the log does not reach back that
   far, rebuild the partition from nothing.
3. Read the input from the checkpoint's offset to the committed offset, as in step 2 below.

If Redis has nothing of use, the sessions are rebuilt:

1. Read the committed records of the ledger to its end (``ledger_reading``), keep the last one of each session, and
   compare their checksum with the committed one (``ledger_check``).
2. Read the input from the replay offset (in the committed offset's metadata) to the committed offset. This gives the
   buffers their text back. Events after a session's record are applied as if for the first time, except that no timer
   fires (``partition``, rule 5).
3. Compute the manifest. A full save after the first checkpoint writes all sessions.

Nothing is published twice, because a segment and its session's ledger record are in one transaction. Refused events
stay refused. If neither an event's bytes nor its session show that it was refused, the ledger notes it, in the
transaction of its dead letter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from caesura.schemas.checkpoint import Manifest
from caesura.schemas.errors import NewerVersionError
from caesura.schemas.ledger_sum import LedgerSum
from caesura.schemas.state import SessionFacts, SessionState, decode_state, encode_state
from caesura.worker.core.decoding.context import DecodingContext, Origin
from caesura.worker.core.decoding.timeline import PartitionTime
from caesura.worker.core.partition.partition import PartitionSessions
from caesura.worker.core.session.recovery import Recovery
from caesura.worker.errors import BadEventError
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.log_reader import LogReader
from caesura.worker.ports.observer import RebuildSummary
from caesura.worker.ports.reasons import ParkReason
from caesura.worker.ports.records import Record
from caesura.worker.runtime.checkpoint.redis_sessions import PIECE_SESSIONS
from caesura.worker.runtime.claim.replayed_time import AppliedRecord, ReplayedTime
from caesura.worker.runtime.ledger.ledger_check import LedgerCheck
from caesura.worker.runtime.ledger.ledger_reading import LedgerReading, UnreadableLedgerError
from caesura.worker.runtime.partition.claim_result import ClaimResult
from caesura.worker.runtime.partition.loaded_partition import LoadedPartition
from caesura.worker.runtime.partition.record_decoding import read_event
from caesura.worker.runtime.retries.parking import Parked
from caesura.worker.runtime.settings.settings import Partitioner, RuntimeSettings
from caesura.worker.runtime.settings.totals import SessionTotals

_CHUNK_RECORDS = 200
_DONE = object()


@dataclass(slots=True, kw_only=True)
class Rebuilt:
    """The result of a rebuild.

    lost_sessions: ledger sessions whose words have left the input. lost_offsets: the input offsets, first and next,
    that should be read but lie below the log's start. They may have had words after a session's ledger record, or
    before its first one. forgotten: see ``LedgerCheck``.
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
        """Return only the counts."""
        return RebuildSummary(
            sessions=len(self.sessions),
            ledger_records=self.ledger_records,
            input_records=self.input_records,
            lost_sessions=self.lost_sessions,
            lost_words=self.lost_words,
            lost_offsets=self.lost_offsets,
        )


class _NotFromThereError(Exception):
    """The log cannot catch up from the stored state."""


class Rebuild:
    """One partition's rebuild, in chunks, so that the loop keeps polling and other partitions go on.

    finish: gets the rebuild when all is done. Then these are valid: totals, over all sessions; changed, the sessions
    that differ from what is stored, as they would be stored (None: forgotten); it is None if nothing stored is used.
    forget: drops what the engine keeps of a session. trace_of: the trace context of a record.
    """

    def __init__(  # noqa: PLR0913 - the parts that it works with
        self,
        state: ClaimResult,
        context: DecodingContext,
        *,
        reader: LogReader,
        clock: Clock,
        settings: RuntimeSettings,
        label: Callable[[PartitionSessions], object],
        forget: Callable[[str], object],
        trace_of: Callable[[Record], str],
        finish: Callable[[Rebuild], LoadedPartition],
    ) -> None:
        self._context = context
        self._stored, self._snapshots = state.stored, state.snapshots
        self._forget, self._trace_of, self._finish = forget, trace_of, finish
        self._expected = state.ledger
        self._replay_offset = state.replay_offset
        self._next_offset = state.next_offset
        self._partitions = state.partitions
        self._reader = reader
        self._clock = clock
        self._settings = settings
        self._label = label
        self._parked: Parked | None = None
        self.changed: dict[str, bytes | None] | None = None
        self._begin(ledger_start=None if self._stored is None else self._stored.ledger_end)
        self._steps = self._run()

    def _begin(self, *, ledger_start: int | None = None) -> None:
        self._recoveries: dict[str, Recovery] = {}
        self._ledger = LedgerReading(self._settings.ledger, self._context.partition, self._reader, start=ledger_start)
        self._rebuilt = Rebuilt(
            sessions=PartitionSessions(self._context, replays=True),
            time=PartitionTime(max_skew_ms=self._settings.max_skew_ms),
        )
        self.totals = SessionTotals()

    @property
    def rebuilt(self) -> Rebuilt:
        """The sessions made so far; all of them once ``advance`` has returned."""
        return self._rebuilt

    @property
    def ledger_end(self) -> int:
        """The end of the ledger that was read."""
        return self._ledger.end

    def let_go(self) -> None:
        """Drop what the engine keeps of its sessions."""
        for name in self._rebuilt.sessions.awake:
            self._forget(name)

    def advance(self) -> LoadedPartition | Parked | None:
        """Do one chunk of the work; None: there is more. RetriableError: begin again with a new rebuild.

        Parked if an operator must repair the log.
        """
        try:
            if self._parked is None and next(self._steps, _DONE) is not _DONE:
                return None
        except UnreadableLedgerError as error:
            self._park(ParkReason.LEDGER_UNREADABLE, error.detail(self._next_offset, self._expected))
        except NewerVersionError as error:
            self._park(ParkReason.NEWER_EVENT, str(error))
        return self._parked or self._finish(self)

    def _park(self, reason: ParkReason, detail: str) -> None:
        self._parked = Parked(partition=self._context.partition, reason=reason, detail=detail)

    def _run(self) -> Iterator[None]:
        if self._stored is not None:
            try:
                yield from self._catch_up(self._stored)
            except _NotFromThereError:
                self.let_go()
                self._stored, self._snapshots = None, {}
                self._begin()
            else:
                return
        yield from self._from_nothing()

    def _catch_up(self, stored: Manifest) -> Iterator[None]:
        stall_s, timeout_s = self._settings.rebuild_stall_s, self._settings.claim_timeout_s
        yield from self._ledger.run(chunk_records=_CHUNK_RECORDS, timeout_s=timeout_s, stall_s=stall_s)
        if not self._ledger.is_bounded:
            raise _NotFromThereError
        self._rebuilt.ledger_records = self._ledger.records
        kept, last = LedgerSum(), AppliedRecord(-1, -1, 0)
        for start in range(0, len(names := list(self._snapshots)), PIECE_SESSIONS):
            states = [self._restore_stored(name, stored) for name in names[start : start + PIECE_SESSIONS]]
            kept = kept.plus(*(one for one in states if self._is_kept(one.session)))
            last = max(last, *map(_applied, states))
            yield
        for session, record in self._ledger.states.items():
            if session not in self._recoveries:
                self._recoveries[session] = Recovery(record, self._context.segmenters, read_from=stored.next_offset)
        if kept.plus(*self._ledger.states.values()) != self._expected:
            raise _NotFromThereError
        if any(one.is_out_of_reach for one in self._recoveries.values()):
            raise _NotFromThereError
        again = {*self._snapshots.keys() & self._ledger.forgotten_through.keys(), *self._recoveries}
        applied = [last, *map(_applied, self._ledger.states.values())]
        yield from self._replay_all(ReplayedTime(self._rebuilt.time, applied, stored.next_offset), stored.next_offset)
        yield from self._add_up(again)

    def _is_kept(self, session: str) -> bool:
        """Tell whether a stored session is still valid, as far as the ledger says."""
        return session not in self._ledger.states and session not in self._ledger.forgotten_through

    def _restore_stored(self, session: str, stored: Manifest) -> SessionState:
        """Restore a stored session unless the ledger has a newer record of it; return it as it is stored."""
        snapshot = self._snapshots[session]
        try:
            state = decode_state(snapshot)
        except ValueError:
            raise _NotFromThereError from None
        if state.session != session:
            raise _NotFromThereError
        record = self._ledger.states.get(session)
        if record is not None and _age(record) < _age(state):  # an operator wrote an old record again
            del self._ledger.states[session]
        elif record is not None:
            self._recoveries[session] = Recovery(
                record, self._context.segmenters, stored=state, read_from=stored.next_offset
            )
        if self._is_kept(session):
            self._rebuilt.sessions.restore(state, snapshot)
        return state

    def _from_nothing(self) -> Iterator[None]:
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
        applied = [_applied(one) for one in self._ledger.states.values()]
        self._ledger.states.clear()
        yield from self._replay_all(ReplayedTime(self._rebuilt.time, applied, self._replay_offset), self._replay_offset)
        yield from self._add_up(set())

    def _replay_all(self, time: ReplayedTime, start: int) -> Iterator[None]:
        """Read the input from ``start`` to the committed offset, and restore the sessions that wait for their text."""
        yield from self._read_input(time, start)
        for count, session in enumerate(list(self._recoveries), start=1):
            self._restore(session)
            if count % _CHUNK_RECORDS == 0:
                yield
        self._label(self._rebuilt.sessions)
        # If no input was read, the partition has no time yet, and no session would be closed before the next record.
        self._rebuilt.time.catch_up(self._rebuilt.sessions.latest_ms)
        self._rebuilt.sessions.replayed(self._rebuilt.time.now_ms)
        self._context.counts.drain()

    def _add_up(self, again: Collection[str]) -> Iterator[None]:
        """Add up all sessions. again: sessions that the ledger changed, in addition to those that the input touched."""
        sessions, stored = self._rebuilt.sessions, self._snapshots if self._stored is not None else {}
        names = list(sessions.names())
        changed = {name for name in (*again, *sessions.touched) if name in stored} | set(names).difference(stored)
        encoded: dict[str, bytes | None] = {} if self._stored is None else dict.fromkeys(changed)
        for start in range(0, len(names), PIECE_SESSIONS):
            some = names[start : start + PIECE_SESSIONS]
            fresh = sessions.encoded(name for name in some if name in changed)
            if self._stored is not None:
                encoded.update(fresh)
            piece = {name: fresh[name] if name in changed else stored[name] for name in some}
            self.totals.change(self.totals.shares(piece, ()))
            yield
        if self._stored is not None:
            self.changed = encoded

    def _read_input(self, time: ReplayedTime, replay_offset: int) -> Iterator[None]:
        place = (self._settings.input_topic, self._context.partition)
        low, end = self._reader.bounds(*place, self._settings.claim_timeout_s)
        if self._next_offset > end:
            detail = f"next is {self._next_offset}, there is {low} to {end}; see docs/operations.md"
            self._park(ParkReason.OFFSET_OUT_OF_RANGE, detail)
            return
        if replay_offset < self._next_offset:
            start = min(max(low, replay_offset), self._next_offset)
            if self._stored is not None and start > replay_offset:
                raise _NotFromThereError
            # Only what lies below the log's start was taken. A gap further up is a transaction's marker, or aborted.
            self._rebuilt.lost_offsets = (replay_offset, start)
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
        trace = self._trace_of(record)
        recovery = self._recoveries.get(event.session)
        if recovery is not None and record.offset <= recovery.through_offset:
            recovery.take(event, record.offset, record.timestamp_ms, trace)
            return
        if recovery is not None:
            self._restore(event.session)
        origin = Origin(
            offset=record.offset, appended_ms=record.timestamp_ms, polled_ms=wall_ms, time_ms=time_ms, trace=trace
        )
        self._rebuilt.sessions.offer(event, origin, admitted=True)

    def _restore(self, session: str) -> None:
        recovery = self._recoveries.pop(session)
        state = recovery.state()
        if state is None and self._stored is not None:
            raise _NotFromThereError
        if state is None:
            self._rebuilt.lost_sessions += 1
            self._rebuilt.lost_words += recovery.lost_words
            state = recovery.bare_state()
        self._rebuilt.sessions.restore(state, encode_state(state))


def _age(facts: SessionFacts) -> tuple[int, int, int]:
    """Return a value that only grows from one state of a session's name to the next."""
    return facts.since, facts.output.last_offset, facts.output.index


def _applied(facts: SessionFacts) -> AppliedRecord:
    return AppliedRecord(facts.output.last_offset, facts.output.last_appended_ms, facts.admission.event_ms)
