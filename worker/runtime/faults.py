"""What is wrong with the worker now: faults by what they hit, and a probe for a worker that has nothing to do."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from worker.errors import RetriableError, StoreError
from worker.ports.clock import Clock
from worker.ports.observer import CallFailed, Observer
from worker.ports.reasons import CheckpointOutcome
from worker.ports.session_store import SessionStore
from worker.ports.word_source import WordSource
from worker.runtime.loaded_partition import LoadedPartition
from worker.runtime.positions import Positions

__all__ = ["Faults"]

_PROBE_EVERY_S = 5.0


class Faults:
    """Faults stay until what they hit has worked again."""

    def __init__(
        self,
        *,
        store: SessionStore,
        source: WordSource,
        positions: Positions,
        clock: Clock,
        observer: Observer,
        timeout_s: float,
    ) -> None:
        self._store = store
        self._source = source
        self._positions = positions
        self._clock = clock
        self._observer = observer
        self._timeout_s = timeout_s
        self._faults: dict[str, str] = {}
        self._probed_at_s = float("-inf")

    @property
    def reasons(self) -> list[str]:
        """Name every fault that is not cleared."""
        return [f"{what}: {fault}" for what, fault in sorted(self._faults.items())]

    def failed(self, what: str, error: RetriableError) -> None:
        """Note a call that failed and is tried again."""
        self._faults[what] = type(error).__name__
        part = "store" if isinstance(error, StoreError) else "broker"
        self._observer.note(CallFailed(part=part, call=what, error=type(error).__name__))

    def dropped(self, reason: CheckpointOutcome) -> None:
        """Note a partition that was left out of a checkpoint."""
        self._faults["checkpoint"] = reason

    def cleared(self, what: str) -> None:
        """Note that it works again, or still."""
        self._faults.pop(what, None)

    def probe(self, loaded: Mapping[int, LoadedPartition], waiting: Collection[int]) -> int | None:
        """Now and then, ask Redis and the brokers for a sign of life: a worker without words must know, too.

        Returns the input's partition count where it was asked for and answered.
        """
        now_s = self._clock.monotonic_s()
        if now_s - self._probed_at_s < _PROBE_EVERY_S:
            return None
        self._probed_at_s = now_s
        try:
            self._store.ping()
            self.cleared("ping")
        except RetriableError as error:
            self.failed("ping", error)
        try:
            partitions = self._source.partition_count(self._timeout_s)
        except RetriableError as error:
            self.failed("probe", error)
            return None
        try:
            self._positions.measure(loaded, waiting)
        except RetriableError as error:  # one partition's leader is away: that holds up nothing but the metrics
            self.failed("probe", error)
        else:
            self.cleared("probe")
        return partitions
