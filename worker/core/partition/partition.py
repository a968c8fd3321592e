"""All sessions of one partition: events and time in, label requests and segments out, in the order of the input.

Rules:

1. Every timer due at or before a record's time fires before the record, in the order (due, session).
2. ``touched`` has every session whose stored state may have changed since the last ``settle``.
3. A forgotten session is a tombstone until ``settle``. An event in between begins a new session of that name; the old
   one's work is finished first.
4. A closed session that is unchanged since its save is dormant: only its snapshot is kept (``dormant_sessions``).
5. No timer fires during a replay. The ledger has what timers published and which sessions were forgotten. Repeats and
   late events were decided when the records were first applied.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain
from typing import ParamSpec, TypeVar

from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.events import WordsEvent
from caesura.schemas.labels import Labels
from caesura.schemas.state import LedgerState, SessionState, SessionStatus, decode_state
from caesura.schemas.tentative import Tentative
from caesura.worker.core.decoding.admission import AdmissionDecision, OfferOutcome
from caesura.worker.core.decoding.context import DecodingContext, Origin
from caesura.worker.core.decoding.segment_writer import OutSegment
from caesura.worker.core.partition.dormant_sessions import DormantSessions, can_rest
from caesura.worker.core.partition.timers import Timers
from caesura.worker.core.session.batching import LabelQueue
from caesura.worker.core.session.session import Session
from caesura.worker.core.session.session_work import SessionWork

_SLACK = 64

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")


class ReplayOffsets:
    """The smallest of many slowly growing offsets. Setting one costs O(log n), the smallest O(1), both amortised."""

    __slots__ = ("_heap", "_offsets")

    def __init__(self) -> None:
        self._offsets: dict[str, int] = {}
        self._heap: list[tuple[int, str]] = []

    def set(self, session: str, offset: int | None) -> None:
        """Take a session's offset; None: it needs nothing."""
        if offset is None:
            self._offsets.pop(session, None)
            return
        if self._offsets.get(session) == offset:
            return
        self._offsets[session] = offset
        heapq.heappush(self._heap, (offset, session))
        if len(self._heap) > 4 * len(self._offsets) + _SLACK:
            # One session that stands still would keep every outdated entry of the others alive below it.
            self._heap = [(own, name) for name, own in self._offsets.items()]
            heapq.heapify(self._heap)

    @property
    def smallest(self) -> int | None:
        """Return the smallest offset; None where no session needs any."""
        while self._heap and self._offsets.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None


class PartitionSessions:
    """The sessions of one partition, by name. replays: no timer fires until ``replayed``."""

    def __init__(self, context: DecodingContext, *, replays: bool = False) -> None:
        self._context = context
        self._replays = replays
        self._sessions: dict[str, Session] = {}
        self._resting = DormantSessions(context.rules)
        self._woken: dict[str, bytes] = {}
        self._loaded_latest_ms = 0
        self._open: set[str] = set()
        self._timers = Timers(self._due_of)
        self._work = SessionWork(context.partition)
        self._touched: set[str] = set()
        self._moved: set[str] = set()
        self._tombstones: set[str] = set()
        self._unrecorded: set[str] = set()
        self._replay = ReplayOffsets()

    def __len__(self) -> int:
        """Count the sessions, tombstones not among them."""
        return len(self._sessions) + len(self._resting) - len(self._tombstones)

    @property
    def latest_ms(self) -> int:
        """Return the latest partition time that any session knows of, else 0. O(sessions awake)."""
        return max(self._loaded_latest_ms, *(session.latest_ms for session in self._sessions.values()), 0)

    @property
    def next_due_ms(self) -> int | None:
        """Return the partition time at which ``tick`` has something to do next; None: never by itself."""
        due = self._timers.next()
        return None if due is None else due[0]

    def is_open(self, key: str) -> bool:
        """Tell whether there is a session of this name that is neither closed nor ended."""
        return key in self._open

    def is_due(self, time_ms: int) -> bool:
        """Tell whether ``tick`` has something to do at that partition time."""
        return self._timers.next_by(time_ms) is not None

    @property
    def is_busy(self) -> bool:
        """Tell whether any session has work that is not done."""
        return bool(self._work)

    @property
    def rested(self) -> Collection[str]:
        """Return sessions whose work was done since the last ``settle``."""
        return self._work.rested

    @property
    def touched(self) -> Collection[str]:
        """Return the sessions whose stored state may have changed since the last ``settle``."""
        return self._touched

    @property
    def forgotten(self) -> Collection[str]:
        """Return the sessions that were forgotten since the last ``settle``: tombstones."""
        return self._tombstones

    @property
    def unrecorded(self) -> Collection[str]:
        """Return sessions with a record due: begun anew, kept waiting by ``replayed``, closed with an event since."""
        return self._unrecorded

    @property
    def replay_offset(self) -> int | None:
        """Return the smallest input offset that a rebuild needs; None: the ledger says it all. Nothing is queued."""
        for key in self._moved:
            session = self._sessions.get(key)
            gone = session is None or session.status is SessionStatus.FORGOTTEN
            self._replay.set(key, None if session is None or gone else session.replay_offset)
        self._moved.clear()
        return self._replay.smallest

    def names(self) -> Iterable[str]:
        """Return the sessions' names, tombstones among them."""
        return chain(self._sessions, self._resting.names)

    @property
    def awake(self) -> Collection[str]:
        """Return the names of the sessions that are more than a stored snapshot."""
        return self._sessions.keys()

    def statuses(self) -> Counter[SessionStatus]:
        """Count the sessions by where they are in their life. O(sessions awake)."""
        return Counter(session.status for session in self._sessions.values()) + self._resting.statuses()

    def restore(self, state: SessionState, stored: bytes) -> None:
        """Take a session as it is stored, the same as bytes; one that is closed is left at rest."""
        if not can_rest(state):
            self.put_back(state.session, state)
            return
        self._resting.put(state.session, state, stored)
        self._loaded_latest_ms = max(self._loaded_latest_ms, state.admission.event_ms, state.admission.closed_ms or 0)
        self._timers.update(state.session, self._due_of(state.session))

    def offer(
        self, event: WordsEvent, origin: Origin, *, admitted: bool = False, only_own: bool = False
    ) -> AdmissionDecision:
        """Let due timers fire, then decide about the event and queue it if it is accepted.

        admitted: it was read before, and there was room for its session then. only_own: of the timers, those of its
        session fire; the others stay due.
        """
        if only_own:
            self._tick_own(event.session, origin.time_ms)
        else:
            self.tick(origin.time_ms)
        session = self._awake(event.session)
        if session is None or session.status is SessionStatus.FORGOTTEN:
            if not admitted and len(self._open) >= self._context.rules.max_open_sessions:
                return AdmissionDecision(outcome=OfferOutcome.REFUSED, reason=DeadLetterReason.TOO_MANY_SESSIONS)
            if session is not None:
                self._unrecorded.add(event.session)
            session = Session.open(event, origin, self._context)
            self._sessions[event.session] = session
            self._tombstones.discard(event.session)
        decision = self._changing(event.session, session.offer, event, origin)
        if decision.outcome is OfferOutcome.ACCEPTED:
            self._note(event.session, session)
            if session.status is SessionStatus.CLOSED:  # else a rebuild would read from here on for a day
                self._unrecorded.add(event.session)
        return decision

    def tick(self, now_ms: int, *, most: int | None = None) -> int:
        """Let the timers fire that are due at partition time ``now_ms``, one by one in the order (due, session).

        most: of how many sessions at most, None: of all; the rest stays due. Returns how many sessions had one fire.
        """
        if self._replays:
            return 0
        fired = 0
        while (most is None or fired < most) and (due := self._timers.next_by(now_ms)) is not None:
            fired += 1
            self._fire(*due)
        return fired

    def _tick_own(self, key: str, now_ms: int) -> None:
        while not self._replays and (due_ms := self._due_of(key)) is not None and due_ms <= now_ms:
            self._fire(due_ms, key)

    def _fire(self, due_ms: int, key: str) -> None:
        session = self._awake(key)
        assert session is not None, "a due session is there"
        self._changing(key, session.fire, due_ms)
        if session.status is SessionStatus.FORGOTTEN:
            self._tombstones.add(key)
        self._note(key, session)

    def flush(self, key: str) -> bool:
        """Have a session publish all that it holds; False where there is nothing."""
        session = self._sessions.get(key)
        if session is None or not self._changing(key, session.flush):
            return False
        self._note(key, session)
        return True

    def waiting(self, now_ms: int, enough: Callable[[], bool] = lambda: False) -> LabelQueue:
        """Work wherever it is not known what is wanted, until it is enough, and return what is. now_ms: wall clock."""
        return self._work.waiting(now_ms, enough)

    def resolve(self, key: str, labels: Labels, now_ms: int) -> None:
        """Give a session the labels it wants. now_ms: wall clock. ValueError: they are not one of each kind a word."""
        self._work.resolve(key, labels, now_ms)

    def fall_back(self, key: str, now_ms: int) -> None:
        """Let a session go on without the labels it wants: its buffer freezes unlabelled, cause ``fallback``."""
        self._work.fall_back(key, now_ms)

    @property
    def has_segments(self) -> bool:
        """Tell whether segments froze since ``take_segments`` was last called."""
        return self._work.has_segments

    def take_segments(self) -> list[OutSegment]:
        """Return the segments that froze since the last call, each session's in order."""
        return self._work.take_segments()

    def tentative(self, key: str, now_ms: int) -> Tentative | None:
        """Return a session's words that are not frozen; None where there is no such session. now_ms: wall clock."""
        session = self._sessions.get(key)
        return None if session is None else session.tentative(now_ms)

    def said_before(self, key: str) -> tuple[str, ...]:
        """Return the model's view of a session's last frozen words, a few of them."""
        session = self._sessions.get(key)
        return () if session is None else session.said_before()

    def queued_words(self, key: str) -> int | None:
        """Return how many words of a session wait for labels behind the running work; None where it is at rest."""
        return self._work.queued_words(key)

    def drop(self, key: str) -> None:
        """Let a session go, with its queued work and the segments that were not taken yet."""
        self.put_back(key, None)
        self._moved.discard(key)
        self._replay.set(key, None)

    def snapshots(self, keys: Iterable[str]) -> dict[str, bytes | None]:
        """Return sessions as they are stored, None for a tombstone. Nothing may be queued."""
        return {key: None if key in self._tombstones else self._woken_up(key).snapshot() for key in keys}

    def encoded(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return sessions as they are stored; those at rest stay at rest. Nothing of them may be queued."""
        resting = self._resting.stored
        return {key: data if (data := resting(key)) is not None else self._sessions[key].snapshot() for key in keys}

    def ledger_states(self, keys: Iterable[str]) -> dict[str, LedgerState | None]:
        """Return ledger records of sessions, None for a tombstone. Nothing may be queued."""
        return {key: None if key in self._tombstones else self._woken_up(key).ledger_state() for key in keys}

    def settle(self, stored: Mapping[str, bytes] | None = None) -> list[str]:
        """Take note that everything so far is committed: tombstones are dropped, nothing is touched.

        stored: snapshots that are stored now, as bytes. Returns the sessions that rest from here on.
        """
        for key in self._tombstones:
            del self._sessions[key]
            self._replay.set(key, None)
        self._tombstones.clear()
        self._unrecorded.clear()
        self._touched.clear()
        self._work.rested.clear()
        woken, self._woken = self._woken, {}
        return self._rest({**woken, **(stored or {})})

    def replayed(self, time_ms: int) -> None:
        """Take note that no record is replayed any more, at that partition time. Nothing is queued."""
        self._replays = False
        waiting = [key for key, session in self._sessions.items() if session.replayed(time_ms)]
        self._unrecorded.update(waiting)
        self._touched.update(waiting)

    def put_back(self, key: str, state: SessionState | None) -> None:
        """Make a session what it was when last committed (None: there was none); its queued work is dropped."""
        self._work.drop(key)
        self._touched.discard(key)
        self._tombstones.discard(key)
        self._unrecorded.discard(key)
        self._resting.drop(key)
        self._woken.pop(key, None)
        self._moved.add(key)
        if state is None:
            self._sessions.pop(key, None)
            self._open.discard(key)
        else:
            self._sessions[key] = Session.restore(state, self._context)
            self._count_open(key, self._sessions[key])
        self._timers.update(key, self._due_of(key))

    def _changing(
        self, key: str, change: Callable[_Arguments, _Answer], *args: _Arguments.args, **kwargs: _Arguments.kwargs
    ) -> _Answer:
        """Call what may change a session; where it raises, the session may be changed: it is not what was committed."""
        try:
            return change(*args, **kwargs)
        except BaseException:
            self._touched.add(key)
            raise

    def _awake(self, key: str) -> Session | None:
        """Return a session, read from its snapshot where it rested; None: there is none of this name."""
        session = self._sessions.get(key)
        if session is None and (rested := self._resting.take(key)) is not None:
            state, self._woken[key] = rested
            session = self._sessions[key] = Session.restore(state, self._context)
        return session

    def _woken_up(self, key: str) -> Session:
        session = self._awake(key)
        if session is None:
            raise KeyError(key)
        return session

    def _rest(self, stored: Mapping[str, bytes]) -> list[str]:
        """Put closed sessions to rest that are as they are stored; return which."""
        resting = []
        for key, data in stored.items():
            session = self._sessions.get(key)
            open_or_gone = session is None or session.status in (SessionStatus.OPEN, SessionStatus.FORGOTTEN)
            if session is None or open_or_gone or key in self._touched or key in self._work:
                continue
            state = decode_state(data)
            if can_rest(state):
                del self._sessions[key]
                self._resting.put(key, state, data)
                self._woken.pop(key, None)
                resting.append(key)
        return resting

    def _due_of(self, key: str) -> int | None:
        session = self._sessions.get(key)
        return self._resting.due_ms(key) if session is None else session.due_ms

    def _note(self, key: str, session: Session) -> None:
        self._woken.pop(key, None)  # its stored snapshot is no longer what it is
        self._touched.add(key)
        self._moved.add(key)
        self._timers.update(key, session.due_ms)
        self._count_open(key, session)
        self._work.add(key, session)

    def _count_open(self, key: str, session: Session) -> None:
        (self._open.add if session.status is SessionStatus.OPEN else self._open.discard)(key)
