"""The twin of ``KafkaPeerTransactions`` on ``MemoryBroker`` (``peer_transactions.PeerTransactions``)."""

from __future__ import annotations

from typing_extensions import override

from caesura.worker.adapters.memory.broker import MemoryBroker
from caesura.worker.ports.peer_transactions import PeerTransactions

__all__ = ["MemoryPeerTransactions"]


class MemoryPeerTransactions(PeerTransactions):
    """Looks up and fences other workers' producers."""

    def __init__(self, broker: MemoryBroker, topic: str, *, group_id: str) -> None:
        self._broker = broker
        self._topic = topic
        self._group_id = group_id

    @override
    def committed_metadata(self, timeout_s: float) -> dict[int, str]:
        """Return the metadata of the group's committed offsets, whatever is open on them."""
        del timeout_s
        found = {
            log.partition: self._broker.last_committed(self._group_id, self._topic, log.partition)
            for log in self._broker.logs(self._topic)
        }
        return {partition: committed.metadata for partition, committed in found.items() if committed is not None}

    @override
    def end(self, transactional_id: str, timeout_s: float) -> None:
        del timeout_s
        self._broker.init_producer(transactional_id)
