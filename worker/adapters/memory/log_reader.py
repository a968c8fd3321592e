"""The log reader's twin on ``MemoryBroker`` (``caesura.worker.ports.log_reader.LogReader``)."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import override

from caesura.worker.adapters.memory.broker import MemoryBroker
from caesura.worker.errors import BrokerError
from caesura.worker.ports.log_reader import LogReader
from caesura.worker.ports.records import OutMessage, Record

__all__ = ["MemoryLogReader"]


class MemoryLogReader(LogReader):
    """Reads stretches of a broker's log as a reader under ``read_committed`` sees them."""

    def __init__(self, broker: MemoryBroker) -> None:
        self._broker = broker

    @override
    def bounds(self, topic: str, partition: int, timeout_s: float) -> tuple[int, int]:
        del timeout_s
        logs = self._broker.logs(topic)
        if partition >= len(logs):
            raise BrokerError(f"asking for the bounds of {topic} [{partition}]: there is no such partition")
        return logs[partition].start, logs[partition].end

    @override
    def bounds_behind(self, probe: OutMessage, timeout_s: float) -> tuple[int, int]:
        del timeout_s
        self._broker.append(probe.topic, probe.partition, probe.value, key=probe.key, headers=probe.headers)
        log = self._broker.log(probe.topic, probe.partition)
        return log.start, log.end

    @override
    def read(self, topic: str, partition: int, start: int, end: int, timeout_s: float) -> Iterator[Record]:
        log = self._broker.log(topic, partition)
        if log.stable_end < end:
            self._broker.wait(timeout_s)
            raise BrokerError(f"reading {topic} [{partition}]: a transaction before {end} is still open")
        if start < min(log.start, end):
            raise BrokerError(f"reading {topic} [{partition}]: {start} is out of range")
        records, _ = log.read(start, end - start)
        yield from (record for record in records if record.offset < end)

    @override
    def close(self) -> None:
        """Do nothing: there is nothing to close."""
