"""An observer that keeps what was rebuilt."""

from __future__ import annotations

from worker.ports.observer import Event, PartitionRebuilt, RebuildSummary, SilentObserver

__all__ = ["Rebuilds"]


class Rebuilds(SilentObserver):
    """Keeps what was rebuilt."""

    def __init__(self) -> None:
        self.summaries: list[RebuildSummary] = []

    def note(self, event: Event) -> None:
        if isinstance(event, PartitionRebuilt):
            self.summaries.append(event.summary)
