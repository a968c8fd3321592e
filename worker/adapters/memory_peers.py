"""The twin of ``KafkaPeerTransactions`` on ``MemoryBroker`` (``worker.ports.PeerTransactions``)."""

from __future__ import annotations

from worker.adapters.memory_broker import MemoryBroker

__all__ = ["MemoryPeerTransactions"]


class MemoryPeerTransactions:
    """Looks up and fences other workers' producers."""

    def __init__(self, broker: MemoryBroker, topic: str, *, group_id: str) -> None:
        self._broker = broker
        self._topic = topic
        self._group_id = group_id

    def last_writer(self, partition: int, timeout_s: float) -> str | None:
        """Return the metadata of the committed offset, whatever is open on it."""
        del timeout_s
        committed = self._broker.last_committed(self._group_id, self._topic, partition)
        return None if committed is None else committed.metadata

    def end(self, transactional_id: str, timeout_s: float) -> None:
        """Fence whoever uses this transactional id and abort what is open under it."""
        del timeout_s
        self._broker.init_producer(transactional_id)
