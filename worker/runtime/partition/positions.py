"""How far each partition that is held has come, loaded or not, and how old its oldest unread record is.

What counts is what is committed: a partition whose checkpoints are refused, one that is being claimed and one that is
parked are as far behind as their words are old. Where nothing was read to tell, the record itself is asked.

The end counts open transactions: one that hangs in the input holds every word behind it back (``held``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from caesura.worker.errors import BrokerError
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.log_reader import LogReader
from caesura.worker.ports.observer import Observer, PositionMeasured, SessionsCounted
from caesura.worker.ports.word_source import WordSource
from caesura.worker.runtime.partition.loaded_partition import LoadedPartition

__all__ = ["Positions"]

_HELD_S = 60.0
"""A transaction that is open for longer hangs: brokers end one after a minute, unless its producer asked for more."""


class Positions:
    """Measures; what it had to look up is kept until the partition has moved."""

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
        """The partitions whose input an open transaction has held back for a minute."""
        now_s = self._clock.monotonic_s()
        return sorted(number for number, (_, since_s) in self._open_since.items() if now_s - since_s >= _HELD_S)

    def measure(self, loaded: Mapping[int, LoadedPartition], waiting: Collection[int]) -> None:
        """Tell of partitions that are loaded, and of those that wait: to be claimed, or for an operator. BrokerError.

        The first that is not to be had ends it: its leader is away, or a transaction on its offset is open. The next
        time begins with those after it, so that it keeps nobody else untold.
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
        self._tell(number, next_offset, stable_end, read_to_ms, is_read=not held.position.is_unread(stable_end))
        by_status = {status.value: count for status, count in held.sessions.statuses().items()}
        self._observer.note(SessionsCounted(partition=number, by_status=by_status))

    def _measure_waiting(self, number: int) -> bool:
        """Tell of a partition that is not loaded; False where its offset is not to be had now."""
        try:
            committed = self._source.committed([number], self._timeout_s)[number]
        except BrokerError:
            return False
        low, stable_end = self._source.watermarks(number, self._timeout_s)
        next_offset = committed.next_offset if committed is not None else low
        self._tell(number, next_offset, stable_end, None, is_read=next_offset >= stable_end)
        return True

    def _tell(
        self, partition: int, next_offset: int, stable_end: int, read_to_ms: int | None, *, is_read: bool
    ) -> None:
        """Tell of a partition. stable_end: where the first open transaction begins. is_read: all before it is read."""
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
        """Return for how long the transaction has been seen open that begins at ``stable_end``; 0 where none is."""
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
        """Return when the first record that is left was appended; None where there is none."""
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
