"""Reads a partition's committed offset so that no open transaction can still change it."""

from __future__ import annotations

from collections.abc import Callable

from caesura.schemas.checkpoint import OffsetMetadata
from caesura.worker.errors import BrokerError, UnprovenOffsetError
from caesura.worker.ports.observer import TookOver
from caesura.worker.ports.records import CommittedOffset
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings


class StableOffset:
    """Waits while a transaction is open on the offset; after a while it ends the transaction of a dead peer."""

    def __init__(self, partition: int, parts: RuntimeAdapters, settings: RuntimeSettings) -> None:
        self._partition = partition
        self._parts = parts
        self._settings = settings
        self._timeout_s = settings.claim_timeout_s
        self._waiting_since_s: float | None = None

    def read(self, leave: Callable[[str], str]) -> CommittedOffset | None:
        """Return the offset, or None; ``leave`` as in ``WordSource.committed``.

        BrokerError: not stable yet, call again.
        """
        try:
            found = self._parts.source.committed([self._partition], self._timeout_s, leave=leave)
        except UnprovenOffsetError:  # it was answered: no transaction is what it waits for
            self._waiting_since_s = None
            raise
        except BrokerError:
            now_s = self._parts.clock.monotonic_s()
            if self._waiting_since_s is None:
                self._waiting_since_s = now_s
            elif now_s - self._waiting_since_s >= self._settings.takeover_after_ms / 1000.0:
                self._waiting_since_s = now_s
                self._take_over()
            raise
        self._waiting_since_s = None
        return found[self._partition]

    def _take_over(self) -> None:
        peers = self._parts.peers
        committed = peers.committed_offsets(self._timeout_s).get(self._partition)
        metadata = OffsetMetadata.decode(committed.metadata) if committed else None
        if metadata is None or metadata.transactional_id == self._settings.transactional_id:
            return
        peers.end(metadata.transactional_id, self._settings.commit_timeout_s)
        self._parts.observer.note(TookOver(partition=self._partition, transactional_id=metadata.transactional_id))
