"""Flaws, each a rule of the seam left out: the exploration must find the way to the loss that the rule prevents."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import msgspec
import pytest

from schemas.checkpoint import CheckpointId, Manifest, SessionField, Slot
from worker.adapters.memory.broker import MemoryBroker
from worker.adapters.memory.session_store import StoredPartition
from worker.adapters.memory.word_source import MemoryWordSource
from worker.ports.reasons import ClaimVerdict
from worker.ports.session_store import Claimed, StoreWrite
from worker.runtime import claim as claiming
from worker.runtime import poison_isolation
from worker.runtime.checkpoint import Checkpoint
from worker.runtime.claim_fence import ClaimFence
from worker.runtime.deadline import Deadline
from worker.runtime.found_state import FoundManifest
from worker.runtime.ledger_check import LedgerCheck
from worker.runtime.poison_isolation import PoisonIsolation
from worker.runtime.stored import StoredSlots
from worker.runtime.verdict import judge

__all__ = ["FLAWS", "LOSS_FLAWS", "PART_FLAWS", "STRIKE_FLAWS", "Flaw"]

Flaw = Callable[[pytest.MonkeyPatch], None]


def no_roll_back(patch: pytest.MonkeyPatch) -> None:
    """What is in doubt is taken for committed."""

    def hopeful(*, offset_known: bool, committed: CheckpointId | None, manifest: Manifest | None) -> ClaimVerdict:
        verdict = judge(offset_known=offset_known, committed=committed, manifest=manifest)
        return ClaimVerdict.GOOD if verdict is ClaimVerdict.IN_DOUBT else verdict

    patch.setattr(claiming, "judge", hopeful)


def no_digest(patch: pytest.MonkeyPatch) -> None:
    """A partition's sessions are counted only; alone it does no harm between owners who keep all other rules."""

    def digest(slot: Slot, session: str) -> int:
        del slot, session
        return 0

    patch.setattr(Slot, "digest", digest)


def no_count(patch: pytest.MonkeyPatch) -> None:
    """Whatever sessions are found are taken for all of them."""

    def holds_all(living: int, digest: int, manifest: Manifest | None) -> bool:
        del living, digest, manifest
        return True

    patch.setattr(claiming, "holds_all", holds_all)


def no_fence(patch: pytest.MonkeyPatch) -> None:
    """A write is taken whatever its token and whatever it follows, and the digest does not show it."""
    no_digest(patch)

    def write(stored: StoredPartition, write: StoreWrite) -> bool:
        return guarded(stored, replace(write, token=stored.token, follows=_id_of(stored)))

    guarded = StoredPartition.write
    patch.setattr(StoredPartition, "write", write)


def no_follows(patch: pytest.MonkeyPatch) -> None:
    """A write is taken whatever manifest it follows, and the digest does not show it."""
    no_digest(patch)

    def write(stored: StoredPartition, write: StoreWrite) -> bool:
        return guarded(stored, replace(write, follows=_id_of(stored)))

    guarded = StoredPartition.write
    patch.setattr(StoredPartition, "write", write)


def _id_of(stored: StoredPartition) -> bytes | None:
    return stored.id


def one_slot(patch: pytest.MonkeyPatch) -> None:
    """A save writes over the committed snapshot, and nobody counts what a roll-back leaves."""
    no_count(patch)

    def field(stored: StoredSlots, name: str, new: Slot) -> bytes:
        del stored, name
        return msgspec.msgpack.encode(SessionField((new,)))

    patch.setattr(StoredSlots, "_field", field)


def unstable_offsets(patch: pytest.MonkeyPatch) -> None:
    """A claim does not wait for an open transaction on the offset."""
    patch.setattr(MemoryBroker, "committed", MemoryBroker.last_committed)


def no_seek_back(patch: pytest.MonkeyPatch) -> None:
    """After an abort reading goes on where polling stood."""

    def seek(source: MemoryWordSource, partition: int, next_offset: int, leader_epoch: int | None = None) -> None:
        if source._readings[partition].next_offset is None:
            sought(source, partition, next_offset, leader_epoch)

    sought = MemoryWordSource.seek
    patch.setattr(MemoryWordSource, "seek", seek)


def low_token(patch: pytest.MonkeyPatch) -> None:
    """A claim goes on with a token that is not above the committed one, and nothing else tells its ids apart."""

    def is_above(fence: ClaimFence, token: int) -> bool:
        del fence, token
        return True

    patch.setattr(ClaimFence, "_is_above", is_above)
    patch.setattr(secrets, "token_hex", lambda _: "0123456789abcdef")


def no_ledger(patch: pytest.MonkeyPatch) -> None:
    """State that is behind the log is taken as it is."""

    def hopeful(*, offset_known: bool, committed: CheckpointId | None, manifest: Manifest | None) -> ClaimVerdict:
        verdict = judge(offset_known=offset_known, committed=committed, manifest=manifest)
        return ClaimVerdict.GOOD if verdict is ClaimVerdict.BEHIND else verdict

    patch.setattr(claiming, "judge", hopeful)


def unknown_is_committed(patch: pytest.MonkeyPatch) -> None:
    """A commit whose outcome nobody knows is taken for committed."""

    def commit(checkpoint: Checkpoint, deadline: Deadline) -> str | None:
        outcome = honest(checkpoint, deadline)
        return None if outcome == "commit_unknown" else outcome

    honest = Checkpoint._commit
    patch.setattr(Checkpoint, "_commit", commit)


def no_reading_again(patch: pytest.MonkeyPatch) -> None:
    """A record that was put off until its announcement has committed is not read again."""

    def committed(isolation: PoisonIsolation) -> bool:
        honest(isolation)
        return False

    honest = PoisonIsolation.committed
    patch.setattr(PoisonIsolation, "committed", committed)


def hasty(patch: pytest.MonkeyPatch) -> None:
    """A record that failed once is given up."""
    patch.setattr(poison_isolation, "_MAX_LABELLED_TRIES", 0)


def rebuild_follows(patch: pytest.MonkeyPatch) -> None:
    """A rebuild follows what it found, and counts nothing before it: an aborted one is rolled back to nothing."""
    no_digest(patch)

    def write(stored: StoredSlots, checkpoint: CheckpointId, slots: Mapping[str, Slot]) -> StoreWrite:
        stored._rebuilding = stored._rebuilding and isinstance(stored._manifest_id, bytes)
        return honest(stored, checkpoint, slots)

    honest = StoredSlots.write
    patch.setattr(StoredSlots, "write", write)


def trusted_manifest(patch: pytest.MonkeyPatch) -> None:
    """The manifest is believed whatever id stands beside it: no write is taken then, without end."""

    def of(claimed: Claimed) -> FoundManifest:
        found = honest(claimed)
        if not found.damaged:
            return found
        try:
            manifest = Manifest.decode(claimed.manifest or b"")
        except ValueError:
            return replace(found, stored_id=None)
        return FoundManifest(manifest=manifest, stored_id=CheckpointId.parse(manifest.id))

    honest = FoundManifest.of
    patch.setattr(FoundManifest, "of", of)


def unseen_sessions(patch: pytest.MonkeyPatch) -> None:
    """Sessions that are not found are not missed."""
    no_count(patch)


def unsummed_ledger(patch: pytest.MonkeyPatch) -> None:
    """A rebuild believes whatever records stand in the ledger."""

    def run(check: LedgerCheck, *args: object, **kwargs: object) -> Iterator[None]:
        del check, args, kwargs
        return iter(())

    patch.setattr(LedgerCheck, "run", run)


FLAWS: dict[str, Flaw] = {
    one.__name__: one
    for one in (
        no_roll_back,
        no_fence,
        one_slot,
        unstable_offsets,
        no_seek_back,
        unknown_is_committed,
        no_reading_again,
        hasty,
    )
}
LOSS_FLAWS: dict[str, Flaw] = {one.__name__: one for one in (no_follows, low_token, no_ledger)}
"""Flaws that show only where Redis is lost, or goes on from an older copy."""
PART_FLAWS: dict[str, Flaw] = {one.__name__: one for one in (rebuild_follows, trusted_manifest, unseen_sessions)}
"""Flaws that show only where Redis is lost in part."""
STRIKE_FLAWS: dict[str, Flaw] = {one.__name__: one for one in (unsummed_ledger,)}
"""Flaws that show only where the ledger has lost a record, and Redis is lost."""
