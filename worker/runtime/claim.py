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
from dataclasses import dataclass, field, replace

import msgspec

from schemas.checkpoint import CheckpointId, OffsetMetadata, SessionField, Slot
from worker.errors import BrokerError, ForeignStateError, StoreError
from worker.ports.observer import SeamReached, SeamStep, TookOver
from worker.ports.reasons import ParkReason
from worker.ports.records import CommittedOffset
from worker.ports.session_store import StoreWrite
from worker.runtime.first_start import why_not_new
from worker.runtime.found_state import (
    FoundManifest,
    holds_all,
    newest_slots,
    read_slots,
    settled_manifest,
    without_checkpoint,
)
from worker.runtime.parking import Parked
from worker.runtime.parts import RuntimeParts
from worker.runtime.poison_isolation import MAX_CLAIMS_WITHOUT_COMMIT, RetryHistory, claims_without_commit
from worker.runtime.rebuild_isolation import RebuildTries, is_announcement
from worker.runtime.settings import RuntimeSettings, StartAt
from worker.runtime.verdict import ClaimVerdict, judge

__all__ = ["Claim", "ClaimedState"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedState:
    """What a claim hands over: a partition's sessions as of its committed offset.

    partitions: the input's partition count. id: what stands stored as the manifest's id now, None where nothing does.
    slots: session -> committed snapshot. replay_offset: where in the input a rebuild begins. retry_history: of the
    next step. tries: how a rebuild is to be tried. stale: sessions whose stored fields are worth nothing.
    """

    partition: int
    partitions: int
    verdict: ClaimVerdict
    token: int
    nonce: str
    id: CheckpointId | bytes | None
    next_offset: int
    slots: dict[str, Slot]
    replay_offset: int = 0
    retry_history: RetryHistory = field(default_factory=RetryHistory)
    tries: RebuildTries = field(default_factory=RebuildTries)
    stale: tuple[str, ...] = ()

    def without_store(self) -> ClaimedState:
        """Return the claim of the same partition where nothing stored is to be believed: it must be rebuilt."""
        stale = (*self.slots, *self.stale)
        return replace(self, verdict=ClaimVerdict.BEHIND, slots={}, stale=stale)


class Claim:
    """One partition's way from assigned to loaded. ``advance`` until it answers something other than None."""

    def __init__(self, partition: int, parts: RuntimeParts, settings: RuntimeSettings, *, partitions: int) -> None:
        self._partition = partition
        self._partitions = partitions
        self._store = parts.store
        self._source = parts.source
        self._parts = parts
        self._clock = parts.clock
        self._observer = parts.observer
        self._settings = settings
        self._timeout_s = settings.claim_timeout_s
        self._waiting_since_s: float | None = None
        self._nonce = secrets.token_hex(8)
        self._token: int | None = None
        self._found = FoundManifest(manifest=None, stored_id=None)
        self._forgiven = False
        self._uncounted = False

    def uncount(self) -> None:
        """Count the last try of a step, or of a rebuild, against nobody: what stopped it lay elsewhere."""
        self._uncounted = True

    def forgive(self) -> None:
        """Try a rebuild as if it had never failed: an operator has released the partition."""
        self._forgiven = True

    def advance(self) -> ClaimedState | Parked:
        """Try once, in short calls. RetriableError: not yet, try again later; what was reached is kept."""
        try:
            return self._advance()
        except ForeignStateError as error:
            return self._park(ParkReason.STATE_UNREADABLE, str(error))

    def _advance(self) -> ClaimedState | Parked:
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
            return self._settle_foreign(committed)
        if verdict is ClaimVerdict.BEHIND and self._tries(metadata).exhausted:
            return self._park(ParkReason.REBUILD_FAILS, "its sessions' rebuild never commits; see docs/operations.md")
        return self._settle(verdict, committed, metadata)

    def _fence(self) -> CommittedOffset | None:
        """Raise the token until it is above the committed one, and return the committed offset."""
        if self._token is None:
            self._raise_token(above=0)
        while True:
            committed = self._read_committed()
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

    def _read_committed(self) -> CommittedOffset | None:
        """Read the stable offset; who has waited long for another's open transaction ends it, and reads on."""
        try:
            committed = self._source.committed([self._partition], self._timeout_s)[self._partition]
        except BrokerError:
            now_s = self._clock.monotonic_s()
            if self._waiting_since_s is None:
                self._waiting_since_s = now_s
            elif now_s - self._waiting_since_s >= self._settings.takeover_after_ms / 1000.0:
                self._waiting_since_s = now_s
                self._take_over()
            raise
        self._waiting_since_s = None
        return committed

    def _take_over(self) -> None:
        metadata = OffsetMetadata.decode(self._parts.peers.committed_metadata(self._timeout_s).get(self._partition))
        if metadata is None or metadata.transactional_id == self._settings.transactional_id:
            return
        self._parts.peers.end(metadata.transactional_id, self._settings.commit_timeout_s)
        self._observer.note(TookOver(partition=self._partition, transactional_id=metadata.transactional_id))

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
        self, verdict: ClaimVerdict, committed: CommittedOffset | None, metadata: OffsetMetadata | None
    ) -> ClaimedState:
        fields = dict(self._store.load(self._partition))
        next_offset = committed.next_offset if committed else self._first_offset()
        state = ClaimedState(
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
            stale=tuple(fields),
        )
        if verdict is ClaimVerdict.BEHIND:
            return state
        if metadata is None:  # nothing was ever committed: whatever stands there counts for nothing
            return self._settle_empty(state)
        try:
            slots = read_slots(fields)
        except ValueError:
            return state.without_store()
        if verdict is ClaimVerdict.IN_DOUBT:
            slots = self._roll_back(slots, metadata.id)
        current = newest_slots(slots)
        if not holds_all(current, self._found.manifest):
            return replace(state, id=self._found.stored_id).without_store()
        self._observer.note(SeamReached(step=SeamStep.CLAIM_LOADED))
        return replace(state, id=self._found.stored_id, slots=current, stale=())

    def _settle_empty(self, state: ClaimedState) -> ClaimedState:
        """Start with no sessions; what an uncommitted first checkpoint left there is dropped."""
        if state.verdict is not ClaimVerdict.FIRST_START:
            self._write_manifest(self._nothing, None, {}, list(state.stale), sessions=0, digest=0)
            self._observer.note(SeamReached(step=SeamStep.CLAIM_ROLLED_BACK))
            state = replace(state, id=self._found.stored_id, stale=())
        self._observer.note(SeamReached(step=SeamStep.CLAIM_LOADED))
        return state

    def _settle_foreign(self, committed: CommittedOffset | None) -> ClaimedState | Parked:
        if not self._settings.adopt_foreign_offsets:
            return self._park(
                ParkReason.OFFSET_FROM_OUTSIDE, "the committed offset is not one of ours; see docs/operations.md"
            )
        sessions = [session for session, _ in self._store.load(self._partition)]
        self._write_manifest(self._nothing, None, {}, sessions, sessions=0, digest=0)
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

    def _roll_back(self, slots: dict[str, tuple[Slot, ...]], committed: CheckpointId) -> dict[str, tuple[Slot, ...]]:
        """Drop the slots that the uncommitted checkpoint wrote; the manifest becomes the committed one again."""
        manifest = self._found.manifest
        assert manifest is not None
        before = without_checkpoint(slots, manifest)
        put = {session: msgspec.msgpack.encode(SessionField(kept)) for session, kept in before.items() if kept}
        drop = [session for session, kept in before.items() if not kept]
        self._write_manifest(
            committed, committed, put, drop, sessions=manifest.sessions_before, digest=manifest.digest_before
        )
        self._observer.note(SeamReached(step=SeamStep.CLAIM_ROLLED_BACK))
        return {session: kept for session, kept in {**slots, **before}.items() if kept}

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
