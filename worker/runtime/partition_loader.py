"""From a claim's result to a loaded partition: snapshots become sessions, or the log does where they are lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from schemas.state import SessionState, decode_state
from worker.core.context import DecodingContext
from worker.core.partition import PartitionSessions
from worker.core.rules import DecodingRules, ModelTable
from worker.core.timeline import PartitionTime
from worker.core.words import SegmenterFactory
from worker.ports.clock import Clock
from worker.ports.engine import Engine
from worker.ports.log_reader import LogReader
from worker.ports.observer import Observer, PartitionRebuilt
from worker.ports.records import NextOffset
from worker.ports.tracer import Tracer
from worker.ports.word_source import WordSource
from worker.runtime.adoption import Adoption
from worker.runtime.claim import ClaimedState, Parked
from worker.runtime.labelling import Labelling
from worker.runtime.ledger_reading import LedgerReading
from worker.runtime.loaded_partition import LoadedPartition
from worker.runtime.output_records import OutputRecords
from worker.runtime.rebuild import Rebuild
from worker.runtime.record_decoding import DeadLetters
from worker.runtime.settings import RuntimeSettings
from worker.runtime.staged import TransactionPart
from worker.runtime.surroundings import Surroundings
from worker.runtime.verdict import ClaimVerdict

__all__ = ["PartitionLoader", "Rebuilding"]


class Rebuilding:
    """A partition on its way back from the log. ``advance`` until it answers something other than None."""

    def __init__(
        self,
        rebuild: Rebuild,
        finish: Callable[[Rebuild], LoadedPartition],
        announce: Callable[[], object] | None = None,
    ) -> None:
        self._rebuild = rebuild
        self._finish = finish
        self._announce = announce
        self.announced = False

    @property
    def announces(self) -> bool:
        """Tell whether its next step is to announce itself."""
        return self._announce is not None

    def advance(self) -> LoadedPartition | Parked | None:
        """Announce it where that has to be, then do one chunk of the work. RetriableError: claim again."""
        if self._announce is not None:
            self._announce()
            self._announce = None
            self.announced = True
            return None
        if not self._rebuild.advance():
            return None
        return self._rebuild.parked or self._finish(self._rebuild)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionLoader:
    """Makes residents; holds what all partitions share."""

    settings: RuntimeSettings
    rules: DecodingRules
    segmenters: SegmenterFactory
    source: WordSource
    reader: LogReader
    engine: Engine
    labelling: Labelling
    clock: Clock
    observer: Observer
    tracer: Tracer

    def load(
        self, state: ClaimedState, *, partitions: int, announce: Callable[[TransactionPart], object]
    ) -> LoadedPartition | Rebuilding | Adoption:
        """Make sessions of a claimed partition's snapshots; a rebuild where they are lost or cannot be read.

        Where the offset was set from outside and is adopted there are none, and the ledger is to forget its own.

        announce: commits that a rebuild is about to be tried; RetriableError where it did not commit.
        """
        if state.verdict is ClaimVerdict.BEHIND:
            return self._rebuilding(state, partitions, announce)
        if state.verdict is ClaimVerdict.FOREIGN:
            return self._adoption(state, partitions)
        context = self._context(state.partition)
        sessions = PartitionSessions(context)
        try:
            sessions.load([_state_of(name, slot.state) for name, slot in state.slots.items() if slot.state is not None])
        except ValueError:
            return self._rebuilding(state.without_store(), partitions, announce)
        time = PartitionTime(max_skew_ms=self.settings.max_skew_ms, start_ms=sessions.latest_ms)
        return LoadedPartition(
            state, self._surroundings(partitions), sessions=sessions, counts=context.counts, time=time
        )

    def _adoption(self, state: ClaimedState, partitions: int) -> Adoption:
        context = self._context(state.partition)

        def finish(known: list[str]) -> LoadedPartition:
            surroundings = self._surroundings(partitions)
            sessions, time = PartitionSessions(context), PartitionTime(max_skew_ms=self.settings.max_skew_ms)
            loaded = LoadedPartition(state, surroundings, sessions=sessions, counts=context.counts, time=time)
            loaded.forget_all(known)
            return loaded

        return Adoption(
            LedgerReading(self.settings.ledger, state.partition, self.reader),
            next_offset=state.next_offset,
            timeout_s=self.settings.claim_timeout_s,
            stall_s=self.settings.rebuild_stall_s,
            finish=finish,
            parked=lambda reason, detail: Parked(partition=state.partition, reason=reason, detail=detail),
        )

    def _rebuilding(
        self, state: ClaimedState, partitions: int, announce: Callable[[TransactionPart], object]
    ) -> Rebuilding:
        context = self._context(state.partition)
        started_s = self.clock.monotonic_s()
        label = self.labelling.fall_back if state.tries.unlabelled else self.labelling.run
        rebuild = Rebuild(
            state,
            context,
            partitions=partitions,
            reader=self.reader,
            clock=self.clock,
            settings=self.settings,
            label=lambda sessions: label({state.partition: sessions}),
        )

        def finish(done: Rebuild) -> LoadedPartition:
            rebuilt = done.rebuilt
            self.observer.note(
                PartitionRebuilt(
                    partition=state.partition, summary=rebuilt.summary, took_s=self.clock.monotonic_s() - started_s
                )
            )
            surroundings = self._surroundings(partitions)
            return LoadedPartition(
                state, surroundings, sessions=rebuilt.sessions, counts=context.counts, time=rebuilt.time
            )

        part = self._announcement(state, partitions)
        return Rebuilding(rebuild, finish, (lambda: announce(part)) if state.tries.announce else None)

    def _announcement(self, state: ClaimedState, partitions: int) -> TransactionPart:
        metadata = state.tries.announcement(
            state.token,
            replay_offset=state.replay_offset,
            partitions=partitions,
            transactional_id=self.settings.transactional_id,
        )
        offset = NextOffset(next_offset=state.next_offset, metadata=metadata.encode())
        return TransactionPart(partition=state.partition, next=offset)

    def _context(self, partition: int) -> DecodingContext:
        return DecodingContext(
            topic=self.source.topic,
            partition=partition,
            rules=self.rules,
            models=ModelTable.of(self.engine.models),
            segmenters=self.segmenters,
            state_version=self.settings.state_version,
            looks_ahead=bool(self.settings.tentative_topic),
        )

    def _surroundings(self, partitions: int) -> Surroundings:
        return Surroundings(
            settings=self.settings,
            source=self.source,
            clock=self.clock,
            observer=self.observer,
            tracer=self.tracer,
            publishing=OutputRecords(settings=self.settings),
            dead_letters=DeadLetters(
                source_topic=self.source.topic,
                topic=self.settings.dead_letter_topic,
                max_bytes=self.settings.max_dead_letter_bytes,
            ),
            partitions=partitions,
            forget=self.engine.forget,
        )


def _state_of(name: str, stored: bytes) -> SessionState:
    """Read a session's snapshot; ValueError where it is none, or another session's."""
    state = decode_state(stored)
    if state.session != name:
        raise ValueError("a snapshot under another session's name")
    return state
