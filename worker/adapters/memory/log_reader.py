"""The log reader's twin on ``MemoryBroker`` (``worker.ports.log_reader.LogReader``)."""

from __future__ import annotations

from collections.abc import Iterator

from worker.adapters.memory.broker import MemoryBroker
from worker.errors import BrokerError
from worker.ports.records import Record

__all__ = ["MemoryLogReader"]


class MemoryLogReader:
    """Reads stretches of a broker's log as a reader under ``read_committed`` sees them."""

    def __init__(self, broker: MemoryBroker) -> None:
        self._broker = broker

    def bounds(self, topic: str, partition: int, timeout_s: float) -> tuple[int, int]:
        """Return the earliest and the end offset, open transactions included."""
        del timeout_s
        log = self._broker.log(topic, partition)
        return log.start, log.end

    def read(self, topic: str, partition: int, start: int, end: int, timeout_s: float) -> Iterator[Record]:
        """Yield the committed records from ``start`` up to ``end``; BrokerError where a transaction is open there."""
        log = self._broker.log(topic, partition)
        if log.stable_end < end:
            self._broker.wait(timeout_s)
            raise BrokerError(f"reading {topic} [{partition}]: a transaction before {end} is still open")
        records, _ = log.read(start, end - start)
        yield from (record for record in records if record.offset < end)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""
