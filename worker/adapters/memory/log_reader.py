"""The in-memory log reader, on ``MemoryBroker`` (``caesura.worker.ports.log_reader.LogReader``)."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import override

from caesura.worker.adapters.memory.broker import MemoryBroker
from caesura.worker.errors import BrokerError
from caesura.worker.ports.log_reader import LogReader
from caesura.worker.ports.peer_transactions import PeerTransactions
from caesura.worker.ports.records import CommittedOffset, OutMessage, Record


class MemoryLogReader(LogReader):
    """Reads ranges of a broker's log as a ``read_committed`` reader sees them."""

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


class MemoryPeerTransactions(PeerTransactions):
    """Looks up and fences other workers' producers."""

    def __init__(self, broker: MemoryBroker, topic: str, *, group_id: str) -> None:
        self._broker = broker
        self._topic = topic
        self._group_id = group_id

    @override
    def committed_offsets(self, timeout_s: float) -> dict[int, CommittedOffset]:
        """Return the group's committed offsets, without waiting for open transactions."""
        del timeout_s
        found = {
            log.partition: self._broker.last_committed(self._group_id, self._topic, log.partition)
            for log in self._broker.logs(self._topic)
        }
        return {partition: committed for partition, committed in found.items() if committed is not None}

    @override
    def end(self, transactional_id: str, timeout_s: float) -> None:
        del timeout_s
        self._broker.init_producer(transactional_id)
