"""An observer that keeps what was rebuilt."""

from __future__ import annotations

from caesura.worker.ports.observer import Event, PartitionRebuilt, RebuildSummary, SilentObserver
from caesura.worker.ports.reasons import ClaimWaitReason
from tests.harness.in_memory_world import InMemoryWorker, World

__all__ = ["Rebuilds", "lose_redis"]


def lose_redis(world: World, worker: InMemoryWorker) -> None:
    """Lose all of Redis, and have a worker claim its partitions again before it reads on."""
    world.redis.lose_everything()
    for partition in worker.worker.assignment.loaded:
        worker.worker.assignment.claim_again(partition, ClaimWaitReason.SAVE_REFUSED)


class Rebuilds(SilentObserver):
    """Keeps what was rebuilt."""

    def __init__(self) -> None:
        self.summaries: list[RebuildSummary] = []

    def note(self, event: Event) -> None:
        if isinstance(event, PartitionRebuilt):
            self.summaries.append(event.summary)
