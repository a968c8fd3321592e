"""Sessions that open, speak and close without end, as fast as their words come out again."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from confluent_kafka import Consumer, Producer, TopicPartition
from typing_extensions import override

from caesura.schemas.codec import decode_segment, encode_event
from caesura.schemas.events import Word, WordsEvent
from caesura.schemas.segments import Segment
from caesura.worker.core.partition.partitioning import murmur2_partition
from tests.harness.background import BackgroundLoop

_OPEN_SESSIONS = 400
_WORDS_AN_EVENT = 8
_EVENTS_A_SESSION = (4, 40)
_WAIT_S = 0.01


@dataclass(slots=True)
class _Speaker:
    session: str
    partition: int
    place: int
    events_left: int
    seq: int = 0


class Speakers:
    """A producer in a thread of its own. It waits where more than ``max_behind_words`` have not come out yet.

    text: every session reads it aloud, from a place of its own.
    """

    def __init__(
        self, bootstrap: str, topic: str, text: Sequence[str], *, partitions: int, max_behind_words: int
    ) -> None:
        self._topic = topic
        self._text = text
        self._partitions = partitions
        self._max_behind_words = max_behind_words
        self._drawn = random.Random(1)
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 20, "log_level": 0}
        )
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="speakers", daemon=True)
        self.words_in = 0
        self.words_out = 0
        self.sessions = 0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Let every session come to its end."""
        self._stopping.set()
        self._thread.join()
        assert self._producer.flush(60) == 0

    def _run(self) -> None:
        speakers: list[_Speaker] = []
        while speakers or not self._stopping.is_set():
            while len(speakers) < _OPEN_SESSIONS and not self._stopping.is_set():
                speakers.append(self._opened())
            if self.words_in - self.words_out > self._max_behind_words:
                self._producer.poll(0)
                time.sleep(_WAIT_S)
                continue
            speakers = [one for one in speakers if self._speak(one)]

    def _opened(self) -> _Speaker:
        session = f"soak-{self.sessions}"
        self.sessions += 1
        partition = murmur2_partition(session.encode(), self._partitions)
        place = self._drawn.randrange(len(self._text) - _WORDS_AN_EVENT * max(_EVENTS_A_SESSION))
        return _Speaker(session, partition, place, self._drawn.randint(*_EVENTS_A_SESSION))

    def _speak(self, speaker: _Speaker) -> bool:
        """Say some words, or the end; tell whether there is more to come."""
        ends = speaker.events_left == 0
        said = () if ends else self._text[speaker.place : speaker.place + _WORDS_AN_EVENT]
        words = tuple(Word(text=text) for text in said)
        event = WordsEvent(
            version="1.0", session=speaker.session, seq=speaker.seq, lang="en", words=words, session_end=ends
        )
        self._producer.produce(self._topic, encode_event(event), speaker.session.encode(), speaker.partition)
        self._producer.poll(0)
        self.words_in += len(words)
        speaker.place += len(words)
        speaker.seq += 1
        speaker.events_left -= 1
        return not ends


class Listener(BackgroundLoop):
    """A ``read_committed`` reader in a thread of its own. What it remembers of a session it drops at its end."""

    def __init__(self, bootstrap: str, topic: str, partitions: int, heard: Callable[[int], None]) -> None:
        super().__init__("listener")
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": f"{topic}-listener",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "log_level": 0,
            }
        )
        self._consumer.assign([TopicPartition(topic, partition, 0) for partition in range(partitions)])
        self._heard = heard
        self._reached: dict[str, tuple[int, int]] = {}
        self.ended_s: dict[str, float] = {}
        self.wrong: list[str] = []

    @override
    def close(self) -> None:
        super().close()
        self._consumer.close()

    @override
    def _run(self) -> None:
        while not self._closing.is_set():
            words = 0
            for message in self._consumer.consume(1000, 0.1):
                if message.error() is None:
                    segment = decode_segment(message.value() or b"")
                    self._check(segment)
                    words += len(segment.words)
            self._heard(words)

    def _check(self, segment: Segment) -> None:
        index, words = self._reached.pop(segment.session, (0, 0))
        if (segment.index, segment.first_word) != (index, words):
            self.wrong.append(f"{segment.session}: segment {segment.index} where {index} was due")
        if segment.session_end:
            self.ended_s[segment.session] = time.monotonic()
        else:
            self._reached[segment.session] = (segment.index + 1, segment.first_word + len(segment.words))
