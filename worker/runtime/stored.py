"""What Redis holds of a partition as of the last commit, and what the next checkpoint writes there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from schemas.checkpoint import CheckpointId, Manifest, SessionField, Slot
from schemas.digests import digest_sum
from schemas.ledger_sum import LedgerSum, decode_published
from worker.ports.reasons import ClaimVerdict
from worker.ports.session_store import StoreWrite
from worker.runtime.claimed_state import ClaimedState
from worker.runtime.found_sessions import PIECE_SESSIONS
from worker.runtime.found_state import CHECKPOINT_MANIFEST_VERSION

__all__ = ["StoredSlots"]


class StoredSlots:
    """The committed snapshots as bytes, because a save writes them again beside the new ones."""

    def __init__(self, state: ClaimedState, *, sums_ledger: bool) -> None:
        self._token = state.token
        self._nonce = state.nonce
        self._n = 0
        self._manifest_id = state.id
        self._rebuilding = state.verdict is ClaimVerdict.BEHIND
        self._committed = state.slots
        # What committed slots add to the digest, of those written here whose sessions do not rest; and staged ones.
        self._added: dict[str, int] = {}
        self._staged_added: dict[str, int] = {}
        self._digest = state.digest
        self._staged_digest = state.digest
        # What a rebuild has made is counted as it is saved, all of it.
        known = LedgerSum() if self._rebuilding or state.ledger is None else state.ledger
        self._ledger = known if sums_ledger else None
        self._staged_ledger = self._ledger
        # Fields to be dropped with the next write: of sessions whose tombstone is committed, or worth nothing.
        self._dropping: Sequence[str] = state.stale

    @property
    def unproven(self) -> bool:
        """Tell whether the state was rebuilt, and no checkpoint of it has committed yet."""
        return self._rebuilding

    @property
    def owes_drop(self) -> bool:
        """Tell whether fields wait for a write to drop them: without words and timers there would be none."""
        return bool(self._dropping)

    def next_id(self) -> CheckpointId:
        """Return the id of the next checkpoint; no two attempts share one."""
        self._n += 1
        return CheckpointId(self._token, self._n, self._nonce)

    @property
    def ledger(self) -> LedgerSum | None:
        """What the ledger says once the snapshots that were made last are committed; None where nobody counts."""
        return self._staged_ledger

    def new_slots(
        self, checkpoint: CheckpointId, snapshots: Mapping[str, bytes | None], recorded: Collection[str]
    ) -> dict[str, Slot]:
        """Return the slots of a checkpoint; None is a tombstone.

        recorded: sessions of which the same transaction holds a ledger record. No other one has published since.
        """
        if self._ledger is not None:
            counted = snapshots if self._rebuilding else recorded
            self._staged_ledger = self._ledger_with(self._ledger, ((name, snapshots[name]) for name in counted))
        written = str(checkpoint)
        return {name: Slot(written, data) for name, data in snapshots.items()}

    def write(self, checkpoint: CheckpointId, slots: Mapping[str, Slot]) -> StoreWrite:
        """Return the guarded write of a checkpoint.

        A rebuild's replaces what was found, so there is nothing to roll back to: until it has committed its manifest
        follows none that can ever be committed, itself, and whoever claims next rebuilds again.
        """
        self._staged_digest = self._digest_with(slots)
        change = sum((slot.state is not None) - (name in self._committed) for name, slot in slots.items())
        manifest = Manifest(
            version=CHECKPOINT_MANIFEST_VERSION,
            id=str(checkpoint),
            follows=str(checkpoint) if self._rebuilding else self._follows,
            touched=tuple(slots),
            sessions=len(self._committed) + change,
            sessions_before=-1 if self._rebuilding else len(self._committed),
            digest=self._staged_digest,
            digest_before=self._digest,
        )
        return self._guarded(checkpoint, manifest, slots, self._dropping)

    def owes_piece(self, sessions: int) -> bool:
        """Tell whether a rebuild that has so many sessions to save, saves some of them before its first checkpoint."""
        return self._rebuilding and max(sessions, len(self._dropping)) > PIECE_SESSIONS

    def write_piece(self, checkpoint: CheckpointId, slots: Mapping[str, Slot]) -> StoreWrite:
        """Return the guarded write of a piece of what a rebuild made, and of the fields that are worth nothing.

        Its manifest follows itself and counts nothing: it is as much in doubt as the checkpoint that comes after the
        last piece, and ``checkpoint``, the same for all pieces, is never committed.
        """
        manifest = Manifest(
            version=CHECKPOINT_MANIFEST_VERSION,
            id=str(checkpoint),
            follows=str(checkpoint),
            touched=(),
            sessions=-1,
            sessions_before=-1,
        )
        return self._guarded(checkpoint, manifest, slots, self._dropping[:PIECE_SESSIONS])

    def adopt_piece(self, checkpoint: CheckpointId, slots: Mapping[str, Slot]) -> None:
        """Take note that a piece is saved."""
        self._manifest_id = checkpoint
        self._digest = self._digest_with(slots)
        self._ledger = self._staged_ledger
        self._dropping = self._dropping[PIECE_SESSIONS:]
        self._committed.update(slots)
        self._added.update(self._staged_added)

    def _guarded(
        self, checkpoint: CheckpointId, manifest: Manifest, slots: Mapping[str, Slot], drop: Sequence[str]
    ) -> StoreWrite:
        return StoreWrite(
            token=self._token,
            follows=self._manifest_id,
            id=checkpoint,
            manifest=msgspec.msgpack.encode(manifest),
            put={name: self._field(name, slot) for name, slot in slots.items()},
            drop=[name for name in drop if name not in slots and name not in self._committed],
        )

    def adopt(self, checkpoint: CheckpointId, slots: Mapping[str, Slot]) -> None:
        """Make a checkpoint's snapshots the committed ones."""
        self._manifest_id = checkpoint
        self._rebuilding = False
        self._digest = self._staged_digest
        self._ledger = self._staged_ledger
        self._dropping = [name for name, slot in slots.items() if slot.state is None]
        for name, slot in slots.items():
            if slot.state is None:
                self._committed.pop(name, None)
                self._added.pop(name, None)
            else:
                self._committed[name] = slot
                self._added[name] = self._staged_added[name]

    def rest(self, sessions: Iterable[str]) -> None:
        """Keep no more of these sessions than their slots: they may be many, and are seldom written again."""
        for name in sessions:
            self._added.pop(name, None)

    def _digest_with(self, slots: Mapping[str, Slot]) -> int:
        """Return the digest that these snapshots leave, from what they change; what each adds is staged."""
        self._staged_added = {name: slot.digest(name) for name, slot in slots.items()}
        gone = (-self._adds(name) for name in slots if name in self._committed)
        return digest_sum((self._digest, *gone, *self._staged_added.values()))

    def _adds(self, name: str) -> int:
        known = self._added.get(name)
        return self._committed[name].digest(name) if known is None else known

    def _ledger_with(self, ledger: LedgerSum, snapshots: Iterable[tuple[str, bytes | None]]) -> LedgerSum:
        """Return the sum that these sessions leave, from what they change."""
        gone, come = [], []
        for name, data in snapshots:
            slot = self._committed.get(name)
            if slot is not None and slot.state is not None:
                gone.append(decode_published(slot.state))
            if data is not None:
                come.append(decode_published(data))
        return ledger.changed(gone, come)

    @property
    def _follows(self) -> str | None:
        assert not isinstance(self._manifest_id, bytes), "what follows no id of ours is a rebuild"
        return str(self._manifest_id) if self._manifest_id else None

    def _field(self, name: str, new: Slot) -> bytes:
        committed = self._committed.get(name)
        return msgspec.msgpack.encode(SessionField((new,) if committed is None else (committed, new)))
