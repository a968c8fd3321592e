"""An observer that keeps what it hears of one kind of event."""

from __future__ import annotations

from typing import Generic, TypeVar

from caesura.worker.ports.observer import Event, PartitionCaughtUp, PartitionRebuilt, RebuildSummary, SilentObserver
from caesura.worker.ports.reasons import ClaimWaitReason
from tests.harness.in_memory_world import InMemoryWorker, World

Kind = TypeVar("Kind", bound=Event)


class Heard(SilentObserver, Generic[Kind]):
    """events: of the one kind, in the order in which they came."""

    def __init__(self, kind: type[Kind]) -> None:
        self._kind = kind
        self.events: list[Kind] = []

    def note(self, event: Event) -> None:
        if isinstance(event, self._kind):
            self.events.append(event)


def lose_redis(world: World, worker: InMemoryWorker) -> None:
    """Lose all of Redis, and have a worker claim its partitions again before it reads on."""
    world.redis.lose_everything()
    for partition in worker.worker.assignment.loaded:
        worker.worker.assignment.claim_again(partition, ClaimWaitReason.SAVE_REFUSED)


class Rebuilds(SilentObserver):
    """Keeps what was rebuilt, and what caught up by the log."""

    def __init__(self) -> None:
        self.summaries: list[RebuildSummary] = []
        self.caught_up: list[RebuildSummary] = []

    def note(self, event: Event) -> None:
        if isinstance(event, PartitionRebuilt):
            self.summaries.append(event.summary)
        elif isinstance(event, PartitionCaughtUp):
            self.caught_up.append(event.summary)
