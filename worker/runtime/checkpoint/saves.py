"""Step 4 of a checkpoint: saves committed state to Redis, beside the loop. Redis is a cache, keyed by checkpoint id.

1. A partition has one save at a time. It has the sessions touched since the last successful save, and the last
   committed id. The next save begins an interval later, so sessions that many commits touch are written once.
2. Redis refuses a save unless the stored id is that of the last successful save, or of a later one without an answer.
   So a save only changes the state that it was made for.
3. If Redis does not answer (it is slow or away), the sessions stay unsaved, and the next save may also follow this id.
   Saves are then spaced out. After ``_MOST_FOLLOWED`` of them the next is a full one.
4. If Redis refuses, it lost data, went back in time, or something else wrote there. The partition is claimed again.
5. A full save of many sessions goes in pieces under a temporary key; the last piece replaces the stored state. A
   session that is committed after its piece is written again with the last one.
6. If our own code raises, a full save is tried. No record is at fault, because all that is saved is committed.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from concurrent.futures import Executor, Future, wait
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from caesura.schemas.checkpoint import MANIFEST_VERSION, CheckpointId, Manifest
from caesura.worker.core.partition.partition import PartitionSessions
from caesura.worker.errors import CaesuraError, FatalError, ForeignStateError, OwnFaultError, RetriableError
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.commit_steps import CommitStep, CommitStepReached
from caesura.worker.ports.observer import CallFailed, Observer, SavesBehind
from caesura.worker.ports.reasons import CalledPart, SaveOutcome
from caesura.worker.ports.session_store import PreparedSessions, SessionStore, StoreWrite
from caesura.worker.runtime.checkpoint.redis_sessions import PIECE_SESSIONS
from caesura.worker.runtime.retries.own_faults import blamed
from caesura.worker.runtime.settings.totals import SessionTotals

_MOST_FOLLOWED = 16
_FIRST_WAIT_S = 0.25
_LONGEST_WAIT_S = 5.0


class SavedCheckpoint(NamedTuple):
    """A committed checkpoint for the manifest: its id, and fields of ``caesura.schemas.checkpoint.Manifest``."""

    id: CheckpointId
    history: str
    next_offset: int
    ledger_end: int


@dataclass(slots=True)
class _FullWrite:
    """A full write in progress. left: sessions that are in no piece yet. prepared: those that are."""

    left: list[str]
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    prepared: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnderWay:
    """A write without an answer yet. sent: the sessions of a partial write. last: of a full write's last piece."""

    answer: Future[bool]
    id: CheckpointId | None
    sent: Mapping[str, bytes | None]
    last: bool = False
    began_s: float = 0.0


class PartitionSaves:
    """Committed state of one partition that is not saved yet.

    found: the stored id, if this state continues the stored one; None: the first write is a full one. changed: sessions
    that already differ from what is stored. interval_s: between two writes. refused: Redis holds something else than
    the last successful write.
    """

    def __init__(  # noqa: PLR0913 - what is known, and the parts
        self,
        partition: int,
        totals: SessionTotals,
        *,
        found: CheckpointId | None,
        changed: Mapping[str, bytes | None],
        store: SessionStore,
        executor: Executor,
        clock: Clock,
        observer: Observer,
        interval_s: float,
    ) -> None:
        self._partition = partition
        self._totals = totals
        self._store = store
        self._executor = executor
        self._clock = clock
        self._observer = observer
        self.refused = False
        self._has_landed = found is not None
        self._needs_full = found is None
        self._follows = [] if found is None else [found]
        self._unsaved = dict(changed)
        self._last: SavedCheckpoint | None = None
        self._full: _FullWrite | None = None
        self._under_way: _UnderWay | None = None
        self._behind_since_s: float | None = None
        self._interval_s = interval_s
        self._landed_s, self._not_before_s = -math.inf, 0.0
        self._wait_s = _FIRST_WAIT_S

    def committed(self, checkpoint: SavedCheckpoint, snapshots: Mapping[str, bytes | None]) -> None:
        """Note a commit and the sessions that it touched; None is a session that was forgotten."""
        self._last = checkpoint
        if self._behind_since_s is None:
            self._behind_since_s = self._clock.monotonic_s()
        if not self._needs_full:
            self._unsaved.update(snapshots)

    def advance(self, sessions: PartitionSessions) -> None:
        """Take the answer of the running write, and begin the next one if there is something to save."""
        try:
            blamed(self._partition, self._advance, sessions)
        except (OwnFaultError, FatalError) as error:
            self._failed(error)
            self._wait(SaveOutcome.UNANSWERED)
            self._start_full()

    def _advance(self, sessions: PartitionSessions) -> None:
        if self._under_way is not None:
            if not self._under_way.answer.done():
                return
            self._answered(self._under_way)
        from_s = max(self._not_before_s, self._landed_s + self._interval_s)
        if self.refused or self._last is None or self._clock.monotonic_s() < from_s:
            return
        if self._needs_full:
            self._needs_full, self._full = False, _FullWrite(left=list(sessions.names()))
        if self._full is not None:
            self._write_full(self._last, self._full, sessions)
        else:
            self._write_touched(self._last)

    def finish(self, sessions: PartitionSessions, until_s: float) -> None:
        """Save what is committed and wait for the answers, up to this monotonic time; then give up.

        No commit follows, so no write waits for its interval.
        """
        self._interval_s = 0.0
        while True:
            self.advance(sessions)
            left_s = until_s - self._clock.monotonic_s()
            if self._under_way is None or left_s <= 0:
                return
            wait([self._under_way.answer], left_s)

    def _write_touched(self, checkpoint: SavedCheckpoint) -> None:
        sent, self._unsaved = self._unsaved, {}
        write = self._new_write(checkpoint, sent, follows=tuple(self._follows))
        self._begin(write, sent)

    def _write_full(self, checkpoint: SavedCheckpoint, full: _FullWrite, sessions: PartitionSessions) -> None:
        piece = sessions.encoded(self._next_names(full, sessions))
        self._totals.change(self._totals.shares(piece, ()))
        if full.left:
            if piece:
                full.prepared.update(piece)
                call = self._executor.submit(_prepared, self._store, self._partition, full.name, piece)
                self._under_way = _UnderWay(answer=call, id=None, sent={})
            return
        prepared = PreparedSessions(name=full.name, sessions=len(full.prepared))
        sent = piece | self._unsaved
        self._unsaved, self._full = {}, None
        self._begin(self._new_write(checkpoint, sent, prepared=prepared), {}, last=True)

    def _next_names(self, full: _FullWrite, sessions: PartitionSessions) -> list[str]:
        """Take the sessions of the next piece.

        One that is touched and not committed comes with its commit; one that came with a commit is in the last write.
        """
        names: list[str] = []
        waiting: list[str] = []
        while full.left and len(names) < PIECE_SESSIONS:
            name = full.left.pop()
            if name in sessions.touched:
                waiting.append(name)
            elif name not in self._unsaved:
                names.append(name)
        full.left += waiting
        return names

    def _new_write(
        self,
        checkpoint: SavedCheckpoint,
        sent: Mapping[str, bytes | None],
        *,
        follows: tuple[CheckpointId, ...] = (),
        prepared: PreparedSessions | None = None,
    ) -> StoreWrite:
        manifest = Manifest(
            version=MANIFEST_VERSION,
            id=str(checkpoint.id),
            sessions=self._totals.sessions,
            digest=self._totals.digest,
            history=checkpoint.history,
            next_offset=checkpoint.next_offset,
            ledger_end=checkpoint.ledger_end,
        )
        return StoreWrite(
            id=checkpoint.id,
            manifest=msgspec.msgpack.encode(manifest),
            put={name: data for name, data in sent.items() if data is not None},
            drop=[name for name, data in sent.items() if data is None],
            follows=follows,
            prepared=prepared,
        )

    def _begin(self, write: StoreWrite, sent: Mapping[str, bytes | None], *, last: bool = False) -> None:
        answer = self._executor.submit(self._store.write, self._partition, write)
        now_s = self._clock.monotonic_s()
        self._under_way = _UnderWay(answer=answer, id=write.id, sent=sent, last=last, began_s=now_s)

    def _answered(self, done: _UnderWay) -> None:
        self._under_way = None
        try:
            accepted = done.answer.result()
        except ForeignStateError:  # something else than a hash stands there
            accepted = False
        except RetriableError as error:
            self._failed(error)
            self._unanswered(done)
            return
        if not accepted:
            self._wait(SaveOutcome.REFUSED)
            self.refused = self._has_landed
            self._start_full()
        else:
            self._landed(done)

    def _landed(self, done: _UnderWay) -> None:
        if done.id is None:  # a piece, which was put aside
            return
        self._follows, self._has_landed = [done.id], True
        self._landed_s, self._wait_s = self._clock.monotonic_s(), _FIRST_WAIT_S
        if self._last is not None and self._last.id == done.id:
            self._last = self._behind_since_s = None
        else:
            self._behind_since_s = done.began_s
        self._observer.note(CommitStepReached(step=CommitStep.SAVED))
        self._tell(SaveOutcome.LANDED)

    def _unanswered(self, done: _UnderWay) -> None:
        self._wait(SaveOutcome.UNANSWERED)
        if done.id is None:
            self._start_full()
        elif done.last:
            self._follows = [done.id]
        else:
            self._unsaved = {**done.sent, **self._unsaved}
            self._follows = [*(one for one in self._follows if one != done.id), done.id]
            if len(self._follows) > _MOST_FOLLOWED:
                self._start_full()

    def _failed(self, error: CaesuraError) -> None:
        self._observer.note(CallFailed.of("save", error, CalledPart.STORE))

    def _start_full(self) -> None:
        """Make the next write a full one, of all that is committed by then."""
        self._needs_full, self._has_landed = True, False
        self._follows, self._unsaved, self._full = [], {}, None

    def _wait(self, outcome: SaveOutcome) -> None:
        self._not_before_s = self._clock.monotonic_s() + self._wait_s
        self._wait_s = min(2.0 * self._wait_s, _LONGEST_WAIT_S)
        self._tell(outcome)

    def _tell(self, outcome: SaveOutcome) -> None:
        since_s = self._behind_since_s
        behind_s = 0.0 if since_s is None else self._clock.monotonic_s() - since_s
        self._observer.note(SavesBehind(partition=self._partition, outcome=outcome, behind_s=behind_s))


def _prepared(store: SessionStore, partition: int, name: str, put: Mapping[str, bytes]) -> bool:
    store.prepare(partition, name, put)
    return True
