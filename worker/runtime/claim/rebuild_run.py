"""A rebuild on its way to a loaded partition, in chunks."""

from __future__ import annotations

from collections.abc import Callable

from caesura.worker.runtime.claim.rebuild import Rebuild
from caesura.worker.runtime.partition.loaded_partition import LoadedPartition
from caesura.worker.runtime.retries.parking import Parked


class RebuildRun:
    """A partition on its way back from the log. ``advance`` until it answers something other than None."""

    def __init__(self, rebuild: Rebuild, finish: Callable[[Rebuild], LoadedPartition]) -> None:
        self._rebuild = rebuild
        self._finish = finish

    def advance(self) -> LoadedPartition | Parked | None:
        """Do one chunk of the work. RetriableError: claim again."""
        if not self._rebuild.advance():
            return None
        return self._rebuild.parked or self._finish(self._rebuild)

    def let_go(self) -> None:
        """Drop what the engine keeps: the partition goes to another member, or is claimed anew."""
        self._rebuild.let_go()
