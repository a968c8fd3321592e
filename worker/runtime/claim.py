"""The claim of a partition: fence the former owner, learn which snapshots count, load every session.

1. raise the token to one more than the stored one: the former owner can write no more;
2. read the committed offset with stable offsets required (it waits while a transaction on it is open), and leave the
   token with the group; where the committed id's token, or the one that the last claim left, is not below ours, the
   store was lost meanwhile or went back: raise again, above both;
3. judge (``verdict``): roll back what is in doubt;
4. load **all** sessions, because timers of sessions without new words must fire too.

A claim is tried in short calls, so that partitions that are loaded go on. The same claim follows every abort, every
refused save and every commit whose outcome nobody knows: there is no other way to learn it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from schemas.checkpoint import Manifest, OffsetMetadata
from worker.errors import ForeignStateError
from worker.ports.reasons import ClaimVerdict, ParkReason
from worker.ports.records import CommittedOffset
from worker.ports.seam_events import SeamReached, SeamStep
from worker.runtime.claim_fence import ClaimFence
from worker.runtime.claim_tries import ClaimTries
from worker.runtime.claimed_state import ClaimedState
from worker.runtime.first_start import why_not_new
from worker.runtime.found_sessions import FoundSessions
from worker.runtime.found_state import holds_all
from worker.runtime.parking import Parked, count_changed
from worker.runtime.parts import RuntimeParts
from worker.runtime.poison_isolation import RetryHistory
from worker.runtime.settings import RuntimeSettings, StartAt
from worker.runtime.verdict import judge

__all__ = ["Claim"]


class Claim:
    """One partition's way from assigned to loaded. ``advance`` until it answers something other than None.

    tries: how often the partition was tried before; the loop says there what is not to count. first_ends: where each
    partition without a committed offset ended as it was claimed first; what came later is read, however often the first
    checkpoint fails (``StartAt.LATEST``).
    """

    def __init__(
        self,
        partition: int,
        parts: RuntimeParts,
        settings: RuntimeSettings,
        *,
        partitions: int,
        first_ends: dict[int, int] | None = None,
    ) -> None:
        self.tries = ClaimTries(partition, parts.source, settings)
        self._partition = partition
        self._partitions = partitions
        self._first_ends = {} if first_ends is None else first_ends
        self._store = parts.store
        self._source = parts.source
        self._parts = parts
        self._fence = ClaimFence(partition, parts, settings)
        self._observer = parts.observer
        self._settings = settings
        self._timeout_s = settings.claim_timeout_s
        self._reading: tuple[FoundSessions, Callable[[FoundSessions], ClaimedState]] | None = None

    @property
    def reads(self) -> bool:
        """Tell whether it is in the midst of the stored sessions, and can go on at once."""
        return self._reading is not None

    def start_over(self) -> None:
        """Begin with another token: what was written under this one may have been refused, or land later."""
        self._fence.start_over()

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
            return self._park(*count_changed(self._partitions, partitions))
        committed = self._fence.raise_above_committed()
        metadata = self._ours(committed)
        if metadata is not None and metadata.partitions != self._partitions:
            return self._park(*count_changed(metadata.partitions, self._partitions))
        reason = self._why_not_new() if committed is None else None
        if reason is not None and not (
            reason[0] == ParkReason.OFFSET_FROM_OUTSIDE and self._settings.adopt_foreign_offsets
        ):
            return self._park(*reason)
        verdict = judge(
            offset_known=committed is not None,
            committed=metadata.id if metadata else None,
            manifest=self._fence.found.manifest,
        )
        if reason is not None or verdict is ClaimVerdict.FOREIGN:
            return self._adopt(committed)
        if verdict is ClaimVerdict.BEHIND and self.tries.of_a_rebuild(metadata, self._fence.token).exhausted:
            return self._park(ParkReason.REBUILD_FAILS, "its sessions' rebuild never commits; see docs/operations.md")
        if verdict is ClaimVerdict.BEHIND or metadata is None:
            self._begin(lambda found: self._settle_lost(verdict, committed, metadata, found), names_only=True)
        else:
            in_doubt = self._fence.found.manifest if verdict is ClaimVerdict.IN_DOUBT else None
            self._begin(lambda found: self._settle(verdict, committed, metadata, found), in_doubt=in_doubt)
        return None

    def _ours(self, committed: CommittedOffset | None) -> OffsetMetadata | None:
        """Return the metadata that a checkpoint of ours committed with this very offset; None: somebody set it."""
        metadata = OffsetMetadata.decode(committed.metadata) if committed else None
        if committed is None or metadata is None:
            return None
        place = self._source.topic, self._partition, committed.next_offset
        return metadata if metadata.belongs_to(*place) else None

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

    def _why_not_new(self) -> tuple[ParkReason, str] | None:
        """Say why a partition without a committed offset cannot begin; None where nothing knows it."""
        if self._fence.found.damaged:
            return (
                ParkReason.STATE_UNREADABLE,
                "no offset is committed, and the manifest in Redis is none that we can read",
            )
        return why_not_new(self._partition, self._parts, self._settings, partitions=self._partitions)

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
            self._fence.roll_back(found, metadata.id)
        state = replace(
            state, id=self._fence.found.stored_id, slots=found.slots, digest=found.digest, stale=tuple(found.stale)
        )
        if not holds_all(len(found.slots), found.digest, self._fence.found.manifest):
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
            return state.without_store()
        if verdict is not ClaimVerdict.FIRST_START:  # what an uncommitted first checkpoint left there is dropped
            self._fence.roll_back_to_nothing(found.names)
            self._observer.note(SeamReached(step=SeamStep.CLAIM_ROLLED_BACK))
            state = replace(state, id=self._fence.found.stored_id, stale=())
        self._observer.note(SeamReached(step=SeamStep.CLAIM_LOADED))
        return state

    def _settle_foreign(self, committed: CommittedOffset | None, found: FoundSessions) -> ClaimedState:
        self._fence.roll_back_to_nothing(found.names)
        return ClaimedState(
            partition=self._partition,
            partitions=self._partitions,
            verdict=ClaimVerdict.FOREIGN,
            token=self._fence.token,
            nonce=self._fence.nonce,
            id=self._fence.found.stored_id,
            next_offset=committed.next_offset if committed else self._first_offset(),
            slots={},
        )

    def _state(
        self, verdict: ClaimVerdict, committed: CommittedOffset | None, metadata: OffsetMetadata | None
    ) -> ClaimedState:
        next_offset = committed.next_offset if committed else self._first_offset()

        def history(*, lost: bool) -> RetryHistory:
            return self.tries.of_a_step(metadata, self._fence.token, next_offset, lost=lost)

        return ClaimedState(
            partition=self._partition,
            partitions=self._partitions,
            verdict=verdict,
            token=self._fence.token,
            nonce=self._fence.nonce,
            id=self._fence.found.stored_id,
            next_offset=next_offset,
            slots={},
            replay_offset=metadata.replay_offset if metadata else next_offset,
            retry_history=history(lost=False),
            lost_history=lambda: history(lost=True),
            tries=self.tries.of_a_rebuild(metadata, self._fence.token),
            ledger=metadata.ledger if metadata else None,
            leader_epoch=committed.leader_epoch if committed else None,
        )

    def _first_offset(self) -> int:
        low, end = self._source.watermarks(self._partition, self._timeout_s)
        if self._settings.start_at is StartAt.EARLIEST:
            return low
        return self._first_ends.setdefault(self._partition, end)

    def _park(self, reason: ParkReason, detail: str) -> Parked:
        return Parked(partition=self._partition, reason=reason, detail=detail)
