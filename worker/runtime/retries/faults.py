"""The worker's present faults, each with what it hit. A fault is removed when what it hit works again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from caesura.worker.errors import AwaitedBroker, RetriableError
from caesura.worker.ports.observer import CallFailed, Observer
from caesura.worker.ports.reasons import CheckpointOutcome


class Faults:
    """Faults, which are some of the reasons why a worker is not ready."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._faults: dict[str, str] = {}
        self._awaited: dict[str, AwaitedBroker] = {}
        self._times: Counter[str] = Counter()

    @property
    def reasons(self) -> list[str]:
        """Return every fault that is not cleared."""
        return [f"{what}: {fault}" for what, fault in sorted(self._faults.items())]

    @property
    def awaits(self) -> AwaitedBroker | None:
        """The broker that did not answer, if any: a checkpoint's, or else the producer's."""
        return next((broker for _, broker in sorted(self._awaited.items())), None)

    def times(self, what: str) -> int:
        """Return how often a call of this name has failed."""
        return self._times[what]

    def failed(self, what: str, error: RetriableError) -> None:
        """Note a failed call that will be tried again."""
        self._times[what] += 1
        self._note(what, type(error).__name__, error.awaits)
        self._observer.note(CallFailed.of(what, error))

    def dropped(self, reason: CheckpointOutcome, awaits: AwaitedBroker | None = None) -> None:
        """Note a checkpoint that may not have committed. awaits: the broker that did not answer."""
        self._note("checkpoint", reason, awaits)

    def input_held(self, partitions: Sequence[int]) -> None:
        """Note the partitions whose input an open transaction holds back, perhaps none."""
        self._faults.pop("input", None)
        if partitions:
            self._faults["input"] = f"a transaction is open, partition {', '.join(map(str, partitions))}"

    def cleared(self, what: str) -> None:
        """Note that it works, again or still."""
        self._faults.pop(what, None)
        self._awaited.pop(what, None)

    def _note(self, what: str, fault: str, awaits: AwaitedBroker | None) -> None:
        self._faults[what] = f"{fault}, awaits {awaits}" if awaits else fault
        self._awaited.pop(what, None)
        if awaits is not None:
            self._awaited[what] = awaits
