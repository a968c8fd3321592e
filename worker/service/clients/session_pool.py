"""Sessions of many callers decoded together on one engine: events in, segments out; state in memory alone.

The same core as the worker's, and the same batches. There is no log and no store here: what is not taken out when the
process ends is gone. Time is this process's: silence is counted from the arrival of words, and on the audio clock of
sessions that send one. Not thread-safe: one thread owns a pool.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from caesura.schemas.events import WordsEvent
from caesura.schemas.segments import Segment
from caesura.schemas.tentative import Tentative
from caesura.schemas.versions import EVENT_VERSION
from caesura.worker.core.decoding.admission import AdmissionDecision
from caesura.worker.core.decoding.context import DecodingContext, Origin
from caesura.worker.core.decoding.segment_writer import OutSegment
from caesura.worker.core.language.rules import DecodingRules, ModelTable
from caesura.worker.core.language.words import SegmenterFactory, whitespace_segmenters
from caesura.worker.core.partition.partition import PartitionSessions
from caesura.worker.core.session.batching import BatchLimits
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.engine import Engine
from caesura.worker.ports.observer import Observer, SilentObserver
from caesura.worker.ports.service_events import SessionsServed
from caesura.worker.runtime.loop.labelling import Labelling
from caesura.worker.runtime.settings.deadline import Deadline

_PARTITION = 0
_TIMERS_AT_ONCE = 64
"""The time is looked at again after so many timers; they take about 4 ms."""

_TIMERS_SHARE = 0.5
"""Of a turn's time, where many timers are due at once; the rest is for labelling."""

_SOURCE = "memory"


def end_event(last: WordsEvent) -> WordsEvent:
    """Return the event that ends the session whose last event this was."""
    return WordsEvent(
        version=EVENT_VERSION,
        session=last.session,
        lang=last.lang,
        epoch=last.epoch,
        seq=last.seq + 1,
        session_end=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolTurn:
    """What a turn brought.

    written: segments in each session's order. at_rest: sessions that have done all that was asked of them. ended: those
    that are gone, their names free again.
    """

    written: list[OutSegment] = field(default_factory=list)
    at_rest: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)

    @property
    def segments(self) -> list[Segment]:
        """Return the segments alone."""
        return [out.segment for out in self.written]


class SessionPool:
    """Sessions by name; a name is free again once its session has ended or was closed for its silence."""

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Clock,
        rules: DecodingRules | None = None,
        segmenters: SegmenterFactory = whitespace_segmenters,
        limits: BatchLimits | None = None,
        observer: Observer | None = None,
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._observer = observer or SilentObserver()
        context = DecodingContext(
            topic=_SOURCE,
            partition=_PARTITION,
            rules=rules or DecodingRules(),
            models=ModelTable.of(engine.models),
            segmenters=segmenters,
            looks_ahead=True,
        )
        self._sessions = PartitionSessions(context)
        self._labelling = Labelling(
            engine=engine,
            clock=clock,
            observer=self._observer,
            limits=limits or BatchLimits(),
        )
        self._started_ms = clock.wall_ms()
        self._started_s = clock.monotonic_s()
        self._next_offset = 0
        self._unfinished: set[str] = set()
        self._offered: set[str] = set()

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def is_busy(self) -> bool:
        """Tell whether any session has work that is not done."""
        return self._sessions.is_busy

    @property
    def due_in_s(self) -> float | None:
        """Return the seconds until a session's silence or idleness is due, 0 where it is; None: no session waits."""
        due_ms = self._sessions.next_due_ms
        return None if due_ms is None else max(0.0, (due_ms - self._time_ms()) / 1000)

    def offer(self, event: WordsEvent) -> AdmissionDecision:
        """Take an event of a session; the first one begins it."""
        now_ms, wall_ms = self._time_ms(), self._clock.wall_ms()
        origin = Origin(offset=self._next_offset, appended_ms=wall_ms, polled_ms=wall_ms, time_ms=now_ms)
        self._next_offset += 1
        admission = self._sessions.offer(event, origin, only_own=True)
        self._unfinished.add(event.session)
        self._offered.add(event.session)
        return admission

    def turn(self, budget_s: float) -> PoolTurn:
        """Fire what is due, oldest first, and label, for about so many seconds; the rest is for the next turn."""
        deadline = Deadline.after(self._clock, budget_s)
        timers, now_ms = Deadline.after(self._clock, budget_s * _TIMERS_SHARE), self._time_ms()
        while self._sessions.tick(now_ms, most=_TIMERS_AT_ONCE) and not timers.passed:
            continue
        self._labelling.run({_PARTITION: self._sessions}, deadline)
        written = self._sessions.take_segments()
        closed = {out.segment.session for out in written if out.segment.session_end}
        asked, self._offered = self._offered.union(self._sessions.rested), set()
        at_rest = {name for name in asked & self._unfinished if self._sessions.queued_words(name) is None}
        self._unfinished -= at_rest
        ended = {name for name in closed - self._unfinished if not self._sessions.is_open(name)}  # else it spoke again
        for name in ended:
            self.drop(name)
        self._sessions.settle()
        self._observer.note(SessionsServed(count=len(self)))
        return PoolTurn(written=written, at_rest=at_rest, ended=ended)

    def tentative(self, name: str) -> Tentative | None:
        """Return a session's words that are not frozen; None where there is no such session."""
        return self._sessions.tentative(name, self._clock.wall_ms())

    def said_before(self, name: str) -> tuple[str, ...]:
        """Return the model's view of a few frozen words before a session's unfrozen ones."""
        return self._sessions.said_before(name)

    def drop(self, name: str) -> None:
        """Let a session go with all that waits in it. Harmless where there is none."""
        self._sessions.drop(name)
        self._unfinished.discard(name)
        self._engine.forget(name)

    def _time_ms(self) -> int:
        return self._started_ms + int((self._clock.monotonic_s() - self._started_s) * 1000)
