"""A rebuild on its way to a loaded partition: announced where it failed before, read in chunks, saved in pieces."""

from __future__ import annotations

from collections.abc import Callable

from worker.runtime.loaded_partition import LoadedPartition
from worker.runtime.parking import Parked
from worker.runtime.rebuild import Rebuild

__all__ = ["RebuildRun"]


class RebuildRun:
    """A partition on its way back from the log. ``advance`` until it answers something other than None.

    saves: whether pieces of it may stand in Redis, so that a fault needs a new token. forget: drops what the engine
    keeps of a session. announce, withdraw: commit one try more, and as many as before; None: it is not announced.
    """

    def __init__(
        self,
        rebuild: Rebuild,
        finish: Callable[[Rebuild], LoadedPartition],
        *,
        announce: Callable[[], object] | None,
        withdraw: Callable[[], object],
        forget: Callable[[str], object],
    ) -> None:
        self._rebuild = rebuild
        self._forget = forget
        self._finish = finish
        self._announce = announce
        self._withdraw = withdraw
        self._rebuilt: LoadedPartition | None = None
        self.announced = False

    @property
    def announces(self) -> bool:
        """Tell whether its next step is to announce itself."""
        return self._announce is not None

    @property
    def saves(self) -> bool:
        """Tell whether it has read everything, so that pieces of it may stand in Redis."""
        return self._rebuilt is not None

    def advance(self) -> LoadedPartition | Parked | None:
        """Announce it where that has to be, then do one chunk of the work. RetriableError: claim again."""
        if self._announce is not None:
            self._announce()
            self._announce = None
            self.announced = True
            return None
        if self._rebuilt is None:
            if not self._rebuild.advance():
                return None
            if self._rebuild.parked is not None:
                if self.announced:
                    self._withdraw()  # what stands in the log stopped it: that is no try of it
                return self._rebuild.parked
            self._rebuilt = self._finish(self._rebuild)
        return None if self._rebuilt.save_piece() else self._rebuilt

    def let_go(self) -> None:
        """Drop what the engine keeps: the partition goes to another member, or is claimed anew."""
        for name in self._rebuild.rebuilt.sessions.awake:
            self._forget(name)
