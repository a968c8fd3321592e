"""A live worker under fire: a real Kafka, a real Redis, a worker in a process of its own with a scripted engine.

Partitions 0 to 3 take the traffic: the fuzzer's messages, and good sessions in between. The last partition takes one
event of a newer major version, at which it must stop, and nothing else may.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec
from confluent_kafka import Consumer, Producer, TopicPartition

from caesura.schemas.codec import encode_event
from caesura.schemas.errors import NewerVersionError
from caesura.schemas.events import Emission, WordsEvent
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.ports.observer import PartitionParked
from caesura.worker.ports.reasons import ParkReason
from caesura.worker.ports.records import Record
from tests.fuzz.accounting import Account, check_good_sessions, check_letters, check_words, outcome_of
from tests.fuzz.generator import Generator
from tests.fuzz.message import CANARY, Message
from tests.fuzz.record_changes import LARGE_RECORDS
from tests.harness.forked import Forked
from tests.harness.parts.kafka_part import Kafka
from tests.harness.real_world import RealWorld
from tests.harness.reference import RULES
from tests.harness.speech import event, speech
from tests.harness.waiting import wait_until

_AT_ONCE = 40
_WORDS = 120


@dataclass(slots=True)
class GoodSessions:
    """Good speakers, so many at a time; ``past`` are events said already, a repeat of which changes nothing."""

    draw: random.Random
    may_speak: Callable[[str], bool]
    names: set[str] = field(default_factory=set)
    past: deque[WordsEvent] = field(default_factory=lambda: deque(maxlen=200))
    _speaking: list[Iterator[WordsEvent]] = field(default_factory=list)
    _named: int = 0

    def next(self) -> WordsEvent:
        """Return one's next event; a new one speaks up where fewer than there should be do."""
        while True:
            while len(self._speaking) < _AT_ONCE:
                self._speaking.append(iter(self._newcomer()))
            speaker = self.draw.choice(self._speaking)
            said = next(speaker, None)
            if said is not None:
                self.past.append(said)
                return said
            self._speaking.remove(speaker)

    def rest(self) -> Iterator[WordsEvent]:
        """Yield what the ones that speak have left to say."""
        for speaker in self._speaking:
            yield from speaker

    def _newcomer(self) -> list[WordsEvent]:
        while not self.may_speak(name := f"good-{self._named}"):
            self._named += 1
        self._named += 1
        self.names.add(name)
        emission = (Emission.SENTENCE, Emission.SETTLED)[self._named % 2]
        said = speech(name, _WORDS, emission=emission)
        return [msgspec.structs.replace(one, epoch=1) for one in said]


_PARTITIONS = 5
_STOPS = _PARTITIONS - 1
_MAX_LETTER_BYTES = 1_000_000
_A_GOOD_EVENT_OF = 10
_IMPOSTORS = 0.3
_NO_HURRY = {
    "session_timeout_ms": 30_000,
    "max_poll_interval_ms": 120_000,
    "transaction_timeout_ms": 60_000,
    "request_timeout_ms": 30_000,
}


def _partition_of(session: str) -> int:
    return murmur2_partition(session.encode(), _PARTITIONS)


def _in_traffic(session: str) -> bool:
    return _partition_of(session) != _STOPS


class Live:
    """One run. Afterwards: what was refused by reason, and what was violated."""

    def __init__(self, kafka: Kafka, redis_url: str, deployment: str, *, seed: int) -> None:
        self.world = RealWorld(
            kafka,
            redis_url,
            deployment,
            partitions=_PARTITIONS,
            rules=dict(RULES),
            kafka_changes=dict(_NO_HURRY),
            changes={
                "dead_letter_limit": 1_000_000,
                "max_dead_letter_bytes": _MAX_LETTER_BYTES,
                "claim_timeout_s": 5.0,
            },
        )
        self._draw = random.Random(seed)
        self._generator = Generator(seed, sessions=60, large_share=0.0002, may_speak=_in_traffic)
        self._good = GoodSessions(self._draw, _in_traffic)
        # An event may be larger than is allowed, so that the worker and not the producer refuses it.
        options = {"bootstrap.servers": kafka.bootstrap, "enable.idempotence": True, "message.max.bytes": 1_100_000}
        self._producer = Producer({**options, "linger.ms": 20, "log_level": 0})
        self._sent = [0] * _PARTITIONS
        self.kept_out = 0
        self.impostors = 0
        self.account = Account(partitions=_PARTITIONS)
        self.violations: list[str] = []
        self.claims = 0
        self.aborts = 0
        self.segments = 0

    def run(self, messages: int, say: Callable[[str], None] = lambda _: None, *, timeout_s: float = 1800.0) -> None:
        """Send so many messages, let the worker come to their end, and compare what came out with what should have."""
        with self.world.process() as worker:
            self._send_to_the_one_that_stops()
            large_at = {
                messages * (place + 1) // (len(LARGE_RECORDS) + 1): kind for place, kind in enumerate(LARGE_RECORDS)
            }
            for number in range(messages):
                kind = large_at.get(number)
                self._send(self._message() if kind is None else self._generator.large(kind))
                if number % _A_GOOD_EVENT_OF == 0:
                    self._send_event(self._good.next())
                if (number + 1) % 10_000 == 0:
                    say(f"{number + 1} messages sent, {sum(self._committed())} records of {sum(self._sent)} committed")
            for said in self._good.rest():
                self._send_event(said)
            self._wait(worker, say, timeout_s)
            self._end_all_sessions()
            self._wait(worker, say, timeout_s)
            self._finish(worker)
        say(f"{sum(self._sent)} records, {len(self.account.letters)} refused; now the good sessions alone")
        self._check()

    def summary(self) -> dict[str, object]:
        """Return the run's figures."""
        return {
            "records": sum(self._sent),
            "good_sessions": len(self._good.names),
            "in_a_good_sessions_name": self.impostors,
            "newer_kept_out": self.kept_out,
            "refused": dict(sorted(self.account.reasons.items())),
            "repeats": self.account.repeats,
            "segments": self.segments,
            "claims": self.claims,
            "aborted_checkpoints": self.aborts,
        }

    def _message(self) -> Message:
        """Draw a message: of the fuzzer's own crowd, or, where it is refused anyway, in a good session's name."""
        while True:
            impostor = bool(self._good.past) and self._draw.random() < _IMPOSTORS
            message = self._impostor() if impostor else self._generator.next()
            try:
                refused = outcome_of(self._placed(message), _PARTITIONS) is not None
            except NewerVersionError:
                self.kept_out += 1
                continue
            if refused or not impostor:
                self.impostors += impostor
                return message

    def _impostor(self) -> Message:
        fields = msgspec.msgpack.decode(encode_event(self._draw.choice(self._good.past)))
        if self._draw.random() < 0.2:
            # A producer run that is over, or a number that was used already: in order, and too late.
            return Message(kind="late", key=fields["session"].encode(), value=msgspec.msgpack.encode(fields))
        return self._generator.changed({"words": [], **fields})

    def _placed(self, message: Message) -> Record:
        partition = (murmur2_partition(message.key or b"", _PARTITIONS) + message.shift) % _PARTITIONS
        # The last partition is no place for anything that the fuzzer draws: it lands in the first, where it is wrong.
        partition %= _STOPS
        return Record(partition=partition, offset=0, timestamp_ms=0, key=message.key, value=message.value)

    def _send(self, message: Message) -> None:
        self._produce(self._placed(message).partition, message.key, message.value)

    def _send_event(self, said: WordsEvent) -> None:
        self._produce(_partition_of(said.session), said.session.encode(), encode_event(said))

    def _produce(self, partition: int, key: bytes | None, value: bytes | None) -> None:
        while True:
            try:
                self._producer.produce(self.world.words_topic, value, key, partition)
            except BufferError:
                self._producer.poll(0.1)
            else:
                break
        self._producer.poll(0)
        self._sent[partition] += 1

    def _send_to_the_one_that_stops(self) -> None:
        name = next(name for number in range(1000) if not _in_traffic(name := f"stops-{number}"))
        for said in speech(name, 12, end=False):
            self._send_event(said)
        newer = {**msgspec.msgpack.decode(encode_event(event(name, 3, CANARY))), "version": "2.0"}
        self._produce(_STOPS, name.encode(), msgspec.msgpack.encode(newer))
        self._send_event(event(name, 4, "waits", session_end=True))

    def _end_all_sessions(self) -> None:
        for record in self.world.records(self.world.words_topic):
            self.account.take(record)
        for session, (epoch, seq) in self.account.open_sessions().items():
            if _in_traffic(session):
                self._send_event(event(session, seq, epoch=epoch, session_end=True))

    def _committed(self) -> list[int]:
        """Return the offsets that the worker's group has committed in the partitions that take traffic."""
        places = [TopicPartition(self.world.words_topic, partition) for partition in range(_STOPS)]
        watcher = Consumer(
            {"bootstrap.servers": self.world.kafka.bootstrap, "group.id": self.world.deployment, "log_level": 0}
        )
        try:
            return [max(0, place.offset) for place in watcher.committed(places, timeout=30)]
        finally:
            watcher.close()

    def _wait(self, worker: Forked, say: Callable[[str], None], timeout_s: float) -> None:
        assert self._producer.flush(60) == 0
        committed, told_s = list[int](), time.monotonic()

        def all_committed() -> bool:
            nonlocal committed
            committed = self._committed()
            return committed == self._sent[:_STOPS]

        def look() -> None:
            nonlocal told_s
            assert worker.lives, f"the worker has ended\n{worker.stderr[-3000:]}"
            if time.monotonic() - told_s > 10.0:
                told_s = time.monotonic()
                say(f"{sum(committed)} records of {sum(self._sent[:_STOPS])} committed")

        wait_until(
            all_committed,
            lambda: f"committed {committed} of {self._sent}\n{worker.stderr[-3000:]}",
            within_s=timeout_s,
            every_s=0.2,
            meanwhile=look,
        )

    def _finish(self, worker: Forked) -> None:
        """Stop the worker, and look at what it told."""
        status = worker.terminate()
        if status != 0:
            self.violations.append(f"the worker ended with status {status}")
        told = worker.stderr
        lines = [line.partition("] ")[2] for line in told.splitlines()]
        self.claims = sum(line.startswith("PartitionClaimed(") for line in lines)
        self.aborts = sum(
            line.startswith("checkpoint ") and not line.startswith("checkpoint committed") for line in lines
        )
        parked = {line for line in lines if line.startswith("PartitionParked(")}
        why = "version 2.0 is newer than major 1, which is read here"
        if parked != {repr(PartitionParked(partition=_STOPS, reason=ParkReason.NEWER_EVENT, detail=why))}:
            self.violations.append(f"parked: {sorted(parked)}")
        if CANARY in told or "Traceback" in told:
            self.violations.append("what the worker tells shows a word, or a traceback")

    def _check(self) -> None:
        world = self.world
        account = self.account = Account(partitions=_PARTITIONS)
        records = world.records(world.words_topic)
        for record in records:
            account.take(record)
        if len(records) != sum(self._sent):
            self.violations.append(f"{len(records)} records of {sum(self._sent)} are in the input topic")
        letters, segments = world.records(world.dead_topic), world.segments()
        self.segments = len(segments)
        traffic = [one for one in segments if _in_traffic(one.session)]
        account.words = {name: words for name, words in account.words.items() if _in_traffic(name)}
        self.violations += check_letters(account, letters, max_bytes=_MAX_LETTER_BYTES)
        self.violations += check_words(account, traffic)
        self.violations += check_good_sessions(account, frozenset(self._good.names), traffic)
        if any("waits" in (word.text for word in one.words) for one in segments):
            self.violations.append("the partition that stopped has gone on")
