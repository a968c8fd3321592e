"""Measures the position of each held partition, loaded or not, and the age of its oldest unread record.

The committed offset counts, also for a partition that is parked, being claimed, or whose checkpoints are refused. If no
record was read, the oldest one is looked up.

The end includes open transactions: one that hangs in the input holds back all records behind it (``held``).

It runs beside the loop, and knows of loaded partitions only what it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from caesura.worker.errors import RetriableError
from caesura.worker.ports.observer import PositionMeasured
from caesura.worker.ports.records import CommittedOffset
from caesura.worker.runtime.partition.read_position import ReadPosition
from caesura.worker.runtime.settings.parts import RuntimeAdapters

_HELD_S = 60.0
"""A longer transaction hangs: brokers end one after a minute by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPositions:
    """held: partitions whose input an open transaction has held back for at least a minute.

    fault: of the first partition without an answer, which is the last one that was asked.
    """

    positions: list[PositionMeasured]
    held: list[int]
    fault: RetriableError | None


class Positions:
    """Measures positions. A looked-up record time is cached until the partition moves."""

    def __init__(self, parts: RuntimeAdapters, *, timeout_s: float) -> None:
        self._source = parts.source
        self._reader = parts.reader
        self._peers = parts.peers
        self._clock = parts.clock
        self._timeout_s = timeout_s
        self._looked_up: dict[int, tuple[int, int]] = {}
        self._last = -1
        self._open_since: dict[int, tuple[int, float]] = {}

    def measure(self, places: Mapping[int, ReadPosition | None]) -> MeasuredPositions:
        """Measure partitions; None: one that is not loaded. Blocks.

        It stops at the first partition without an answer (its leader is away). The next call begins with the
        partitions after that one, so that the others are measured.
        """
        self._open_since = {number: one for number, one in self._open_since.items() if number in places}
        committed: Mapping[int, CommittedOffset] = {}
        if None in places.values():
            try:
                committed = self._peers.committed_offsets(self._timeout_s)
            except RetriableError:  # the coordinator's fault, which says nothing of the loaded partitions
                places = {number: position for number, position in places.items() if position is not None}
        positions: list[PositionMeasured] = []
        fault: RetriableError | None = None
        try:
            for number in sorted(places, key=lambda one: (one <= self._last, one)):
                self._last = number
                positions.append(self._measure(number, places[number], committed.get(number)))
            self._last = -1
        except RetriableError as error:
            fault = error
        now_s = self._clock.monotonic_s()
        held = sorted(number for number, (_, since_s) in self._open_since.items() if now_s - since_s >= _HELD_S)
        return MeasuredPositions(positions=positions, held=held, fault=fault)

    def _measure(
        self, number: int, position: ReadPosition | None, committed: CommittedOffset | None
    ) -> PositionMeasured:
        low, stable_end = self._source.watermarks(number, self._timeout_s)  # up to the first open transaction
        _, end_offset = self._reader.bounds(self._source.topic, number, self._timeout_s)
        held_ms = self._held_ms(number, stable_end, end_offset)
        if position is not None:
            next_offset, appended_ms = position.unread_since
            is_unread = position.is_unread(stable_end)
        else:
            next_offset, appended_ms = low if committed is None else committed.next_offset, None
            is_unread = next_offset < stable_end
        oldest_ms = held_ms
        if is_unread:
            now_ms = self._clock.wall_ms()
            if appended_ms is None:
                appended_ms = self._appended_ms(number, next_offset, low, stable_end)
            oldest_ms = 0 if appended_ms is None else max(0, now_ms - appended_ms)
        return PositionMeasured(
            partition=number,
            next_offset=next_offset,
            end_offset=end_offset,
            oldest_unread_ms=oldest_ms,
            held_ms=held_ms,
        )

    def _held_ms(self, partition: int, stable_end: int, end_offset: int) -> int:
        """Return for how long the open transaction at ``stable_end`` has been seen, in ms; 0 without one."""
        if end_offset <= stable_end:
            self._open_since.pop(partition, None)
            return 0
        now_s = self._clock.monotonic_s()
        begins_at, since_s = self._open_since.get(partition, (stable_end, now_s))
        if begins_at != stable_end:
            since_s = now_s
        self._open_since[partition] = (stable_end, since_s)
        return round((now_s - since_s) * 1000)

    def _appended_ms(self, partition: int, next_offset: int, low: int, end_offset: int) -> int | None:
        """Return when the first unread record was appended, in ms since 1970; None if there is none.

        low: where the log begins now.
        """
        known = self._looked_up.get(partition)
        if known is not None and known[0] == next_offset:
            return known[1]
        start = max(low, next_offset)
        left = self._reader.read(self._source.topic, partition, start, end_offset, self._timeout_s)
        record = next(iter(left), None)
        if record is None:
            return None
        self._looked_up[partition] = (next_offset, record.timestamp_ms)
        return record.timestamp_ms
