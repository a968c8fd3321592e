"""Word events of a recording into frozen segments: the worker's decoding, in the time of the recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from typing_extensions import override

from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.events import WordsEvent
from caesura.schemas.segments import Segment
from caesura.worker.core.decoding.admission import OfferOutcome
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.language.segmentation import segmenters
from caesura.worker.feeds.timed_events import TimedEvent
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.engine import Engine
from caesura.worker.service.clients.session_pool import SessionPool, end_event

_WITHOUT_END_S = 1e9
_BATCH_WORDS = 20_000
_NEVER_IDLE_MS = 604_800_000
_MANY_SESSIONS = 10_000_000


@dataclass(frozen=True, slots=True)
class DecodedBatch:
    """Segments that froze, each session's in order, and the sessions that have begun since the batch before.

    at_ms: the time of the last event that was decoded, from the recording's start.
    """

    segments: list[Segment]
    begun: list[str]
    at_ms: int


@dataclass(slots=True)
class RecordingDecoder:
    """Decodes the sessions of a recording. refused: events that their session did not take, by reason."""

    engine: Engine
    rules: DecodingRules = field(default_factory=DecodingRules)
    refused: Counter[str] = field(default_factory=Counter)

    def decoded(self, events: Iterable[TimedEvent], *, live: bool = False) -> Iterator[DecodedBatch]:
        """Yield what froze as the events go by; every session is ended at last.

        live: decode after each event; else many events together, which share the model's batches.
        """
        clock = _RecordingClock()
        rules = replace(self.rules, max_open_sessions=_MANY_SESSIONS, idle_after_ms=_NEVER_IDLE_MS)
        pool = SessionPool(self.engine, clock=clock, rules=rules, segmenters=segmenters)
        last: dict[str, WordsEvent] = {}
        ended: set[str] = set()
        begun: list[str] = []
        words = 0
        for timed in events:
            event = timed.event
            clock.now_ms = max(clock.now_ms, timed.at_ms)
            if event.session in ended:  # the pool would begin it anew
                self.refused[DeadLetterReason.SESSION_ENDED.value] += 1
                continue
            admission = pool.offer(event)
            if admission.reason is not None:
                self.refused[admission.reason.value] += 1
            elif admission.outcome is OfferOutcome.ACCEPTED:
                if event.session not in last:
                    begun.append(event.session)
                last[event.session] = event
                if event.session_end:
                    ended.add(event.session)
            words += len(event.words)
            if live or words >= _BATCH_WORDS:
                yield DecodedBatch(pool.turn(_WITHOUT_END_S).segments, begun, clock.now_ms)
                words, begun = 0, []
        for session, event in last.items():
            if session not in ended:
                pool.offer(end_event(event))
        yield DecodedBatch(pool.turn(_WITHOUT_END_S).segments, begun, clock.now_ms)


class _RecordingClock(Clock):
    """Shows the time of the event that is decoded, in milliseconds from the recording's start."""

    def __init__(self) -> None:
        self.now_ms = 0

    @override
    def wall_ms(self) -> int:
        """Return milliseconds from the recording's start."""
        return self.now_ms

    @override
    def monotonic_s(self) -> float:
        """Return seconds from the recording's start."""
        return self.now_ms / 1000

    @override
    def sleep_s(self, seconds: float) -> None:
        """Return at once."""
