"""The sessions that a claim finds in Redis, read in pieces: a partition may hold a million, most of them closed.

What is in doubt is left out as it is read, and noted for the roll-back; one field that nobody can read makes the rest
worth nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import msgspec

from schemas.checkpoint import CheckpointId, Manifest, SessionField, Slot
from schemas.digests import digest_sum

__all__ = ["PIECE_SESSIONS", "FoundSessions"]

PIECE_SESSIONS = 500
"""How many sessions a turn of the loop reads, makes or saves of one partition: about 20 ms."""


class FoundSessions:
    """What has been read so far. in_doubt: whose slots do not count. names_only: nothing that stands there counts.

    slots: session -> its newest snapshot, tombstones left out. stale: sessions whose field can go. put, drop: the
    fields that the roll-back writes and removes. digest: ``digest_sum`` of ``slots``. readable: every field was ours.
    """

    def __init__(
        self, fields: Iterator[tuple[str, bytes]], *, in_doubt: Manifest | None = None, names_only: bool = False
    ) -> None:
        self._fields = fields
        self._in_doubt = in_doubt
        self._unseen = set(in_doubt.touched) if in_doubt is not None else set()
        self._ages: dict[str, tuple[int, int]] = {}
        self.slots: dict[str, Slot] = {}
        self.stale: list[str] = []
        self.put: dict[str, bytes] = {}
        self.drop: list[str] = []
        self.digest = 0
        self.readable = not names_only

    @property
    def names(self) -> list[str]:
        """Every session that has a field, and those that the checkpoint in doubt may have given one."""
        return [*self.slots, *self.stale, *self.drop]

    def read(self, most: int = PIECE_SESSIONS) -> bool:
        """Read so many fields at most; True where those were all. StoreError: begin again."""
        for _ in range(most):
            found = next(self._fields, None)
            if found is None:
                self.drop += sorted(self._unseen)
                self._unseen.clear()
                return True
            self._take(*found)
        return False

    def _take(self, name: str, stored: bytes) -> None:
        slots = self._slots_of(stored) if self.readable else ()
        if not self.readable:
            self.stale.append(name)
            return
        if self._in_doubt is not None and name in self._unseen:
            self._unseen.discard(name)
            slots = tuple(slot for slot in slots if slot.id != self._in_doubt.id)
            if not slots:
                self.drop.append(name)
                return
            self.put[name] = msgspec.msgpack.encode(SessionField(slots))
        newest = max(slots, key=self._age)
        if newest.state is None:
            self.stale.append(name)
        else:
            self.slots[name] = newest
            self.digest = digest_sum((self.digest, newest.digest(name)))

    def _slots_of(self, stored: bytes) -> tuple[Slot, ...]:
        """Return a field's slots, none where it is none of ours; their ids are shared with other sessions' slots."""
        try:
            slots = msgspec.msgpack.decode(stored, type=SessionField).slots
            for slot in slots:
                self._age(slot)
        except (ValueError, RecursionError):
            slots = ()
        self.readable = bool(slots)
        return tuple(Slot(sys.intern(slot.id), slot.state) for slot in slots)

    def _age(self, slot: Slot) -> tuple[int, int]:
        age = self._ages.get(slot.id)
        if age is None:
            checkpoint = CheckpointId.parse(slot.id)
            age = self._ages[slot.id] = (checkpoint.token, checkpoint.n)
        return age
