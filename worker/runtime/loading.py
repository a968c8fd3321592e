"""From a claim's result to a loaded partition: snapshots become sessions."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.state import decode_state
from worker.core.context import DecodingContext
from worker.core.partition import PartitionSessions
from worker.core.rules import DecodingRules, ModelTable
from worker.core.timeline import PartitionTime
from worker.core.words import SegmenterFactory
from worker.ports import Clock, Engine, WordSource
from worker.runtime.claim import ClaimedState, Parked
from worker.runtime.intake import DeadLetters
from worker.runtime.observer import Observer
from worker.runtime.publishing import Publishing
from worker.runtime.residents import Residents, Surroundings
from worker.runtime.settings import RuntimeSettings

__all__ = ["Loading"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """Makes residents; holds what all partitions share."""

    settings: RuntimeSettings
    rules: DecodingRules
    segmenters: SegmenterFactory
    source: WordSource
    engine: Engine
    clock: Clock
    observer: Observer

    def load(self, state: ClaimedState, *, partitions: int) -> Residents | Parked:
        """Decode every session of a claimed partition; parked where a snapshot cannot be read."""
        context = DecodingContext(
            topic=self.source.topic,
            partition=state.partition,
            rules=self.rules,
            models=ModelTable.of(self.engine.models),
            segmenters=self.segmenters,
        )
        sessions = PartitionSessions(context)
        try:
            sessions.load([decode_state(slot.state) for slot in state.slots.values() if slot.state is not None])
        except ValueError as error:
            return Parked(partition=state.partition, reason="state_behind_log", detail=str(error))
        time = PartitionTime(max_skew_ms=self.settings.max_skew_ms, start_ms=sessions.latest_ms)
        surroundings = self._surroundings(partitions)
        return Residents(state, surroundings, sessions=sessions, tally=context.tally, time=time)

    def _surroundings(self, partitions: int) -> Surroundings:
        return Surroundings(
            settings=self.settings,
            source=self.source,
            clock=self.clock,
            observer=self.observer,
            publishing=Publishing(settings=self.settings),
            dead_letters=DeadLetters(
                source_topic=self.source.topic,
                topic=self.settings.dead_letter_topic,
                max_bytes=self.settings.max_dead_letter_bytes,
            ),
            partitions=partitions,
            end_is_fresh_s=self.rules.flush_after_ms / 1000.0,
            forget=self.engine.forget,
        )
