"""Turns a claim's result into a loaded partition: from the snapshots in Redis, else from the log."""

from __future__ import annotations

from dataclasses import dataclass, replace

from caesura.schemas.state import SessionState
from caesura.worker.core.decoding.context import DecodingContext
from caesura.worker.core.decoding.timeline import PartitionTime
from caesura.worker.core.language.rules import DecodingRules, ModelTable
from caesura.worker.core.language.words import SegmenterFactory
from caesura.worker.core.partition.partition import PartitionSessions
from caesura.worker.ports.observer import PartitionCaughtUp, PartitionRebuilt
from caesura.worker.ports.reasons import ClaimVerdict
from caesura.worker.runtime.claim.adoption import Adoption
from caesura.worker.runtime.claim.load_run import LoadRun
from caesura.worker.runtime.claim.rebuild import Rebuild
from caesura.worker.runtime.ledger.ledger_reading import LedgerReading
from caesura.worker.runtime.loop.labelling import Labelling
from caesura.worker.runtime.partition.claim_result import ClaimResult
from caesura.worker.runtime.partition.loaded_partition import LoadedPartition
from caesura.worker.runtime.retries.step_search import StepSearch
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.runtime.settings.totals import SessionTotals


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionLoader:
    """Makes loaded partitions."""

    parts: RuntimeAdapters
    settings: RuntimeSettings
    rules: DecodingRules
    segmenters: SegmenterFactory
    labelling: Labelling

    def load(self, state: ClaimResult, search: StepSearch) -> LoadRun | Rebuild | Adoption:
        """Return what makes a claimed partition's sessions, piece by piece: a load, or a rebuild if snapshots are lost.

        If an outside offset is adopted, there are no sessions, and the ledger must forget its own.
        """
        if state.verdict is ClaimVerdict.BEHIND:
            return self._rebuilding(state, search)
        if state.verdict is ClaimVerdict.FOREIGN:
            return self._adoption(state, search)
        context = self._context(state.partition, search)

        def finish(sessions: PartitionSessions, totals: SessionTotals, last: SessionState | None) -> LoadedPartition:
            time = PartitionTime(max_skew_ms=self.settings.max_skew_ms, start_ms=sessions.latest_ms)
            if last is not None:
                time.go_on_from(last.output.last_appended_ms, last.admission.event_ms)
            return self._loaded(state, search, context, sessions, time, totals)

        return LoadRun(
            state,
            PartitionSessions(context),
            finish=finish,
            rebuild=lambda lost: self._rebuilding(lost, search),
        )

    def _adoption(self, state: ClaimResult, search: StepSearch) -> Adoption:
        context = self._context(state.partition, search)

        def finish(known: list[str], ledger_end: int) -> LoadedPartition:
            time = PartitionTime(max_skew_ms=self.settings.max_skew_ms)
            claimed = replace(state, ledger_end=ledger_end)
            loaded = self._loaded(claimed, search, context, PartitionSessions(context), time, SessionTotals())
            loaded.forget_all(dict.fromkeys(known, state.next_offset - 1))
            return loaded

        return Adoption(
            state.partition,
            LedgerReading(self.settings.ledger, state.partition, self.parts.reader),
            next_offset=state.next_offset,
            timeout_s=self.settings.claim_timeout_s,
            stall_s=self.settings.rebuild_stall_s,
            finish=finish,
        )

    def _rebuilding(self, state: ClaimResult, search: StepSearch) -> Rebuild:
        context = self._context(state.partition, search)
        started_s = self.parts.clock.monotonic_s()

        def finish(done: Rebuild) -> LoadedPartition:
            rebuilt = done.rebuilt
            took_s = self.parts.clock.monotonic_s() - started_s
            told = PartitionRebuilt if done.changed is None else PartitionCaughtUp
            self.parts.observer.note(told(partition=state.partition, summary=rebuilt.summary, took_s=took_s))
            claimed = replace(state, snapshots={}, ledger_end=done.ledger_end)
            if done.changed is None:
                claimed = replace(claimed, stored=None)
            else:
                claimed = replace(claimed, verdict=ClaimVerdict.CAUGHT_UP, changed=done.changed)
            loaded = self._loaded(claimed, search, context, rebuilt.sessions, rebuilt.time, done.totals)
            loaded.forget_all(rebuilt.forgotten)
            return loaded

        return Rebuild(
            state,
            context,
            reader=self.parts.reader,
            clock=self.parts.clock,
            settings=self.settings,
            label=lambda sessions: self.labelling.run({state.partition: sessions}),
            forget=self.parts.engine.forget,
            trace_of=self.parts.tracer.context_of,
            finish=finish,
        )

    def _context(self, partition: int, search: StepSearch) -> DecodingContext:
        return DecodingContext(
            topic=self.parts.source.topic,
            partition=partition,
            rules=self.rules,
            models=ModelTable.of(self.parts.engine.models),
            segmenters=self.segmenters,
            looks_ahead=bool(self.settings.tentative_topic),
            limit=search.limit,
        )

    def _loaded(
        self,
        state: ClaimResult,
        search: StepSearch,
        context: DecodingContext,
        sessions: PartitionSessions,
        time: PartitionTime,
        totals: SessionTotals,
    ) -> LoadedPartition:
        return LoadedPartition(
            state,
            self.parts,
            self.settings,
            sessions=sessions,
            counts=context.counts,
            time=time,
            totals=totals,
            search=search,
        )
