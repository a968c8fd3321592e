"""Speakers at the pace of speech, and a listener: the load of the benchmarks of live sessions.

Each session says ``WORDS_A_SECOND``, ``EVENT_WORDS`` an event, begun at another moment of the time between two events,
and not all in the same round: sessions that began together take their steps of three words together, in two of three
rounds and none in the third, and let go of left context together, each then being computed anew, as no callers do.
Words carry their times and events say how far the audio was heard, as recognisers do: so no pause between two events is
silence. A segment's *own delay* runs from the append of the event that let it freeze, the last of its session before
the freeze, to the segment being readable: polls, labelling, the checkpoint's interval and its transaction, and what the
broker and the listener add.
"""

from __future__ import annotations

import random
import threading
import time
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from confluent_kafka import KafkaError, Message, Producer

from bench.worker_process import WorkerProcess, require_all_running
from caesura.schemas.codec import decode_segment, encode_event
from caesura.schemas.events import Word, WordsEvent
from caesura.schemas.segments import Cause, Segment
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.topic_reader import KafkaReader, Start
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.records import Record
from caesura.worker.sizing.speech import EVENT_WORDS, WORDS_A_SECOND
from tests.harness.real_world import RealWorld
from tests.harness.speech import spoken_words, talk

STEP_WORDS = DecodingRules().step_words
_TALK_WORDS = 4_000
_LINGER_MS = 2


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Return p50, p99 and the largest of values, in their unit; nothing of none."""
    ordered = sorted(values)
    at = {"p50": 0.5, "p99": 0.99, "max": 1.0}
    return {
        name: round(ordered[min(len(ordered) - 1, int(part * len(ordered)))], 1) for name, part in at.items() if ordered
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What sessions say: the same in every run with the same seed."""

    language: str = "en"
    seed: int = 1


class Speakers(threading.Thread):
    """Sessions that speak until ``stop``, then end. appended_ms: when each session's events were appended.

    first_words: in each session's first event, so that buffers are full at once. begin_over_s: the time over which they
    begin, at least the few rounds after which steps come round again.
    """

    def __init__(
        self,
        world: RealWorld,
        sessions: int,
        *,
        name: str = "s",
        words_a_second: float = WORDS_A_SECOND,
        first_words: int | None = None,
        begin_over_s: float = 0.0,
        said: Said | None = None,
    ) -> None:
        super().__init__(daemon=True)
        self._topic = world.words_topic
        self._producer = Producer(
            {"bootstrap.servers": world.kafka.bootstrap, "linger.ms": _LINGER_MS, "acks": "all", "log_level": 0}
        )
        self.names = [f"{name}-{number}" for number in range(sessions)]
        self._places = [world.partition_of(one) for one in self.names]
        said = said or Said()
        self._language = said.language
        self._talk = talk(_TALK_WORDS, random.Random(said.seed), said.language)  # noqa: S311 - alike in every run
        self._first_words = first_words or EVENT_WORDS
        self._step_s = EVENT_WORDS / words_a_second
        rounds = max(STEP_WORDS, round(begin_over_s / self._step_s))
        self._begins = [number % rounds for number in range(sessions)]
        self._stopping = threading.Event()
        self.appended_ms: dict[str, list[int]] = defaultdict(list)
        self.words = 0
        self.late_s = 0.0

    def run(self) -> None:
        """Speak; each event in its turn, when it is due."""
        began_s, sessions = time.monotonic(), len(self.names)
        for n in count():
            due_s = began_s + n * self._step_s / sessions
            late_s = time.monotonic() - due_s
            self.late_s = max(self.late_s, late_s)
            if late_s < 0:
                self._producer.poll(0)
                time.sleep(-late_s)
            if self._stopping.is_set():
                break
            self._speak(n % sessions, n // sessions)
        for session in range(sessions):
            self._speak(session, n // sessions + (session < n % sessions), end=True)
        self._producer.flush(30)

    def stop(self) -> None:
        """End every session, and wait until all is sent."""
        self._stopping.set()
        self.join()

    def _speak(self, session: int, turn: int, *, end: bool = False) -> None:
        """Let a session speak in a round, or end in it, if it has begun."""
        if turn >= self._begins[session]:
            self._say(session, turn - self._begins[session], end=end)

    def _say(self, session: int, seq: int, *, end: bool) -> None:
        self._producer.produce(
            self._topic,
            encode_event(self._event(session, seq, end=end)),
            self.names[session].encode(),
            self._places[session],
            on_delivery=self._delivered,
        )

    def _event(self, session: int, seq: int, *, end: bool) -> WordsEvent:
        if end:
            return WordsEvent(
                version="1.0", session=self.names[session], seq=seq, lang=self._language, words=(), session_end=True
            )
        word_ms = self._step_s * 1000 / EVENT_WORDS
        first = self._first_words + (seq - 1) * EVENT_WORDS if seq else 0
        spoken = EVENT_WORDS if seq else self._first_words
        self.words += spoken
        words = tuple(
            Word(
                text=self._talk[(session * 37 + number) % len(self._talk)],
                start_ms=int(number * word_ms),
                end_ms=int((number + 1) * word_ms),
            )
            for number in range(first, first + spoken)
        )
        return WordsEvent(
            version="1.0",
            session=self.names[session],
            seq=seq,
            lang=self._language,
            words=words,
            heard_until_ms=words[-1].end_ms,
        )

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        _, at_ms = message.timestamp()
        self.appended_ms[(message.key() or b"").decode()].append(at_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A segment as its reader saw it. words: the recogniser's. read_ms: wall clock when it could be read.

    appended_ms, frozen_ms: when its last word was appended, and when it froze.
    """

    session: str
    partition: int
    words: int
    cause: Cause
    appended_ms: int
    frozen_ms: int
    read_ms: float


class Listener(threading.Thread):
    """Reads segments as a consumer would, and notes when each could be read."""

    def __init__(self, world: RealWorld) -> None:
        super().__init__(daemon=True)
        self._settings = KafkaSettings(
            bootstrap_servers=world.kafka.bootstrap, group_id=f"{world.deployment}-listener", fetch_wait_ms=5
        )
        self._topic = world.segments_topic
        self._stopping = threading.Event()
        self._session_ended = threading.Event()
        self.ended = 0
        self.heard: list[Heard] = []

    def run(self) -> None:
        """Read until told to stop."""
        with KafkaReader(self._settings, self._topic) as reader:
            reader.assign(Start())
            while not self._stopping.is_set():
                came = reader.poll(0.1)
                if isinstance(came, Record):
                    self._take(decode_segment(came.value or b""), came.partition)

    def stop(self) -> None:
        """Read no more."""
        self._stopping.set()
        self.join()

    def wait_for_ended(self, sessions: int, timeout_s: float, workers: Collection[WorkerProcess] = ()) -> None:
        """Wait until so many sessions have ended since the beginning. TimeoutError, RuntimeError: a worker fell."""
        until_s = time.monotonic() + timeout_s
        while self.ended < sessions:
            require_all_running(workers)
            if time.monotonic() > until_s:
                raise TimeoutError(f"{self.ended} of {sessions} sessions have ended after {timeout_s} s")
            self._session_ended.wait(0.1)
            self._session_ended.clear()  # before the next look at how many: none is missed

    def since(self, start_ms: float, end_ms: float) -> list[Heard]:
        """Return what could be read in this time, wall clock."""
        return [one for one in self.heard if start_ms <= one.read_ms < end_ms]

    def _take(self, segment: Segment, partition: int) -> None:
        read_ms = time.time() * 1000.0
        self.heard.append(
            Heard(
                session=segment.session,
                partition=partition,
                words=spoken_words(segment),
                cause=segment.cause,
                appended_ms=segment.timing.appended_ms,
                frozen_ms=segment.timing.frozen_ms,
                read_ms=read_ms,
            )
        )
        if segment.session_end:
            self.ended += 1
            self._session_ended.set()


def own_delays(heard: Sequence[Heard], appended_ms: Mapping[str, Sequence[int]]) -> list[float]:
    """Return the own delay of each segment with words, in milliseconds."""
    delays = []
    for one in heard:
        times = appended_ms.get(one.session, ())
        if one.words and times:
            place = bisect_right(times, one.frozen_ms) - 1
            delays.append(one.read_ms - times[max(0, place)])
    return delays


def causes(heard: Sequence[Heard]) -> dict[str, int]:
    """Return how many segments with words each cause ended."""
    return dict(Counter(str(one.cause) for one in heard if one.words).most_common())
