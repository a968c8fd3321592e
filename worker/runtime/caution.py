"""Record by record, where claims of a partition end without a commit: the one that fails is found and set aside.

An event that makes a transaction fail, or kills the process that labels it, must not stop its partition for ever.

1. Three claims without a commit between them, while there is something to read: the partition is read with care, up to
   where the log ended then. The tokens tell: every claim raises the token, and a committed id carries its own.
2. With care, a record is announced by a commit of its own ("about to try", for the n-th time, in the offset's
   metadata), and only then applied and committed, alone.
3. Each time that went well, twice as many records are announced by their first one and tried together: a claim fails
   for the brokers' or Redis's sake far more often than for a record's, and must not cost two commits a record. The
   next claim begins with one again, so the one that fails is found alone in the end.
4. A record that was tried three times and never committed is tried without the engine: its words go out unlabelled,
   cause ``fallback``. Fails that, too, it goes to the dead letters as reason and digest. That the announcements
   committed shows that it is the record, not the brokers or Redis.
"""

from __future__ import annotations

from enum import Enum, auto

from schemas.checkpoint import OffsetMetadata

__all__ = ["MAX_CLAIMS_WITHOUT_COMMIT", "Advice", "Caution", "claims_without_commit"]

MAX_CLAIMS_WITHOUT_COMMIT = 3
_MAX_LABELLED_TRIES = 3


class Advice(Enum):
    """What to do with a record that was read."""

    APPLY = auto()
    APPLY_UNLABELLED = auto()
    READ_AGAIN = auto()
    GIVE_UP = auto()


def claims_without_commit(token: int, committed: OffsetMetadata | None) -> int:
    """Return how many claims there were since the last commit, the one that has ``token`` among them."""
    return token - (committed.id.token if committed is not None else 0)


class Caution:
    """How one loaded partition is read. until_offset: care is taken below it. tries: of the next record, so far."""

    def __init__(self, *, until_offset: int = 0, tries: int = 0) -> None:
        self._until_offset = until_offset
        self._tries = tries
        self._announced = False
        self._busy = False
        self._read_again = False
        self._together = 1
        self._left = 0
        self.owes_checkpoint = False

    @property
    def until_offset(self) -> int:
        """Where care ends."""
        return self._until_offset

    @property
    def busy(self) -> bool:
        """Tell whether a checkpoint is due before any record but those announced is applied."""
        return self._busy

    @property
    def tries(self) -> int:
        """What the next commit says of the record that is next then."""
        return self._tries

    def advise(self, offset: int) -> Advice:
        """Say what to do with the record at ``offset``; at most those announced are applied before a checkpoint."""
        if self._left and offset < self._until_offset:
            self._left -= 1
            return Advice.APPLY
        if self._busy:
            self._read_again = True
            return Advice.READ_AGAIN
        if offset >= self._until_offset:
            return Advice.APPLY
        self._busy = True
        if self._announced:
            tries, self._tries = self._tries, 0
            self._left = self._together - 1
            return Advice.APPLY if tries <= _MAX_LABELLED_TRIES else Advice.APPLY_UNLABELLED
        if self._tries > _MAX_LABELLED_TRIES:
            self._tries = 0
            return Advice.GIVE_UP
        self._tries += 1
        self._announced = self.owes_checkpoint = self._read_again = True
        return Advice.READ_AGAIN

    def committed(self, *, moved: bool) -> bool:
        """Take note of a checkpoint; ``moved``: the offset went on. Returns whether to read from there again."""
        read_again, self._read_again = self._read_again, False
        self._busy = self.owes_checkpoint = False
        self._left = 0
        if moved and self._announced:
            self._announced = False
            self._together *= 2
        return read_again
