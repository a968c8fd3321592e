"""Flaws, each a rule of the protocol left out: the exploration must find the way to the loss that the rule prevents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from caesura.schemas.checkpoint import CheckpointId
from caesura.worker.adapters.memory.broker import MemoryBroker
from caesura.worker.adapters.memory.session_store import StoredPartition
from caesura.worker.adapters.memory.word_source import MemoryWordSource
from caesura.worker.errors import AbortableError, CaesuraError, ContentRefusedError, OutcomeUnknownError
from caesura.worker.ports.reasons import ClaimVerdict, ParkReason
from caesura.worker.ports.records import OutMessage
from caesura.worker.ports.session_store import StoreWrite
from caesura.worker.runtime.checkpoint import redis_sessions
from caesura.worker.runtime.checkpoint.checkpoint import Checkpoint, Transacted, _StepTimer
from caesura.worker.runtime.checkpoint.redis_sessions import RedisManifest, RedisSessions
from caesura.worker.runtime.checkpoint.saves import PartitionSaves, SavedCheckpoint, _UnderWay
from caesura.worker.runtime.checkpoint.staged_checkpoint import StagedCheckpoint
from caesura.worker.runtime.claim import claim as claiming
from caesura.worker.runtime.claim.verdict import judge
from caesura.worker.runtime.ledger.ledger_check import LedgerCheck
from caesura.worker.runtime.partition.checkpoint_staging import Staging
from caesura.worker.runtime.partition.loaded_partition import LoadedPartition
from caesura.worker.runtime.retries.step_search import FailedSteps, StepSearch
from caesura.worker.runtime.settings import totals
from caesura.worker.runtime.settings.deadline import Deadline

Flaw = Callable[[pytest.MonkeyPatch], None]


def save_first(patch: pytest.MonkeyPatch) -> None:
    """What is staged is saved before its transaction begins."""

    def stage(staging: Staging) -> StagedCheckpoint | None:
        staged = honest(staging)
        if staged is not None:
            state = staging._state
            state.totals.change(staged.shares)
            saved = SavedCheckpoint(staged.id, staging._history, staged.next.next_offset, staging._ledger_end)
            state.saves.committed(saved, staged.snapshots)
            state.saves.advance(state.sessions)
        return staged

    honest = Staging.stage
    patch.setattr(Staging, "stage", stage)


def any_id(patch: pytest.MonkeyPatch) -> None:
    """A claim takes what is stored for the committed state, whatever its id."""

    def hopeful(*, offset_known: bool, committed: CheckpointId | None, found: RedisManifest) -> ClaimVerdict:
        verdict = judge(offset_known=offset_known, committed=committed, found=found)
        behind = verdict is ClaimVerdict.BEHIND and found.manifest is not None
        return ClaimVerdict.GOOD if behind else verdict

    patch.setattr(claiming, "judge", hopeful)


def no_digest(patch: pytest.MonkeyPatch) -> None:
    """A partition's sessions are counted only; alone it does no harm between owners who keep all other rules."""

    def digest(session: str, snapshot: bytes) -> int:
        del session, snapshot
        return 0

    patch.setattr(totals, "snapshot_digest", digest)
    patch.setattr(redis_sessions, "snapshot_digest", digest)


def no_count(patch: pytest.MonkeyPatch) -> None:
    """Whatever sessions are found are taken for all of them."""
    patch.setattr(RedisSessions, "complete", property(lambda _: True))


def no_follows(patch: pytest.MonkeyPatch) -> None:
    """A write of what was touched is taken whatever is stored, and nobody adds up what stands there then."""
    no_count(patch)

    def change(stored: StoredPartition, write: StoreWrite) -> bool:
        stored._put(write)
        return True

    patch.setattr(StoredPartition, "_change", change)


def forget_unsaved(patch: pytest.MonkeyPatch) -> None:
    """After a save without an answer only the next checkpoint's sessions are written, and nobody adds them up."""
    no_count(patch)

    def unanswered(saves: PartitionSaves, done: _UnderWay) -> None:
        honest(saves, replace(done, sent={}))

    honest = PartitionSaves._unanswered
    patch.setattr(PartitionSaves, "_unanswered", unanswered)


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


def unknown_is_committed(patch: pytest.MonkeyPatch) -> None:
    """A commit whose outcome nobody knows is taken for committed."""

    def commit(checkpoint: Checkpoint, deadline: Deadline) -> CaesuraError | None:
        error = honest(checkpoint, deadline)
        return None if isinstance(error, OutcomeUnknownError) else error

    honest = Checkpoint._commit
    patch.setattr(Checkpoint, "_commit", commit)


def no_reading_again(patch: pytest.MonkeyPatch) -> None:
    """A record that was put off until a checkpoint has committed is not read again."""

    def adopt(loaded: LoadedPartition, staged: StagedCheckpoint) -> None:
        loaded._put_off = False
        honest(loaded, staged)

    honest = LoadedPartition.adopt
    patch.setattr(LoadedPartition, "adopt", adopt)


def outage_blames(patch: pytest.MonkeyPatch) -> None:
    """A transaction that is aborted is taken for a refusal of what its first record holds."""

    def transact(
        checkpoint: Checkpoint, parts: Sequence[StagedCheckpoint], timer: _StepTimer, until: Deadline | None
    ) -> Transacted:
        done = honest(checkpoint, parts, timer, until)
        if type(done.error) is not AbortableError:
            return done
        blamed = next((one for part in parts for one in part.messages), None)
        topic, value = ("", None) if blamed is None else (blamed.topic, blamed.value)
        error = ContentRefusedError("as planned", topic=topic, partition=parts[0].partition, value=value)
        return done._replace(error=error)

    honest = Checkpoint._transact
    patch.setattr(Checkpoint, "_transact", transact)


def blames_any_record(patch: pytest.MonkeyPatch) -> None:
    """The record that a refused step has applied is given up, whosever words were refused."""

    def refused(
        search: StepSearch, error: ContentRefusedError, message: OutMessage | None, failed: FailedSteps, **rest: str
    ) -> ParkReason | None:
        whole = message is None or message.segment is None or len(message.segment.words) > 1
        bare = message if message is None or whole else replace(message, segment=None)
        return honest(search, error, bare, failed, **rest)

    honest = StepSearch.refused
    patch.setattr(StepSearch, "refused", refused)


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
        save_first,
        any_id,
        forget_unsaved,
        unstable_offsets,
        no_seek_back,
        unknown_is_committed,
    )
}
REFUSAL_FLAWS: dict[str, Flaw] = {one.__name__: one for one in (no_reading_again, blames_any_record)}
"""Flaws that show only where a broker refuses what a record holds."""
LOSS_FLAWS: dict[str, Flaw] = {one.__name__: one for one in (no_follows,)}
"""Flaws that show only where Redis is lost, or goes on from an older copy."""
PART_FLAWS: dict[str, Flaw] = {one.__name__: one for one in (unseen_sessions,)}
"""Flaws that show only where Redis is lost in part."""
STRIKE_FLAWS: dict[str, Flaw] = {one.__name__: one for one in (unsummed_ledger,)}
"""Flaws that show only where the ledger has lost a record, and Redis is lost."""
