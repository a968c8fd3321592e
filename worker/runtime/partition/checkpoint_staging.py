"""Stages a partition's checkpoint (step 1): changes become bytes, messages and an offset. Adopts it once committed."""

from __future__ import annotations

from collections.abc import Mapping

from caesura.schemas.checkpoint import CheckpointId, OffsetMetadata
from caesura.schemas.ledger_sum import LedgerSum
from caesura.worker.core.decoding.segment_writer import OutSegment
from caesura.worker.ports.reasons import ClaimVerdict
from caesura.worker.ports.records import NextOffset, OutMessage
from caesura.worker.ports.tracer import SegmentSpan
from caesura.worker.runtime.checkpoint.saves import SavedCheckpoint
from caesura.worker.runtime.checkpoint.staged_checkpoint import StagedCheckpoint
from caesura.worker.runtime.ledger.output_records import OutputRecords
from caesura.worker.runtime.partition.claim_result import ClaimResult
from caesura.worker.runtime.partition.dead_letters import Refusals
from caesura.worker.runtime.partition.partition_state import PartitionState
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings


class Staging:
    """Stages one partition's checkpoints, and adopts those that have committed."""

    def __init__(
        self,
        claimed: ClaimResult,
        state: PartitionState,
        parts: RuntimeAdapters,
        settings: RuntimeSettings,
        refusals: Refusals,
    ) -> None:
        self._state = state
        self._parts = parts
        self._settings = settings
        self._refusals = refusals
        self._output = OutputRecords(settings=settings)
        self._forgotten: list[OutMessage] = []
        self._token, self._nonce, self._n = claimed.token, claimed.nonce, 0
        self._history, self._ledger_end = claimed.history, claimed.ledger_end
        # A first start commits our id at once, so that a restart goes on from here and nowhere else; a rebuild commits
        # what it found to be forgotten, and is saved then. A load owes nothing.
        self._owes_checkpoint = claimed.verdict is not ClaimVerdict.GOOD

    @property
    def changed(self) -> bool:
        """Tell whether a checkpoint would write anything."""
        state = self._state
        return self._owes_checkpoint or state.position.has_moved or bool(state.sessions.touched)

    @property
    def is_awaited(self) -> bool:
        """Tell whether a reader, or a claim's first checkpoint, waits: more than offsets have changed."""
        return self._owes_checkpoint or self._state.sessions.has_segments or self._refusals.letters > 0

    def stage(self) -> StagedCheckpoint | None:
        """Collect the changes since the last checkpoint; None without changes. No session may have open work."""
        if not self.changed:
            return None
        state = self._state
        self._n += 1  # no two attempts share an id
        checkpoint = CheckpointId(self._token, self._n, self._nonce)
        out = state.sessions.take_segments()
        spans = [self._parts.tracer.begin(one) for one in out]
        spoken = {one.segment.session for one in out}
        recorded = sorted(spoken.union(state.sessions.forgotten, state.sessions.unrecorded))
        snapshots = state.sessions.snapshots(state.sessions.touched)
        shares = state.totals.shares(snapshots, frozenset(recorded))
        ledger = state.totals.ledger_with(shares)
        before = [*self._forgotten, *self._refusals.messages()]
        metadata = self._metadata(checkpoint, ledger)
        return StagedCheckpoint(
            partition=state.partition,
            id=checkpoint,
            messages=[*before, *self._messages(out, spans, recorded)],
            next=NextOffset(
                next_offset=state.position.next_offset,
                metadata=metadata.encode(),
                leader_epoch=state.position.leader_epoch,
            ),
            snapshots=snapshots,
            shares=shares,
            segments=[one.segment for one in out],
            spans=spans,
            dead_letters=self._refusals.letters,
        )

    def adopt(self, staged: StagedCheckpoint) -> None:
        """Make a staged checkpoint the committed one."""
        state = self._state
        state.position.committed(staged.next.next_offset)
        self._owes_checkpoint = False
        self._forgotten.clear()
        self._refusals.committed()
        state.totals.change(staged.shares)
        self._note_ledger(staged)
        saved = SavedCheckpoint(staged.id, self._history, staged.next.next_offset, self._ledger_end)
        state.saves.committed(saved, staged.snapshots)
        for span in staged.spans:
            span.end(self._parts.clock.wall_ms())
        living = {name: data for name, data in staged.snapshots.items() if data is not None}
        resting = state.sessions.settle(living)
        for name in (*resting, *(name for name in staged.snapshots if name not in living)):
            self._parts.engine.forget(name)

    def _note_ledger(self, staged: StagedCheckpoint) -> None:
        """Keep the ledger's end of this checkpoint; negative if it is not known."""
        ledger = self._settings.ledger
        if any(message.topic == ledger for message in staged.messages):
            end = self._parts.publisher.end_of(ledger, staged.partition)
            self._ledger_end = -1 if end is None else end

    def forget_all(self, through: Mapping[str, int]) -> None:
        """Make the next checkpoint write tombstones under these keys, each through its input offset."""
        partition = self._state.partition
        self._forgotten += [self._output.ledger(partition, key, None, through=end) for key, end in through.items()]

    def _metadata(self, checkpoint: CheckpointId, ledger: LedgerSum) -> OffsetMetadata:
        state = self._state
        replay_offset = state.sessions.replay_offset
        return OffsetMetadata(
            id=checkpoint,
            topic=self._parts.source.topic,
            partition=state.partition,
            next_offset=state.position.next_offset,
            replay_offset=state.position.next_offset if replay_offset is None else replay_offset,
            partitions=state.partitions,
            transactional_id=self._settings.transactional_id,
            ledger=ledger,
            history=self._history,
        )

    def _messages(self, out: list[OutSegment], spans: list[SegmentSpan], recorded: list[str]) -> list[OutMessage]:
        state = self._state
        messages: list[OutMessage] = []
        for one, span in zip(out, spans, strict=True):
            messages += self._output.segment(state.partition, one, span.headers)
        through = state.position.next_offset - 1
        for name, record in state.sessions.ledger_states(recorded).items():
            messages.append(self._output.ledger(state.partition, name, record, through=through))
        return messages
