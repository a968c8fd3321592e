"""Step 1 of a checkpoint, and its adoption: what has changed in one partition becomes bytes, messages and an offset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

import msgspec

from schemas.checkpoint import CheckpointId, OffsetMetadata, Slot
from worker.core.segment_writer import OutSegment
from worker.errors import StoreError
from worker.ports.reasons import ClaimVerdict
from worker.ports.records import NextOffset, OutMessage
from worker.ports.tracer import SegmentSpan
from worker.runtime.claimed_state import ClaimedState
from worker.runtime.dead_letters import Refusals
from worker.runtime.found_sessions import PIECE_SESSIONS
from worker.runtime.output_records import OutputRecords
from worker.runtime.partition_state import PartitionState
from worker.runtime.parts import RuntimeParts
from worker.runtime.settings import RuntimeSettings
from worker.runtime.staged import Staged, TransactionPart

__all__ = ["Staging"]


class Staging:
    """Stages one partition's checkpoints, and adopts those that have committed."""

    def __init__(
        self,
        claimed: ClaimedState,
        state: PartitionState,
        parts: RuntimeParts,
        settings: RuntimeSettings,
        refusals: Refusals,
    ) -> None:
        self._state = state
        self._parts = parts
        self._settings = settings
        self._refusals = refusals
        self._output = OutputRecords(settings=settings)
        self._forgotten: list[OutMessage] = []
        self._piece_id: CheckpointId | None = None
        self._committed: NextOffset | None = None
        # A first start commits our id at once, so that a restart goes on from here and nowhere else; a rebuild saves
        # what it made. After a roll-back to a commit nothing is owed, and must not be: an empty commit between two
        # claims would hide that they end without one.
        in_doubt, found = claimed.verdict is ClaimVerdict.IN_DOUBT, claimed.id
        rolled_back = in_doubt and isinstance(found, CheckpointId) and found.n > 0
        self._owes_checkpoint = not (claimed.verdict is ClaimVerdict.GOOD or rolled_back)
        if claimed.ledger is not None and not settings.sums_ledger:
            # A release that cannot read what is committed is to come: take it away, after a roll-back, too. It is done
            # once, so it hides one row of claims without a commit at most.
            self._owes_checkpoint = True

    @property
    def changed(self) -> bool:
        """Tell whether a checkpoint would have anything to write."""
        state = self._state
        owes = self._owes_checkpoint or state.isolation.owes_checkpoint or state.stored.owes_drop
        return owes or state.position.has_moved or bool(state.sessions.touched)

    def stage(self) -> Staged | None:
        """Collect what has changed since the last checkpoint; None where nothing has. Every session is at rest."""
        if not self.changed:
            return None
        state = self._state
        checkpoint = state.stored.next_id()
        out = state.sessions.take_segments()
        spans = [self._parts.tracer.begin(one) for one in out]
        spoken = {one.segment.session for one in out}
        recorded = sorted(spoken.union(state.sessions.forgotten, state.sessions.unrecorded))
        slots = state.stored.new_slots(checkpoint, state.sessions.snapshots(state.sessions.touched), recorded)
        before = [*self._forgotten, *self._refusals.messages()]
        return Staged(
            partition=state.partition,
            id=checkpoint,
            alone=state.stored.unproven,
            onward=bool(slots or out or before) or state.position.has_moved,
            write=state.stored.write(checkpoint, slots),
            messages=[*before, *self._messages(out, spans, recorded)],
            next=NextOffset(
                next_offset=state.position.next_offset,
                metadata=self._metadata(checkpoint).encode(),
                leader_epoch=state.position.leader_epoch,
            ),
            slots=slots,
            segments=[one.segment for one in out],
            spans=spans,
            dead_letters=self._refusals.letters,
        )

    def adopt(self, staged: Staged) -> None:
        """Make a staged checkpoint the committed one."""
        state = self._state
        self._committed = staged.next
        state.position.committed(staged.next.next_offset)
        self._owes_checkpoint = False
        self._forgotten.clear()
        self._refusals.committed()
        state.stored.adopt(staged.id, staged.slots)
        for span in staged.spans:
            span.end(self._parts.clock.wall_ms())
        stored = _snapshots(staged.slots)
        resting = state.sessions.settle(stored)
        state.stored.rest(resting)
        for name in (*resting, *(name for name in staged.slots if name not in stored)):
            self._parts.engine.forget(name)
        state.unlabelled = False

    def take_withdrawal(self) -> TransactionPart | None:
        """Return, once, the last commit as it was, but that it counts no try of a step announced and not begun.

        None where it announced none. To be committed before anybody else can have moved the offset: it is under the
        same id, and Redis holds what that one stands for.
        """
        isolation, last = self._state.isolation, self._committed
        if last is None or not isolation.withdraw(last.next_offset):
            return None
        metadata = OffsetMetadata.decode(last.metadata)
        assert metadata is not None, "it is our own"
        until_offset, tries = isolation.noted(last.next_offset)
        metadata = msgspec.structs.replace(metadata, isolated_until_offset=until_offset, tries=tries)
        offset = replace(last, metadata=metadata.encode())
        return TransactionPart(partition=self._state.partition, next=offset)

    def save_piece(self) -> bool:
        """Save the next sessions of a rebuild that made many; False where the first checkpoint can save what is left.

        StoreError where it was refused, or nobody answered: the rebuild begins again, under another token.
        """
        state = self._state
        if not state.stored.owes_piece(len(state.sessions.touched) - len(state.sessions.forgotten)):
            return False
        if self._piece_id is None:
            self._piece_id = state.stored.next_id()
        left = (name for name in state.sessions.touched if name not in state.sessions.forgotten)
        names = list(islice(left, PIECE_SESSIONS))
        slots = state.stored.new_slots(self._piece_id, state.sessions.snapshots(names), recorded=())
        if not self._parts.store.write(state.partition, state.stored.write_piece(self._piece_id, slots)):
            raise StoreError("a rebuild was overtaken by a newer claim")
        state.stored.adopt_piece(self._piece_id, slots)
        state.stored.rest(state.sessions.settle_some(_snapshots(slots)))
        return True

    def forget_all(self, through: Mapping[str, int]) -> None:
        """Have the next checkpoint forget what the ledger says under these keys, each through its input offset."""
        partition = self._state.partition
        self._forgotten += [self._output.ledger(partition, key, None, through=end) for key, end in through.items()]

    def _metadata(self, checkpoint: CheckpointId) -> OffsetMetadata:
        state = self._state
        replay_offset = state.sessions.replay_offset
        isolated_until_offset, tries = state.isolation.noted(state.position.next_offset)
        if self._owes_checkpoint and not state.position.has_moved:
            # No step of the log is done: said like this, it hides no claim that ended before one (``moved_nothing``).
            isolated_until_offset = max(isolated_until_offset, state.position.next_offset)
        return OffsetMetadata(
            id=checkpoint,
            topic=self._parts.source.topic,
            partition=state.partition,
            next_offset=state.position.next_offset,
            replay_offset=state.position.next_offset if replay_offset is None else replay_offset,
            partitions=state.partitions,
            isolated_until_offset=isolated_until_offset,
            tries=tries,
            transactional_id=self._settings.transactional_id,
            ledger=state.stored.ledger,
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


def _snapshots(slots: Mapping[str, Slot]) -> dict[str, bytes]:
    """Return the snapshots in these slots, tombstones left out."""
    return {name: slot.state for name, slot in slots.items() if slot.state is not None}
