"""This worker's transactional producer. It is made before the worker joins the group, and replaced after a fault."""

from __future__ import annotations

from collections import deque

from caesura.worker.errors import FencedError, RetriableError
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.commit_steps import ProducerRebuilt
from caesura.worker.ports.observer import Observer
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.reasons import CheckpointOutcome
from caesura.worker.runtime.retries.faults import Faults

_RETRY_WAIT_S = 0.5
_MOST_FENCINGS = 5
_FENCINGS_WITHIN_S = 30.0


class Fencings:
    """Counts how often another producer took this id within a window: a sign of two workers with one ordinal.

    Commits do not reset it, because two such workers both commit now and then. The worker that reaches the limit first
    stops without a new producer, so the other one is fenced no more.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._at_s: deque[float] = deque(maxlen=_MOST_FENCINGS)

    def add(self) -> bool:
        """Count one; tell whether there are too many to come from claims that end a dead worker's transactions."""
        self._at_s.append(self._clock.monotonic_s())
        return len(self._at_s) == _MOST_FENCINGS and self._at_s[-1] - self._at_s[0] <= _FENCINGS_WITHIN_S


class OwnProducer:
    """lost: why it must be replaced before the next transaction; None if it need not."""

    def __init__(
        self, publisher: Publisher, *, clock: Clock, observer: Observer, faults: Faults, timeout_s: float
    ) -> None:
        self._publisher = publisher
        self._clock = clock
        self._observer = observer
        self._faults = faults
        self._timeout_s = timeout_s
        self._not_before_s = 0.0
        self._fencings = Fencings(clock)
        self.lost: CheckpointOutcome | None = CheckpointOutcome.STARTING

    def start(self) -> None:
        """Fence the former process with this transactional id. RetriableError: call again; FatalError."""
        if self.lost is not None:
            self._publisher.init_transactions(self._timeout_s)
            self.lost = None

    def lose(self, reason: CheckpointOutcome) -> None:
        """Note that it must be replaced. FencedError if another process keeps using its id."""
        self.lost, self._not_before_s = reason, self._clock.monotonic_s()
        if reason == CheckpointOutcome.PUBLISHER_FENCED and self._fencings.add():
            raise FencedError(
                f"another process keeps using the transactional id {self._publisher.transactional_id}: "
                "every worker of a deployment needs a worker.ordinal of its own"
            )

    def rebuild(self) -> None:
        """Replace a lost producer, now or, after a fault, later."""
        reason = self.lost
        if reason is None or self._clock.monotonic_s() < self._not_before_s:
            return
        try:
            self._publisher.rebuild(self._timeout_s)
        except RetriableError as error:
            self._faults.failed("producer", error)
            self._not_before_s = self._clock.monotonic_s() + _RETRY_WAIT_S
            return
        self._faults.cleared("producer")
        self.lost = None
        self._observer.note(ProducerRebuilt(reason=reason))
