"""The claim of a partition: fence the former owner, learn which snapshots count, load every session.

1. raise the token to one more than the larger of the stored one and the committed id's: the former owner can write no
   more;
2. read the committed offset with stable offsets required (it waits while a transaction on it is open); where its id
   has a token not below ours, the store was lost meanwhile: raise again;
3. judge (``verdict``): roll back what is in doubt;
4. load **all** sessions, because timers of sessions without new words must fire too.

A claim is tried in short calls, so that partitions that are loaded go on. The same claim follows every abort, every
refused save and every commit whose outcome nobody knows: there is no other way to learn it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace

import msgspec

from schemas.checkpoint import CheckpointId, Manifest, OffsetMetadata
from worker.errors import ForeignStateError, StoreError
from worker.ports.observer import SeamReached, SeamStep
from worker.ports.reasons import ClaimVerdict, ParkReason
from worker.ports.records import CommittedOffset
from worker.ports.session_store import StoreWrite
from worker.runtime.claimed_state import ClaimedState
from worker.runtime.first_start import why_not_new
from worker.runtime.found_sessions import FoundSessions
from worker.runtime.found_state import FoundManifest, holds_all, settled_manifest
from worker.runtime.parking import Parked
from worker.runtime.parts import RuntimeParts
from worker.runtime.poison_isolation import MAX_CLAIMS_WITHOUT_COMMIT, RetryHistory, claims_without_commit
from worker.runtime.rebuild_isolation import RebuildTries, is_announcement
from worker.runtime.settings import RuntimeSettings, StartAt
from worker.runtime.stable_offset import StableOffset
from worker.runtime.verdict import judge

__all__ = ["Claim"]


class Claim:
    """One partition's way from assigned to loaded. ``advance`` until it answers something other than None."""

    def __init__(self, partition: int, parts: RuntimeParts, settings: RuntimeSettings, *, partitions: int) -> None:
        self._partition = partition
        self._partitions = partitions
        self._store = parts.store
        self._source = parts.source
        self._parts = parts
        self._stable_offset = StableOffset(partition, parts, settings)
        self._observer = parts.observer
        self._settings = settings
        self._timeout_s = settings.claim_timeout_s
        self._nonce = secrets.token_hex(8)
        self._token: int | None = None
        self._found = FoundManifest(manifest=None, stored_id=None)
        self._reading: tuple[FoundSessions, Callable[[FoundSessions], ClaimedState]] | None = None
        self._forgiven = False
        self._uncounted = False

    def uncount(self) -> None:
        """Count the last try of a step, or of a rebuild, against nobody: what stopped it lay elsewhere."""
        self._uncounted = True

    def forgive(self) -> None:
        """Try a rebuild as if it had never failed: an operator has released the partition."""
        self._forgiven = True

    @property
    def reads(self) -> bool:
        """Tell whether it is in the midst of the stored sessions, and can go on at once."""
        return self._reading is not None

    def start_over(self) -> None:
        """Begin with another token: what was written under this one may have been refused, or land later."""
        self._token = None

    def advance(self) -> ClaimedState | Parked | None:
        """Try once, in short calls; None: there is more to read. RetriableError: not yet, try again later.

        What was reached before a fault is kept, but for the stored sessions: they are read from the first one again.
        """
        try:
            if self._reading is None:
                parked = self._judge()
                if parked is not None:
                    return parked
            return self._read_on()
        except ForeignStateError as error:
            return self._park(ParkReason.STATE_UNREADABLE, str(error))

    def _read_on(self) -> ClaimedState | None:
        assert self._reading is not None
        (sessions, settle), self._reading = self._reading, None
        if not sessions.read():
            self._reading = (sessions, settle)
            return None
        return settle(sessions)

    def _judge(self) -> Parked | None:
        """Fence, compare ids, and begin to read the stored sessions; or say why an operator is needed."""
        partitions = self._source.partition_count(self._timeout_s)
        if partitions != self._partitions:
            return self._park(ParkReason.PARTITION_COUNT_CHANGED, f"{self._partitions} before, {partitions} now")
        committed = self._fence()
        metadata = OffsetMetadata.decode(committed.metadata) if committed else None
        if metadata is not None and metadata.partitions != self._partitions:
            return self._park(
                ParkReason.PARTITION_COUNT_CHANGED, f"{metadata.partitions} before, {self._partitions} now"
            )
        reason = self._why_not_new() if committed is None else None
        if reason is not None and not (
            reason[0] == ParkReason.OFFSET_FROM_OUTSIDE and self._settings.adopt_foreign_offsets
        ):
            return self._park(*reason)
        verdict = judge(
            offset_known=committed is not None,
            committed=metadata.id if metadata else None,
            manifest=self._found.manifest,
        )
        if reason is not None or verdict is ClaimVerdict.FOREIGN:
            return self._adopt(committed)
        if verdict is ClaimVerdict.BEHIND and self._tries(metadata).exhausted:
            return self._park(ParkReason.REBUILD_FAILS, "its sessions' rebuild never commits; see docs/operations.md")
        if verdict is ClaimVerdict.BEHIND or metadata is None:
            self._begin(lambda found: self._settle_lost(verdict, committed, metadata, found), names_only=True)
        else:
            in_doubt = self._found.manifest if verdict is ClaimVerdict.IN_DOUBT else None
            self._begin(lambda found: self._settle(verdict, committed, metadata, found), in_doubt=in_doubt)
        return None

    def _adopt(self, committed: CommittedOffset | None) -> Parked | None:
        """Begin at an offset that somebody set, where the setting allows it."""
        if not self._settings.adopt_foreign_offsets:
            detail = "the committed offset is not one of ours; see docs/operations.md"
            return self._park(ParkReason.OFFSET_FROM_OUTSIDE, detail)
        self._begin(lambda found: self._settle_foreign(committed, found), names_only=True)
        return None

    def _begin(
        self,
        settle: Callable[[FoundSessions], ClaimedState],
        *,
        in_doubt: Manifest | None = None,
        names_only: bool = False,
    ) -> None:
        fields = self._store.load(self._partition)
        self._reading = FoundSessions(fields, in_doubt=in_doubt, names_only=names_only), settle

    def _fence(self) -> CommittedOffset | None:
        """Raise the token until it is above the committed one, and return the committed offset."""
        if self._token is None:
            self._raise_token(above=0)
        while True:
            committed = self._stable_offset.read()
            metadata = OffsetMetadata.decode(committed.metadata) if committed else None
            self._observer.note(SeamReached(step=SeamStep.CLAIM_OFFSET_READ))
            if metadata is None or self._is_above(metadata.id):
                return committed
            self._raise_token(above=metadata.id.token)
            if not self._is_above(metadata.id):
                raise ForeignStateError(f"no token is above {metadata.id.token}, which the committed offset names")

    def _why_not_new(self) -> tuple[ParkReason, str] | None:
        """Say why a partition without a committed offset cannot begin; None where nothing knows it."""
        if self._found.damaged:
            return (
                ParkReason.STATE_UNREADABLE,
                "no offset is committed, and the manifest in Redis is none that we can read",
            )
        return why_not_new(self._partition, self._parts, self._settings, partitions=self._partitions)

    def _is_above(self, committed: CheckpointId) -> bool:
        """Tell whether our token is higher; it is not where Redis was lost, and with it the count of its tokens."""
        return committed.token < self._held_token

    @property
    def _held_token(self) -> int:
        assert self._token is not None
        return self._token

    def _raise_token(self, *, above: int) -> None:
        claimed = self._store.claim(self._partition, above)
        self._token = claimed.token
        self._found = FoundManifest.of(claimed)
        self._observer.note(SeamReached(step=SeamStep.CLAIM_TOKEN_RAISED))

    def _settle(
        self,
        verdict: ClaimVerdict,
        committed: CommittedOffset | None,
        metadata: OffsetMetadata,
        found: FoundSessions,
    ) -> ClaimedState:
        state = self._state(verdict, committed, metadata)
        if not found.readable:
            return replace(state, stale=tuple(found.names)).without_store()
        if verdict is ClaimVerdict.IN_DOUBT:
            self._roll_back(found, metadata.id)
        state = replace(
            state, id=self._found.stored_id, slots=found.slots, digest=found.digest, stale=tuple(found.stale)
        )
        if not holds_all(len(found.slots), found.digest, self._found.manifest):
            return state.without_store()
        self._observer.note(SeamReached(step=SeamStep.CLAIM_LOADED))
        return state

    def _settle_lost(
        self,
        verdict: ClaimVerdict,
        committed: CommittedOffset | None,
        metadata: OffsetMetadata | None,
        found: FoundSessions,
    ) -> ClaimedState:
        """Believe nothing that stands stored: rebuild, or start with no sessions where nothing was ever committed."""
        state = replace(self._state(verdict, committed, metadata), stale=tuple(found.names))
        if verdict is ClaimVerdict.BEHIND:
            return state
        if verdict is not ClaimVerdict.FIRST_START:  # what an uncommitted first checkpoint left there is dropped
            self._write_manifest(self._nothing, None, {}, list(state.stale), sessions=0, digest=0)
            self._observer.note(SeamReached(step=SeamStep.CLAIM_ROLLED_BACK))
            state = replace(state, id=self._found.stored_id, stale=())
        self._observer.note(SeamReached(step=SeamStep.CLAIM_LOADED))
        return state

    def _settle_foreign(self, committed: CommittedOffset | None, found: FoundSessions) -> ClaimedState:
        self._write_manifest(self._nothing, None, {}, found.names, sessions=0, digest=0)
        return ClaimedState(
            partition=self._partition,
            partitions=self._partitions,
            verdict=ClaimVerdict.FOREIGN,
            token=self._held_token,
            nonce=self._nonce,
            id=self._found.stored_id,
            next_offset=committed.next_offset if committed else self._first_offset(),
            slots={},
        )

    def _state(
        self, verdict: ClaimVerdict, committed: CommittedOffset | None, metadata: OffsetMetadata | None
    ) -> ClaimedState:
        next_offset = committed.next_offset if committed else self._first_offset()
        return ClaimedState(
            partition=self._partition,
            partitions=self._partitions,
            verdict=verdict,
            token=self._held_token,
            nonce=self._nonce,
            id=self._found.stored_id,
            next_offset=next_offset,
            slots={},
            replay_offset=metadata.replay_offset if metadata else next_offset,
            retry_history=self._retry_history(metadata, next_offset),
            tries=self._tries(metadata),
        )

    def _roll_back(self, found: FoundSessions, committed: CheckpointId) -> None:
        """Drop the slots that the uncommitted checkpoint wrote; the manifest becomes the committed one again."""
        manifest = self._found.manifest
        assert manifest is not None
        self._write_manifest(
            committed,
            committed,
            found.put,
            found.drop,
            sessions=manifest.sessions_before,
            digest=manifest.digest_before,
        )
        self._observer.note(SeamReached(step=SeamStep.CLAIM_ROLLED_BACK))

    @property
    def _nothing(self) -> CheckpointId:
        """The id that stands for a roll-back to nothing."""
        return CheckpointId(self._held_token, 0, self._nonce)

    def _write_manifest(
        self,
        to: CheckpointId,
        follows: CheckpointId | None,
        put: dict[str, bytes],
        drop: list[str],
        *,
        sessions: int,
        digest: int | None,
    ) -> None:
        manifest = settled_manifest(to, follows, sessions=sessions, digest=digest)
        write = StoreWrite(
            token=self._held_token,
            follows=self._found.stored_id,
            id=to,
            manifest=msgspec.msgpack.encode(manifest),
            put=put,
            drop=drop,
        )
        if not self._store.write(self._partition, write):
            self._token = None  # a newer claim was made, perhaps our own late one: start over
            raise StoreError("the claim was overtaken by a newer one")
        self._found = FoundManifest(manifest=manifest, stored_id=to)

    def _retry_history(self, metadata: OffsetMetadata | None, next_offset: int) -> RetryHistory:
        """Return what the last commit noted of failed tries; after claims without a commit, until where to isolate."""
        announced = is_announcement(metadata)  # what it notes are tries of the rebuild, not of a step after it
        history = RetryHistory() if announced else RetryHistory.noted(metadata, next_offset)
        if self._uncounted:
            history = history.without_the_last()
        if not announced and claims_without_commit(self._held_token, metadata) < MAX_CLAIMS_WITHOUT_COMMIT:
            return history
        _, end = self._source.watermarks(self._partition, self._timeout_s)
        until_offset = max(history.until_offset, min(end, next_offset + self._settings.max_poll_records))
        return replace(history, until_offset=until_offset, of_timers=True)

    def _tries(self, metadata: OffsetMetadata | None) -> RebuildTries:
        tries = RebuildTries.noted(metadata, claims_without_commit(self._held_token, metadata))
        if self._uncounted:
            tries = replace(tries, announced=max(0, tries.announced - 1))
        return replace(tries, announced=0) if self._forgiven else tries

    def _first_offset(self) -> int:
        low, end = self._source.watermarks(self._partition, self._timeout_s)
        return end if self._settings.start_at is StartAt.LATEST else low

    def _park(self, reason: ParkReason, detail: str) -> Parked:
        return Parked(partition=self._partition, reason=reason, detail=detail)
