"""The claim of a partition: find out which checkpoint was committed last, and load it if Redis has it.

1. Commit the claim's token to the group, and read the committed offset. Kafka answers when no transaction on the
   offset is open.
2. Read Redis. If it does not answer in time, it counts as empty.
3. Judge (``verdict``). Either Redis has the committed checkpoint; or it has an earlier one, and the log supplies the
   rest; or the partition is rebuilt from the log.
4. Load **all** sessions, because timers of sessions without new words must fire too. If they do not match the
   manifest, rebuild the partition.

A claim is a series of short calls, so that loaded partitions go on. After each abort, and each commit with an unknown
outcome, the partition is claimed again, because only a claim can find out the outcome.
"""

from __future__ import annotations

from dataclasses import replace

from caesura.schemas.checkpoint import CheckpointId, Manifest, OffsetMetadata
from caesura.schemas.ledger_sum import LedgerSum
from caesura.worker.errors import ForeignStateError, StoreError
from caesura.worker.ports.commit_steps import CommitStep, CommitStepReached
from caesura.worker.ports.observer import CallFailed
from caesura.worker.ports.reasons import ClaimVerdict, ParkReason
from caesura.worker.ports.records import CommittedOffset
from caesura.worker.ports.session_store import StoredHead
from caesura.worker.runtime.checkpoint.redis_sessions import RedisManifest, RedisSessions
from caesura.worker.runtime.claim.claim_token import ClaimToken
from caesura.worker.runtime.claim.skips import read_skips
from caesura.worker.runtime.claim.verdict import judge
from caesura.worker.runtime.ledger.output_records import is_probe, ledger_probe
from caesura.worker.runtime.partition.claim_result import ClaimResult
from caesura.worker.runtime.retries.parking import Parked, count_changed
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings, StartAt

_STORE_PATIENCE_S = 2.0
"""How long a claim waits for a Redis that does not answer: a fail-over is often over by then."""


class Claim:
    """Takes one partition from assigned to loaded. Call ``advance`` until it returns something."""

    def __init__(
        self,
        partition: int,
        parts: RuntimeAdapters,
        settings: RuntimeSettings,
        *,
        partitions: int,
    ) -> None:
        self._partition = partition
        self._partitions = partitions
        self._store = parts.store
        self._source = parts.source
        self._parts = parts
        self._token = ClaimToken(partition, parts, settings)
        self._observer = parts.observer
        self._settings = settings
        self._timeout_s = settings.claim_timeout_s
        self._silent_since_s: float | None = None
        self._reading: tuple[RedisSessions, ClaimResult] | None = None

    @property
    def reads(self) -> bool:
        """Tell whether it is reading stored sessions, and can go on at once."""
        return self._reading is not None

    def advance(self) -> ClaimResult | Parked | None:
        """Try once, in short calls; None: there is more to read. RetriableError: try again later.

        Progress before a fault is kept, except the stored sessions: they are read again from the first.
        """
        if self._reading is None:
            try:
                return self._judge()
            except ForeignStateError as error:
                return self._park(ParkReason.STATE_UNREADABLE, str(error))
        (sessions, state), self._reading = self._reading, None
        return self._read_on(sessions, state)

    def _read_on(self, sessions: RedisSessions, state: ClaimResult) -> ClaimResult | None:
        try:
            if not sessions.read():
                self._reading = sessions, state
                return None
            unchanged = RedisManifest.of(self._head()).manifest == sessions.manifest
        except StoreError as error:
            self._silent(error)
            return state.without_store()
        if not unchanged:
            return None  # a late write landed meanwhile: read again
        if not sessions.complete:
            return state.without_store()
        self._observer.note(CommitStepReached(step=CommitStep.CLAIM_LOADED))
        return replace(state, snapshots=sessions.snapshots)

    def _head(self) -> StoredHead:
        try:
            return self._store.head(self._partition)
        except ForeignStateError:  # something else than a hash: a full write takes its place
            return StoredHead(manifest=b"", id=None)

    def _silent(self, error: StoreError) -> None:
        """Wait for a Redis that does not answer: StoreError until the wait is over."""
        now_s = self._parts.clock.monotonic_s()
        if self._silent_since_s is None:
            self._silent_since_s = now_s
        if now_s - self._silent_since_s < _STORE_PATIENCE_S:
            raise error
        self._observer.note(CallFailed.of("load", error))

    def _found(self) -> RedisManifest:
        try:
            head = self._head()
        except StoreError as error:
            self._silent(error)
            return RedisManifest(manifest=None, anything=False)
        return RedisManifest.of(head)

    def _judge(self) -> ClaimResult | Parked | None:
        """Read the committed offset and the stored state; begin to load, or return the alternative."""
        partitions = self._source.partition_count(self._timeout_s)
        if partitions != self._partitions:
            return self._park(*count_changed(self._partitions, partitions))
        committed = self._token.read_committed()
        if committed is None and self._settings.start_at is StartAt.LATEST and self._token.first_end is None:
            committed = self._token.read_committed(self._bounds()[1])
        metadata = self._ours(committed)
        if metadata is not None and metadata.partitions != self._partitions:
            return self._park(*count_changed(metadata.partitions, self._partitions))
        reason = self._why_not_new() if committed is None else None
        if reason is not None and not (
            reason[0] == ParkReason.OFFSET_FROM_OUTSIDE and self._settings.adopt_foreign_offsets
        ):
            return self._park(*reason)
        return self._go_on(committed, metadata, known=reason is not None)

    def _go_on(
        self, committed: CommittedOffset | None, metadata: OffsetMetadata | None, *, known: bool
    ) -> ClaimResult | Parked | None:
        """Compare the committed with the stored state. known: Redis or the ledger knows it without an offset."""
        found = self._found()
        verdict = judge(offset_known=committed is not None, committed=metadata.id if metadata else None, found=found)
        if known or verdict is ClaimVerdict.FOREIGN:
            return self._adopt(committed)
        state = self._state(verdict, committed, metadata)
        behind = verdict is ClaimVerdict.BEHIND
        if behind and (found.manifest is None or metadata is None or not _is_before(found.manifest, metadata)):
            return state
        if found.manifest is not None:
            state = replace(state, stored=found.manifest, ledger_end=found.manifest.ledger_end)
            self._reading = RedisSessions(self._store.load(self._partition), found.manifest), state
            return None
        self._observer.note(CommitStepReached(step=CommitStep.CLAIM_LOADED))
        return state

    def _ours(self, committed: CommittedOffset | None) -> OffsetMetadata | None:
        """Return the metadata if one of our checkpoints committed it with this offset; None: somebody else set it."""
        metadata = OffsetMetadata.decode(committed.metadata) if committed else None
        if committed is None or metadata is None:
            return None
        place = self._source.topic, self._partition, committed.next_offset
        return metadata if metadata.belongs_to(*place) else None

    def _adopt(self, committed: CommittedOffset | None) -> ClaimResult | Parked:
        """Begin at an offset that was set from outside, if the setting allows it."""
        if not self._settings.adopt_foreign_offsets:
            detail = "the committed offset is not one of ours; see docs/operations.md"
            return self._park(ParkReason.OFFSET_FROM_OUTSIDE, detail)
        return ClaimResult(
            partition=self._partition,
            partitions=self._partitions,
            verdict=ClaimVerdict.FOREIGN,
            token=self._token.token,
            nonce=self._token.nonce,
            history=self._token.nonce,
            next_offset=committed.next_offset if committed else self._first_offset(None),
            skips=self._skips(),
        )

    def _why_not_new(self) -> tuple[ParkReason, str] | None:
        """Return why a partition without a committed offset must be parked; None if it may start. BrokerError.

        If the ledger knows published sessions, the offset was deleted, or its retention has passed. If another
        partition was committed under another partition count, sessions have moved.
        """
        ledger, reader = self._settings.ledger, self._parts.reader
        low, end = reader.bounds_behind(ledger_probe(ledger, self._partition), self._timeout_s)
        records = reader.read(ledger, self._partition, low, end, self._settings.rebuild_stall_s)
        if any(not is_probe(record) for record in records):
            detail = "no offset is committed, but the ledger knows sessions of this partition"
            return ParkReason.OFFSET_FROM_OUTSIDE, detail
        for offset in self._parts.peers.committed_offsets(self._timeout_s).values():
            metadata = OffsetMetadata.decode(offset.metadata)
            if metadata is not None and metadata.partitions != self._partitions:
                return count_changed(metadata.partitions, self._partitions)
        return None

    def _state(
        self, verdict: ClaimVerdict, committed: CommittedOffset | None, metadata: OffsetMetadata | None
    ) -> ClaimResult:
        next_offset = committed.next_offset if committed else self._first_offset(self._token.first_end)
        return ClaimResult(
            partition=self._partition,
            partitions=self._partitions,
            verdict=verdict,
            token=self._token.token,
            nonce=self._token.nonce,
            history=metadata.history if metadata else self._token.nonce,
            next_offset=next_offset,
            replay_offset=metadata.replay_offset if metadata else next_offset,
            ledger=metadata.ledger if metadata else LedgerSum(),
            leader_epoch=committed.leader_epoch if committed else None,
            skips=self._skips(),
        )

    def _skips(self) -> dict[int, str]:
        settings = self._settings
        return read_skips(
            self._parts.reader,
            settings.claims,
            self._partition,
            timeout_s=settings.claim_timeout_s,
            stall_s=settings.rebuild_stall_s,
        )

    def _bounds(self) -> tuple[int, int]:
        return self._source.watermarks(self._partition, self._timeout_s)

    def _first_offset(self, first_end: int | None) -> int:
        """Return where to begin. first_end: the input's end at the first claim; later records are read."""
        low, end = self._bounds()
        if self._settings.start_at is StartAt.EARLIEST:
            return low
        return end if first_end is None else min(max(first_end, low), end)

    def _park(self, reason: ParkReason, detail: str) -> Parked:
        return Parked(partition=self._partition, reason=reason, detail=detail)


def _is_before(stored: Manifest, committed: OffsetMetadata) -> bool:
    """Tell whether the stored state was committed earlier in the same history, and the log reaches back to it."""
    last = CheckpointId.parse(stored.id)
    return (
        stored.history == committed.history
        and (last.token, last.n) < (committed.id.token, committed.id.n)
        and stored.ledger_end >= 0
    )
