"""What the producers said, by their own record and by the words topic: what has to come out, and no code of ours in it.

The rules are those of ``docs/produce.md``, once more and as short as they can be: which events count (``epoch``,
``seq``, the end), which are refused and why, which numbers never came. Labels and cuts are not known here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from caesura.worker.ports.records import Record
from tests.harness.checker import Adopted, Letter

PASSING_NAMES = ("conversation", "speaker", "role", "channel")
"""What passes through beside the attributes."""


class Place(NamedTuple):
    """A record as its producer wrote it."""

    partition: int
    key: bytes | None
    value: bytes | None


class SaidWord(NamedTuple):
    """One unit of a recogniser's, and the offset of its event."""

    text: str
    start_ms: int | None
    end_ms: int | None
    confidence: float | None
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidEvent:
    """An event that counts, and what stands from it on. time_ms: the largest time stamp of its partition so far."""

    offset: int
    appended_ms: int
    time_ms: int
    words: int
    lang: str
    ends: bool
    has_audio_clock: bool
    targets: tuple[str, ...]
    passing: tuple[str | tuple[tuple[str, str], ...] | None, ...]


@dataclass(slots=True, kw_only=True)
class Run:
    """A session's stream under one ``since``. gaps: (epoch, first, last, words before).

    given_up: an operator had its partition begin elsewhere, with empty state.
    """

    session: str
    since: int
    options: dict[str, Any]
    words: list[SaidWord] = field(default_factory=list)
    events: list[SaidEvent] = field(default_factory=list)
    gaps: list[tuple[int, int, int, int]] = field(default_factory=list)
    epoch: int = 0
    next_seq: int = 0
    missed: set[int] = field(default_factory=set)
    ended: bool = False
    given_up: bool = False

    @property
    def broken_off(self) -> bool:
        """Tell whether it was given up before its end: of its words a beginning came out, and nothing after it."""
        return self.given_up and not self.ended

    def refusal(self, event: Mapping[str, Any]) -> str | None:
        """Return why an event is refused, ``repeat`` where it is dropped, None where it counts."""
        epoch, seq = event.get("epoch", 0), event["seq"]
        if epoch < self.epoch:
            return "stale_epoch"
        if epoch == self.epoch and seq < self.next_seq:
            return "late" if seq in self.missed else "repeat"
        return "session_ended" if self.ended else None

    def take(self, event: Mapping[str, Any], record: Record, time_ms: int) -> None:
        """Let an event count."""
        epoch, seq = event.get("epoch", 0), event["seq"]
        if epoch > self.epoch:
            self.epoch, self.next_seq, self.missed = epoch, 0, set()
        if seq > self.next_seq:
            self.gaps.append((epoch, self.next_seq, seq - 1, len(self.words)))
            self.missed.update(range(self.next_seq, seq))
        self.next_seq = seq + 1
        words = event.get("words") or ()
        self.words += [
            SaidWord(one["text"], one.get("start_ms"), one.get("end_ms"), one.get("confidence"), record.offset)
            for one in words
        ]
        self.ended = bool(event.get("session_end"))
        self.events.append(self._said(event, record, time_ms, len(words)))

    def _said(self, event: Mapping[str, Any], record: Record, time_ms: int, words: int) -> SaidEvent:
        before = self.events[-1] if self.events else None
        given = (*(event.get(name) for name in PASSING_NAMES), _pairs(event.get("attributes")))
        stood = before.passing if before else (None,) * len(given)
        targets = event.get("targets")
        return SaidEvent(
            offset=record.offset,
            appended_ms=record.timestamp_ms,
            time_ms=time_ms,
            words=words,
            lang=event["lang"],
            ends=self.ended,
            has_audio_clock=event.get("heard_until_ms") is not None or (before is not None and before.has_audio_clock),
            targets=(before.targets if before else ()) if targets is None else tuple(targets),
            passing=tuple(old if new is None else new for new, old in zip(given, stood, strict=True)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """All that has to come out."""

    runs: dict[tuple[str, int], Run]
    letters: list[Letter]


def said(
    records: Iterable[Record],
    refused: Mapping[Place, str],
    begins: Collection[tuple[str, int]] = (),
    adopted: Iterable[Adopted] = (),
) -> Said:
    """Return what these records of the words topic have to bring out.

    refused: what its producer wrote knowing that it is no event, or in a wrong place, and the reason that it must be
    refused for. begins: session and offset where one was begun that had been forgotten, as the output says.
    adopted: where an operator had a partition begin elsewhere.
    """
    stream = _Stream(begins, adopted)
    letters: list[Letter] = []
    for record in records:
        if stream.passes_over(record):
            continue
        reason = refused.get(Place(record.partition, record.key, record.value)) or stream.take(record)
        if reason not in (None, "repeat"):
            letters.append(Letter(record.partition, record.offset, reason, record.value))
    stream.end()
    return Said(runs=stream.runs, letters=letters)


class _Stream:
    """The runs of all sessions, record by record."""

    def __init__(self, begins: Collection[tuple[str, int]], adopted: Iterable[Adopted]) -> None:
        self.runs: dict[tuple[str, int], Run] = {}
        self._running: dict[int, dict[str, Run]] = defaultdict(dict)
        self._begins = begins
        self._adopted: dict[int, list[Adopted]] = defaultdict(list)
        self._times_ms: dict[int, int] = defaultdict(int)
        for one in adopted:
            self._adopted[one.partition].append(one)

    def passes_over(self, record: Record) -> bool:
        """Give sessions up where an operator had the partition begin; tell whether he had it skip this record."""
        waiting = self._adopted[record.partition]
        while waiting and record.offset >= waiting[0].begins_at:
            self._give_up(record.partition)
            waiting.pop(0)
        if waiting and record.offset >= waiting[0].stopped_at:
            return True
        self._times_ms[record.partition] = max(self._times_ms[record.partition], record.timestamp_ms)
        return False

    def take(self, record: Record) -> str | None:
        """Let an event count, or say why not."""
        event = msgspec.msgpack.decode(record.value or b"")
        name, running = event["session"], self._running[record.partition]
        if name not in running or (name, record.offset) in self._begins:
            options = event.get("options") or {}
            running[name] = self.runs[name, record.offset] = Run(session=name, since=record.offset, options=options)
        reason = running[name].refusal(event)
        if reason is None:
            running[name].take(event, record, self._times_ms[record.partition])
        return reason

    def end(self) -> None:
        """Give up what nothing was said after."""
        for partition, waiting in self._adopted.items():
            if waiting:
                self._give_up(partition)

    def _give_up(self, partition: int) -> None:
        for run in self._running.pop(partition, {}).values():
            run.given_up = True


def _pairs(attributes: Mapping[str, str] | None) -> tuple[tuple[str, str], ...] | None:
    return None if attributes is None else tuple(sorted(attributes.items()))
