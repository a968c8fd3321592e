"""The decode path under fire, without a broker: record, event or refusal, dead letter. Every answer is checked."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from caesura.schemas.codec import decode_event, encode_event
from caesura.schemas.errors import NewerVersionError
from caesura.schemas.events import WordsEvent
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.errors import BadEventError
from caesura.worker.ports.records import Record
from caesura.worker.runtime.partition.dead_letters import DeadLetters
from caesura.worker.runtime.partition.record_decoding import read_event
from caesura.worker.runtime.settings.settings import Partitioner
from tests.fuzz.generator import Generator
from tests.fuzz.message import ACCEPTED, CANARY, NEWER, OUTCOMES, Message, faults

PARTITIONS = 4
_MAX_LETTER_BYTES = 4096
_LETTERS = DeadLetters(source_topic="asr.words", topic="asr.words.dead", max_bytes=_MAX_LETTER_BYTES)
_TRACED_OF = 64
_KEPT = 20

Reader = Callable[[Record], WordsEvent]


def placed(message: Message, offset: int, partitions: int = PARTITIONS) -> Record:
    """Return a message as the record that a worker polls."""
    partition = (murmur2_partition(message.key or b"", partitions) + message.shift) % partitions
    return Record(
        partition=partition, offset=offset, timestamp_ms=offset, key=message.key, value=message.value, headers=()
    )


def _read(record: Record) -> WordsEvent:
    return read_event(record, partitions=PARTITIONS, partitioner=Partitioner.MURMUR2)


@dataclass(slots=True)
class Decoding:
    """One run. outcomes: how many of each; violations: what must never be, the first ones of them in words."""

    read: Reader = _read
    messages: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    violations: int = 0
    told: list[str] = field(default_factory=list)
    slowest_cpu_ms: float = 0.0
    slowest_kind: str = ""

    def run(self, seed: int, messages: int, progress: Callable[[str], None] = lambda _: None) -> None:
        """Take so many messages of a seed's stream through the decode path."""
        generator, began_s = Generator(seed), time.monotonic()
        for number in range(messages):
            self.take(generator.next())
            if (number + 1) % 50_000 == 0:
                rate = (number + 1) / (time.monotonic() - began_s)
                progress(f"{number + 1} messages, {rate:.0f} a second, {self.violations} violations")

    def take(self, message: Message) -> None:
        """Take one message through, and check what becomes of it."""
        record = placed(message, self.messages)
        self.messages += 1
        began_s = time.process_time()
        try:
            outcome = self._outcome(record)
        except Exception as error:  # noqa: BLE001 - a crash is what is looked for
            outcome = f"crash: {type(error).__name__}"
        took_ms = (time.process_time() - began_s) * 1000
        if took_ms > self.slowest_cpu_ms:
            self.slowest_cpu_ms, self.slowest_kind = took_ms, message.kind
        self.outcomes[outcome] += 1
        if outcome not in OUTCOMES or (message.expected is not None and outcome not in message.expected):
            self._violation(message, outcome)

    def _outcome(self, record: Record) -> str:
        try:
            event = self.read(record)
        except NewerVersionError as error:
            return self._checked(record, error, NEWER)
        except BadEventError as error:
            letter = _LETTERS.letter(record, error)
            wrong = faults(
                record, error.reason, letter.key, letter.value, dict(letter.headers), max_bytes=_MAX_LETTER_BYTES
            )
            return f"dead letter: {wrong[0]}" if wrong else self._checked(record, error, error.reason)
        if decode_event(encode_event(event)) != event or record.key != event.session.encode():
            return "another event"
        return ACCEPTED

    def _checked(self, record: Record, error: Exception, outcome: str) -> str:
        """Return the outcome, or that the error shows what was said; its trace now and then, which takes long."""
        shown = str(error)
        if record.offset % _TRACED_OF == 0:
            shown += "".join(traceback.format_exception(error))
        return "shows a word" if CANARY in shown else outcome

    def _violation(self, message: Message, outcome: str) -> None:
        self.violations += 1
        if len(self.told) < _KEPT:
            value = message.value if message.value is None else message.value[:300].hex()
            self.told.append(f"{message.kind}: {outcome}, key {message.key!r}, value {value}")
