"""Measures the position of each held partition, loaded or not, and the age of its oldest unread record.

The committed offset counts, also for a partition that is parked, being claimed, or whose checkpoints are refused. If no
record was read, the oldest one is looked up.

The end includes open transactions: one that hangs in the input holds back all records behind it (``held``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from caesura.worker.errors import BrokerError
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.log_reader import LogReader
from caesura.worker.ports.observer import Observer, PositionMeasured, SessionsCounted
from caesura.worker.ports.word_source import WordSource
from caesura.worker.runtime.partition.loaded_partition import LoadedPartition

_HELD_S = 60.0
"""A longer transaction hangs: brokers end one after a minute by default."""


class Positions:
    """Measures positions. A looked-up record time is cached until the partition moves."""

    def __init__(
        self, *, source: WordSource, reader: LogReader, clock: Clock, observer: Observer, timeout_s: float
    ) -> None:
        self._source = source
        self._reader = reader
        self._clock = clock
        self._observer = observer
        self._timeout_s = timeout_s
        self._looked_up: dict[int, tuple[int, int]] = {}
        self._last = -1
        self._open_since: dict[int, tuple[int, float]] = {}

    @property
    def held(self) -> list[int]:
        """The partitions whose input an open transaction has held back for at least a minute."""
        now_s = self._clock.monotonic_s()
        return sorted(number for number, (_, since_s) in self._open_since.items() if now_s - since_s >= _HELD_S)

    def measure(self, loaded: Mapping[int, LoadedPartition], waiting: Collection[int]) -> None:
        """Report the loaded partitions and the waiting ones (to be claimed, or parked). BrokerError.

        It stops at the first partition without an answer (its leader is away, or a transaction on its offset is open).
        The next call begins with the partitions after that one, so that the others are reported.
        """
        self._open_since = {number: one for number, one in self._open_since.items() if number in {*loaded, *waiting}}
        for number in sorted({*loaded, *waiting}, key=lambda one: (one <= self._last, one)):
            self._last = number
            if number in loaded:
                self._measure_loaded(number, loaded[number])
            elif not self._measure_waiting(number):
                return
        self._last = -1

    def _measure_loaded(self, number: int, held: LoadedPartition) -> None:
        _, stable_end = self._source.watermarks(number, self._timeout_s)
        next_offset, read_to_ms = held.position.unread_since
        if not held.position.is_unread(stable_end):
            read_to_ms = self._clock.wall_ms()
        self._report(number, next_offset, stable_end, read_to_ms, is_read=not held.position.is_unread(stable_end))
        by_status = {status.value: count for status, count in held.sessions.statuses().items()}
        self._observer.note(SessionsCounted(partition=number, by_status=by_status))

    def _measure_waiting(self, number: int) -> bool:
        """Report a partition that is not loaded; False if its committed offset cannot be read now."""
        try:
            committed = self._source.committed([number], self._timeout_s)[number]
        except BrokerError:
            return False
        low, stable_end = self._source.watermarks(number, self._timeout_s)
        next_offset = committed.next_offset if committed is not None else low
        self._report(number, next_offset, stable_end, None, is_read=next_offset >= stable_end)
        return True

    def _report(
        self, partition: int, next_offset: int, stable_end: int, read_to_ms: int | None, *, is_read: bool
    ) -> None:
        """Report a partition. stable_end: begin of the first open transaction. is_read: all before it is read."""
        _, end_offset = self._reader.bounds(self._source.topic, partition, self._timeout_s)
        held_ms = self._held_ms(partition, stable_end, end_offset)
        now_ms = self._clock.wall_ms()
        if read_to_ms is None:
            read_to_ms = self._appended_ms(partition, next_offset, stable_end)
        oldest_ms = 0 if read_to_ms is None else max(0, now_ms - read_to_ms)
        self._observer.note(
            PositionMeasured(
                partition=partition,
                next_offset=next_offset,
                end_offset=end_offset,
                oldest_unread_ms=max(oldest_ms, held_ms) if is_read else oldest_ms,
                held_ms=held_ms,
            )
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

    def _appended_ms(self, partition: int, next_offset: int, end_offset: int) -> int | None:
        """Return when the first unread record was appended, in ms since 1970; None if all are read."""
        known = self._looked_up.get(partition)
        if known is not None and known[0] == next_offset:
            return known[1]
        low, _ = self._reader.bounds(self._source.topic, partition, self._timeout_s)
        left = self._reader.read(self._source.topic, partition, max(low, next_offset), end_offset, self._timeout_s)
        record = next(iter(left), None)
        if record is None:
            return None
        self._looked_up[partition] = (next_offset, record.timestamp_ms)
        return record.timestamp_ms
