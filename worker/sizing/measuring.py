"""Measures this machine: words a second of a backlog, live sessions that fit on one core, memory a session.

Live sessions run in time of their own, which goes on by the processor time that a turn takes and leaps to the next
event where there is nothing to do. So a stage takes no longer than the work in it, and what else the machine does
counts little. A turn takes what has come by then, as the worker's does: the more sessions, the larger the batches.

A number of sessions fits where ``IN_TIME_SHARE`` of the events are labelled in time: within the delay allowed for a
word of the worker's own, less the checkpoint's interval.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from typing_extensions import override

from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.engine import Engine
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.sizing.resident_memory import resident_bytes
from caesura.worker.sizing.speech import EVENT_WORDS, WORDS_A_SECOND, LoadSpeaker
from caesura.worker.sizing.unconnected_worker import UnconnectedWorker


def rising(first: int, most: int, carried: Mapping[int, bool], *, between: int) -> Iterator[int]:
    """Yield how many sessions next: doubled up to ``most`` while they are carried, then the middle, ``between`` times.

    carried: whether so many were; the caller adds each number's answer before it asks for the next. Where the first is
    too many, what lies between none and it is tried: nothing is taken for carried that was not.
    """
    sessions = first
    while sessions <= most:
        yield sessions
        if not carried[sessions]:
            break
        sessions *= 2
    else:
        return
    least, beyond = (sessions // 2 if sessions > first else 0), sessions
    for _ in range(between):
        middle = (least + beyond) // 2
        if middle == least:
            return
        yield middle
        least, beyond = (middle, beyond) if carried[middle] else (least, middle)


OVERHEAD = 1.1
"""A worker's processor time to that of what is measured here: the clients of Kafka and Redis, the loop, telemetry.

``python -m bench.cost_split`` measures it, as ``around``: all stages to decode, core, network and snapshots. It was
1.10 for 1,000 live sessions of the large model, 1.03 for a backlog, 1.19 for 2,000 of the small one (docs/capacity.md).
"""

OWN_DELAY_MS = 250
"""The delay allowed for a word of the worker's own by default, in milliseconds (docs/capacity.md)."""

IN_TIME_SHARE = 0.99
"""The share of events that must be labelled in time, 99 of 100: the delay is judged by its p99 (docs/capacity.md)."""

_FIRST_TURNS = (3, 4, 5, 6, 7, 8, 9, 10)
_BACKLOG_TURNS = 6
_BACKLOG_WORDS = 5
_BETWEEN = 3
_STEP_S = EVENT_WORDS / WORDS_A_SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveStage:
    """So many live sessions. busy: the share of one core, what is around included. late_ms: p99 of the waits."""

    sessions: int
    busy: float
    late_ms: float
    cpu_s_per_million_words: float
    fits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was measured on one core, with one thread.

    words_a_second: of a backlog. live_sessions: that fit. start_bytes: resident with the models, whatever the
    sessions. session_bytes: resident a session, the ``row_bytes`` that the engine keeps of it included.
    """

    words_a_second: float
    cpu_s_per_million_words: float
    live_sessions: int
    stages: list[LiveStage]
    start_bytes: int
    session_bytes: int
    row_bytes: int
    load_average: float


class Measurement:
    """One machine's, with one engine of one thread.

    language: of the speech, one of ``speech.SPOKEN`` with an active model. delay_ms: allowed for a word of the worker's
    own. clock_s: the processor's, of the thread that works.
    """

    def __init__(
        self,
        engine: Engine,
        settings: RuntimeSettings,
        rules: DecodingRules,
        *,
        language: str = "en",
        delay_ms: int = OWN_DELAY_MS,
        clock_s: Callable[[], float] = time.process_time,
    ) -> None:
        self._engine = engine
        self._language = language
        self._clock_s = clock_s
        self._time = _OwnTime()
        self._wait_s = (delay_ms - settings.commit_interval_ms) / 1000
        self._interval_s = settings.commit_interval_ms / 1000
        self._most_records = settings.max_poll_records
        self._worker = UnconnectedWorker(engine, settings, rules, self._time)
        self._speakers: list[LoadSpeaker] = []

    def run(self, *, seconds: float, first_sessions: int, most_sessions: int) -> Measured:
        """Measure, in rising stages of so many seconds of speech; ``most_sessions`` ends the rise. Blocks."""
        start_bytes = resident_bytes()
        held: list[tuple[int, int]] = []
        self._say_first(first_sessions)
        wall_s, cpu_s = self._say(self._speakers, turns=_BACKLOG_TURNS)
        words = first_sessions * _BACKLOG_TURNS * _BACKLOG_WORDS
        stages: list[LiveStage] = []
        fits: dict[int, bool] = {}
        for sessions in rising(first_sessions, most_sessions, fits, between=_BETWEEN):
            self._say_first(sessions)
            stages.append(self._live(sessions, seconds))
            fits[sessions] = stages[-1].fits
            held.append((len(self._worker), resident_bytes()))
        kept = self._engine.work
        base_bytes, session_bytes = _memory(start_bytes, held)
        row_bytes = kept.kept_bytes // max(1, kept.kept_sessions)
        return Measured(
            words_a_second=round(words / wall_s, 1),
            cpu_s_per_million_words=round(cpu_s / words * 1e6, 1),
            live_sessions=max((one.sessions for one in stages if one.fits), default=0),
            stages=sorted(stages, key=lambda one: one.sessions),
            start_bytes=base_bytes,
            session_bytes=max(session_bytes, row_bytes),  # of few sessions the rows lie in memory that was there before
            row_bytes=row_bytes,
            load_average=round(os.getloadavg()[0], 1),
        )

    def _say_first(self, sessions: int) -> None:
        """Have so many sessions, their buffers of different lengths, so that not all step at once."""
        numbers = range(len(self._speakers), sessions)
        fresh = [LoadSpeaker(f"session-{n}", place=n * 37, language=self._language) for n in numbers]
        self._speakers += fresh
        for number, turns in enumerate(_FIRST_TURNS):
            self._say(fresh[number :: len(_FIRST_TURNS)], turns=turns)

    def _say(self, speakers: Sequence[LoadSpeaker], *, turns: int) -> tuple[float, float]:
        """Let all of them speak turn after turn, as fast as it goes; return wall and processor seconds."""
        wall_s, cpu_s = 0.0, 0.0
        for _ in range(turns):
            said = [one.says(_BACKLOG_WORDS) for one in speakers]
            began_s, began_cpu_s = time.perf_counter(), self._clock_s()
            self._worker.take(said)
            self._worker.checkpoint()
            wall_s, cpu_s = wall_s + time.perf_counter() - began_s, cpu_s + self._clock_s() - began_cpu_s
        return wall_s, cpu_s

    def _live(self, sessions: int, seconds: float) -> LiveStage:
        """Let so many sessions speak at the pace of speech."""
        began_s = self._time.now_s
        end_s, last_s = began_s + seconds, began_s
        due = ((began_s + n * _STEP_S / sessions, n % sessions) for n in count())
        next_s, who = next(due)
        waits: list[float] = []
        busy_s, frozen_late = 0.0, end_s + 4 * self._wait_s
        while next_s < end_s and self._time.now_s < frozen_late:
            self._time.now_s = max(self._time.now_s, next_s)
            came: list[float] = []
            said: list[bytes] = []
            while next_s <= self._time.now_s and next_s < end_s and len(said) < self._most_records:
                came.append(next_s)
                said.append(self._speakers[who].says())
                next_s, who = next(due)
            before_s = self._clock_s()
            self._worker.take(said)
            if self._time.now_s - last_s >= self._interval_s:
                last_s = self._time.now_s
                self._worker.checkpoint()
            spent_s = (self._clock_s() - before_s) * OVERHEAD
            busy_s += spent_s
            self._time.now_s += spent_s
            waits += [self._time.now_s - at_s for at_s in came]
        late_s = sorted(waits)[min(len(waits) - 1, int(IN_TIME_SHARE * len(waits)))]
        return LiveStage(
            sessions=sessions,
            busy=round(busy_s / max(seconds, self._time.now_s - began_s), 3),
            late_ms=round(late_s * 1000, 1),
            cpu_s_per_million_words=round(busy_s / (len(waits) * EVENT_WORDS) * 1e6, 1),
            fits=late_s <= self._wait_s,
        )


def _memory(start_bytes: int, held: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return what is resident whatever the sessions, and a session; held: sessions and bytes, stage by stage.

    What the engine takes for its batches comes with the first sessions, and stays: the slope says what one more takes.
    """
    (few, few_bytes), (many, many_bytes) = min(held), max(held)
    if many == few:
        return start_bytes, max(0, few_bytes - start_bytes) // few
    session_bytes = max(0, many_bytes - few_bytes) // (many - few)
    return max(start_bytes, few_bytes - few * session_bytes), session_bytes


class _OwnTime(Clock):
    """The clock of what is measured: it goes on where the measurement says."""

    def __init__(self) -> None:
        self.now_s = 0.0

    @override
    def wall_ms(self) -> int:
        return int(self.now_s * 1000)

    @override
    def monotonic_s(self) -> float:
        return self.now_s

    @override
    def sleep_s(self, seconds: float) -> None:
        self.now_s += seconds
