"""What is wrong with the worker now: faults by what they hit. Each stays until what it hit has worked again."""

from __future__ import annotations

from worker.errors import RetriableError
from worker.ports.observer import CallFailed, Observer
from worker.ports.reasons import CheckpointOutcome

__all__ = ["Faults"]


class Faults:
    """Part of the reasons why a worker is not ready."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._faults: dict[str, str] = {}

    @property
    def reasons(self) -> list[str]:
        """Name every fault that is not cleared."""
        return [f"{what}: {fault}" for what, fault in sorted(self._faults.items())]

    def failed(self, what: str, error: RetriableError) -> None:
        """Note a call that failed and is tried again."""
        self._faults[what] = type(error).__name__
        self._observer.note(CallFailed.of(what, error))

    def dropped(self, reason: CheckpointOutcome) -> None:
        """Note a partition that was left out of a checkpoint."""
        self._faults["checkpoint"] = reason

    def cleared(self, what: str) -> None:
        """Note that it works again, or still."""
        self._faults.pop(what, None)
