"""A rebuild on its way to a loaded partition: announced where it failed before, and read in chunks."""

from __future__ import annotations

from collections.abc import Callable

from caesura.worker.runtime.checkpoint.staged_checkpoint import TransactionPart
from caesura.worker.runtime.claim.rebuild import Rebuild
from caesura.worker.runtime.partition.loaded_partition import LoadedPartition
from caesura.worker.runtime.retries.parking import Parked
from caesura.worker.runtime.retries.rebuild_isolation import RebuildTries

__all__ = ["RebuildRun"]


class RebuildRun:
    """A partition on its way back from the log. ``advance`` until it answers something other than None.

    tries: those before this one. announcement: what says with the offset, left as it is, how often
    it was tried; announce commits that. announced: one that counts this try is committed.
    """

    def __init__(
        self,
        rebuild: Rebuild,
        finish: Callable[[Rebuild], LoadedPartition],
        *,
        tries: RebuildTries,
        announcement: Callable[[int], TransactionPart],
        announce: Callable[[TransactionPart], object],
    ) -> None:
        self._rebuild = rebuild
        self._finish = finish
        self._announcement = announcement
        self._announce = announce
        self.tries = tries
        self.announces = tries.announce
        self.announced = False

    def advance(self) -> LoadedPartition | Parked | None:
        """Announce it where that has to be, then do one chunk of the work. RetriableError: claim again."""
        if self.announces:
            self._announce(self._announcement(self.tries.announced + 1))
            self.announces, self.announced = False, True
            return None
        if not self._rebuild.advance():
            return None
        if self._rebuild.parked is not None:
            self.withdraw()  # what stands in the log stopped it: that is no try of it
            return self._rebuild.parked
        return self._finish(self._rebuild)

    def take_withdrawal(self) -> TransactionPart | None:
        """Return, once, what says that this was no try; None where nothing committed says that it is one.

        To be committed before a first checkpoint of what was rebuilt is tried: until then nothing moves the offset.
        """
        announced, self.announced = self.announced, False
        return self._announcement(self.tries.announced) if announced else None

    def withdraw(self) -> None:
        """Commit that. RetriableError where it did not commit for sure: it may count then."""
        withdrawal = self.take_withdrawal()
        if withdrawal is not None:
            self._announce(withdrawal)

    def let_go(self) -> None:
        """Drop what the engine keeps: the partition goes to another member, or is claimed anew."""
        self._rebuild.let_go()
