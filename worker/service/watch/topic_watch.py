"""The thread that reads a cluster's topics for the watching pages. It belongs to no group and commits nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from caesura.schemas.codec import decode_event, decode_segment, decode_tentative
from caesura.schemas.errors import InvalidEventError, NewerVersionError
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.topic_reader import KafkaReader, Start
from caesura.worker.core.partition.paced_looks import PacedLooks
from caesura.worker.errors import BrokerError
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.records import Record
from caesura.worker.service.server.messages import ServerMessage
from caesura.worker.service.server.rendered import ServedTexts
from caesura.worker.service.watch.watched_words import WatchedWords

_POLL_S = 0.02
_AGAIN_AFTER_S = 1.0
_MOST_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedTopics:
    """The topics read. words, tentative: None where there is none, or none that may be read."""

    segments: str
    words: str | None
    tentative: str | None


class TopicWatch:
    """Reads and tells. tell: takes a message, from this thread. on_fault: is told what ended it, if not ``stop``."""

    def __init__(  # noqa: PLR0913 - what to read, how to tell it, and to whom
        self,
        settings: KafkaSettings,
        topics: WatchedTopics,
        *,
        start: Start,
        clock: Clock,
        interval_ms: int,
        texts: ServedTexts,
        tell: Callable[[ServerMessage], None],
        on_fault: Callable[[Exception], None],
        reader: Callable[[KafkaSettings, str], KafkaReader] = KafkaReader,
    ) -> None:
        self._settings = settings
        self._reader = reader
        self._start = start
        self._clock = clock
        self._texts = texts
        self._tell = tell
        self._on_fault = on_fault
        self._words = WatchedWords()
        self._looks = PacedLooks[str](interval_ms / 1000)
        self._takers: dict[str, Callable[[Record], None]] = {topics.segments: self._take_segment}
        if topics.words is not None:
            self._takers[topics.words] = self._take_words
        if topics.tentative is not None:
            self._takers[topics.tentative] = self._take_tentative
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="topics", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            with ExitStack() as stack:
                readers = {
                    topic: stack.enter_context(self._reader(self._settings, topic)) for topic in reversed(self._takers)
                }
                for reader in readers.values():
                    reader.assign(self._start)
                while not self._stopping.is_set():
                    self._turn(readers)
        except Exception as error:  # noqa: BLE001 - whatever ends this thread ends the service, which says it
            self._on_fault(error)

    def _turn(self, readers: dict[str, KafkaReader]) -> None:
        """Read each topic a little, and tell of unfrozen words whose time has come."""
        for topic, reader in readers.items():
            taken, wait_s = 0, _POLL_S
            while taken < _MOST_AT_ONCE:
                try:
                    came = reader.poll(wait_s)
                except BrokerError:  # it passes: librdkafka reads on where it was
                    self._clock.sleep_s(_AGAIN_AFTER_S)
                    break
                if came is None:
                    break
                if isinstance(came, Record):
                    self._take(self._takers[topic], came)
                    taken += 1
                wait_s = 0.0
        self._show_unfrozen()

    def _take(self, taker: Callable[[Record], None], record: Record) -> None:
        try:
            taker(record)
        except (InvalidEventError, NewerVersionError):  # the worker's business, and its dead letters'
            return

    def _take_segment(self, record: Record) -> None:
        segment = decode_segment(record.value or b"")
        self._words.freeze(segment)
        self._tell(self._texts.segment(segment))
        self._looks.changed(segment.session)

    def _take_words(self, record: Record) -> None:
        event = decode_event(record.value or b"")
        self._words.hear(event, record.offset)
        self._looks.changed(event.session)

    def _take_tentative(self, record: Record) -> None:
        tentative = decode_tentative(record.value or b"")
        self._words.label(tentative)
        self._looks.changed(tentative.session)

    def _show_unfrozen(self) -> None:
        now_s = self._clock.monotonic_s()
        for name in self._looks.due(now_s):
            tentative = self._words.unfrozen(name, self._clock.wall_ms())
            if tentative is None:
                self._looks.forget(name)
            else:
                self._looks.told(name, now_s)
                self._tell(self._texts.tentative(tentative))
