"""What each session's producer sends under chaos, drawn from the seed alone, and what it knows of it.

Sessions differ in what they ask for and in how their producers behave: repeats, gaps, restarts under a new epoch, late
events, a change of language, pauses, an audio clock, confidence, what passes through, routes that come and go, words
after the end, a name used again, talks of two thousand words; bytes that are no event, no value at all, another key, a
wrong partition, an event of a later minor version.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import msgspec

from caesura.schemas.codec import encode_event
from caesura.schemas.events import Emission, SessionOptions, Word, WordsEvent
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.ports.records import Record

WHEN_ALL_ENDS = float("inf")
"""A pause until no more sessions are opened."""
_CHINESE = ("今天", "天气", "很好", "我们", "去", "公园", "散步", "吧", "嗯", "那个", "下午", "再说")
_NAMED_AGAIN_S = 25.0
_IDLE_S = 12.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One record for the input topic. refused: why it must be, where its producer knows. after_s: the pause before."""

    partition: int
    key: bytes
    value: bytes | None
    refused: str | None = None
    after_s: float = 0.0
    headers: tuple[tuple[str, bytes], ...] = ()


def session_records(seed: int, number: int, partitions: int, *, timed: bool = False) -> Iterator[Sent]:
    """Yield a session's records in order. Its name leads to the partition ``number`` modulo ``partitions``.

    timed: it may choose its silence, so that timers fire.
    """
    drawn = random.Random(f"{seed} {number}")
    name = session_name(f"s{number}", number % partitions, partitions)
    yield from _Producer(name, drawn, partitions, timed=timed).records()


def crowd_records(number: int, partitions: int) -> Iterator[Sent]:
    """Yield the records of a session that says a word, stays open to the end, and ends."""
    partition = number % partitions
    name = session_name(f"c{number}", partition, partitions)
    for seq in range(2):
        words = (Word(text=f"{name}-{seq}", confidence=0.5),)
        event = WordsEvent(version="1.0", session=name, seq=seq, lang="en", words=words, session_end=seq == 1)
        after_s = WHEN_ALL_ENDS if seq else 0.0
        yield Sent(partition=partition, key=name.encode(), value=encode_event(event), after_s=after_s)


def session_name(prefix: str, partition: int, partitions: int) -> str:
    """Return a name that begins like that and leads to the partition."""
    letter = 0
    while murmur2_partition(f"{prefix}x{letter:x}".encode(), partitions) != partition:
        letter += 1
    return f"{prefix}x{letter:x}"


class _Producer:
    """One session's producer."""

    def __init__(self, name: str, drawn: random.Random, partitions: int, *, timed: bool) -> None:
        self._name = name
        self._drawn = drawn
        self._timed = timed
        self._partitions = partitions
        self._partition = murmur2_partition(name.encode(), partitions)
        self._epoch = self._seq = self._said = 0
        self._chinese = drawn.random() < 0.15
        self._hears = drawn.random() < 0.2
        self._audio_ms = 0

    def records(self) -> Iterator[Sent]:
        """Yield all that is sent: a talk to its end, and perhaps what comes after it."""
        long = self._drawn.random() < 0.01
        yield from self._talk(2_000 if long else self._drawn.randint(8, 60), most=60 if long else 6)
        end = self._event((), session_end=True)
        yield self._sent(encode_event(end))
        if self._drawn.random() < 0.1:
            yield self._sent(encode_event(self._event(self._words(1))))
        if self._drawn.random() < 0.05:
            yield self._sent(encode_event(end))
        if self._drawn.random() < 0.03:
            self._epoch, self._seq = self._epoch + 1, 0
            again = encode_event(self._event(self._words(3)))
            yield replace(self._sent(again), after_s=_NAMED_AGAIN_S)
            yield self._sent(encode_event(self._event((), session_end=True)))

    def _talk(self, total: int, *, most: int) -> Iterator[Sent]:
        drawn = self._drawn
        skipped: bytes | None = None
        stale: bytes | None = None
        first = True
        while self._said < total:
            event = self._event(self._words(drawn.randint(0, most)), utterance_end=drawn.random() < 0.05)
            event = self._with_wishes(event) if first else self._with_changes(event)
            value = self._encoded(event)
            if not first and drawn.random() < 0.03:
                skipped = value  # a gap; the event may come late, and then it is too late
                continue
            first = False
            yield from self._gone_wrong(value)
            yield self._sent(value)
            if drawn.random() < 0.05:
                yield self._sent(value)
            if skipped is not None and drawn.random() < 0.5:
                yield self._sent(skipped)
                skipped = None
            if stale is not None:
                yield self._sent(stale)
                stale = None
            if drawn.random() < 0.03:
                self._epoch, self._seq, skipped, stale = self._epoch + 1, 0, None, value
            if drawn.random() < 0.02:
                self._chinese = not self._chinese

    def _event(self, words: tuple[Word, ...], *, utterance_end: bool = False, session_end: bool = False) -> WordsEvent:
        event = WordsEvent(
            version="1.0",
            session=self._name,
            epoch=self._epoch,
            seq=self._seq,
            lang="zh" if self._chinese and not session_end else "en",
            words=words,
            heard_until_ms=self._audio_ms if self._hears else None,
            utterance_end=utterance_end,
            session_end=session_end,
        )
        self._seq += 1
        return event

    def _words(self, count: int) -> tuple[Word, ...]:
        drawn, words = self._drawn, []
        self._audio_ms += drawn.choice((0, 0, 0, 200, 1_500))
        for _ in range(count):
            text = drawn.choice(_CHINESE) if self._chinese else f"{self._name}-{self._said}"
            start_ms = self._audio_ms if drawn.random() < 0.9 else None
            end_ms = None if start_ms is None or drawn.random() < 0.1 else start_ms + 250
            confidence = round(drawn.random(), 3) if drawn.random() < 0.9 else None
            words.append(Word(text=text, start_ms=start_ms, end_ms=end_ms, confidence=confidence))
            self._audio_ms += 300
            self._said += 1
        return tuple(words)

    def _with_wishes(self, event: WordsEvent) -> WordsEvent:
        drawn = self._drawn
        options = SessionOptions(
            emission=drawn.choice((Emission.SENTENCE, Emission.SETTLED)),
            look_ahead_words=drawn.choice((None, 3, 9)),
            flush_after_ms=drawn.choice((None, None, 250, 700, 2_000)) if self._timed else None,
            max_buffer_words=drawn.choice((None, None, 40)),
            punctuation=False if drawn.random() < 0.05 else None,
        )
        targets = drawn.choice((None, ("de",), ("de", "xx")))
        passing = drawn.random() < 0.5
        return msgspec.structs.replace(
            event,
            options=options if drawn.random() < 0.7 else None,
            targets=targets,
            conversation=f"talk-{self._name}" if passing else None,
            speaker="anna" if passing else None,
            role="guest" if passing else None,
            channel="left" if passing else None,
            attributes={"room": self._name, "line": "2"} if passing else None,
        )

    def _with_changes(self, event: WordsEvent) -> WordsEvent:
        if self._drawn.random() < 0.03:
            event = msgspec.structs.replace(event, targets=self._drawn.choice(((), ("de",))))
        if self._drawn.random() < 0.02:
            event = msgspec.structs.replace(
                event, speaker=f"bela-{self._seq}", role="host", attributes={"room": str(self._seq)}
            )
        return event

    def _encoded(self, event: WordsEvent) -> bytes:
        value = encode_event(event)
        if self._drawn.random() >= 0.02:
            return value
        later = msgspec.msgpack.decode(value) | {"version": "1.7", "mood": {"of": ["a", "later", "release"]}}
        return msgspec.msgpack.encode(later)

    def _gone_wrong(self, value: bytes) -> Iterator[Sent]:
        """Yield what a producer sends by mistake before it sends the same event right."""
        wrong = self._drawn.random()
        sent = self._sent(value)
        if wrong < 0.005:
            yield replace(sent, value=b"\xc1 no event", refused="malformed")
        elif wrong < 0.008:
            yield replace(sent, value=None, refused="malformed")
        elif wrong < 0.012:
            yield replace(sent, key=b"another", refused="key_mismatch")
        elif wrong < 0.016 and self._partitions > 1:
            elsewhere = (self._partition + 1) % self._partitions
            yield replace(sent, partition=elsewhere, refused="wrong_partition")

    def _sent(self, value: bytes) -> Sent:
        drawn = self._drawn.random()
        after_s = _IDLE_S if drawn < 0.002 else self._drawn.uniform(0.2, 1.2) if drawn < 0.2 else 0.0
        headers = (("traceparent", b"00-" + b"1" * 32 + b"-" + b"2" * 16 + b"-01"), ("made-by", b"chaos"))
        return Sent(
            partition=self._partition,
            key=self._name.encode(),
            value=value,
            after_s=after_s,
            headers=headers if drawn > 0.8 else (),
        )


def spoken(seed: int, sessions: int, partitions: int = 1) -> list[Record]:
    """Return the records of some sessions that speak by turns, partition by partition in order of their offsets."""
    records: list[Record] = []
    ends: Counter[int] = Counter()
    running: list[Iterator[Sent]] = [session_records(seed, number, partitions) for number in range(sessions)]
    while running:
        session = running.pop(0)
        one = next(session, None)
        if one is None:
            continue
        running.append(session)
        records.append(
            Record(partition=one.partition, offset=ends[one.partition], timestamp_ms=0, key=one.key, value=one.value)
        )
        ends[one.partition] += 1
    return sorted(records, key=lambda record: (record.partition, record.offset))
