"""The worker's loop: poll, claim, fire timers, label, take a checkpoint. One thread runs one turn after another.

A turn never delays one partition because of another: claims are done in short pieces, and a fault sends only its own
partition back to a claim. Partitions that are not loaded are paused; polling keeps the group membership alive.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.language.words import SegmenterFactory
from caesura.worker.core.partition.partition import PartitionSessions
from caesura.worker.core.session.batching import BatchLimits
from caesura.worker.errors import OwnFaultError, RetriableError
from caesura.worker.ports.observer import LoopMoved, ReadinessReported
from caesura.worker.runtime.claim.claim import Claim
from caesura.worker.runtime.loop.assignment import Assignment
from caesura.worker.runtime.loop.checkpoint_cycle import CheckpointCycle
from caesura.worker.runtime.loop.gathering import Gathering
from caesura.worker.runtime.loop.labelling import Labelling
from caesura.worker.runtime.loop.own_producer import OwnProducer
from caesura.worker.runtime.loop.partition_loader import PartitionLoader
from caesura.worker.runtime.loop.polling import PollBudget, Polling
from caesura.worker.runtime.loop.probe import Probe
from caesura.worker.runtime.partition.timer_sweep import TimerSweep
from caesura.worker.runtime.partition.unfrozen_words import UnfrozenWords
from caesura.worker.runtime.retries.faults import Faults
from caesura.worker.runtime.settings.deadline import Deadline
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings

_POLL_S = 0.02
_RETRY_WAIT_S = 0.5
_LEAST_POLL_S = 0.001
"""A checkpoint that is due sooner is as good as due: the clock's last digits make no turn of their own."""
_TURNS = 4
"""How many turns there are while words wait for a checkpoint: each costs something beside its words."""
_MOST_REST_S = 0.025
"""How long rebalances, timers and answers wait for a turn at most."""
_MEMBER_S = 0.1
"""How long it is believed that this is a member: the question goes to another of the client's threads."""


class Worker:
    """One member of the group. ``run`` it, or ``start`` and ``turn`` it by hand. The engine must be warm."""

    def __init__(
        self, parts: RuntimeAdapters, settings: RuntimeSettings, *, rules: DecodingRules, segmenters: SegmenterFactory
    ) -> None:
        self._parts = parts
        self._settings = settings
        self._clock = parts.clock
        self._observer = parts.observer
        self._labelling = Labelling(
            engine=parts.engine,
            clock=parts.clock,
            observer=parts.observer,
            limits=BatchLimits(max_sessions=settings.max_batch_sessions, max_words=settings.max_batch_words),
        )
        loader = PartitionLoader(
            parts=parts, settings=settings, rules=rules, segmenters=segmenters, labelling=self._labelling
        )
        self._partitions = 0
        self._draining = False
        self._behind = False
        self._member_until_s = -math.inf
        self._faults = faults = Faults(parts.observer)
        self._budget = PollBudget(settings.max_poll_records)
        self._producer = OwnProducer(
            parts.publisher,
            clock=parts.clock,
            observer=parts.observer,
            faults=faults,
            timeout_s=settings.commit_timeout_s,
        )
        self.assignment = held = Assignment(parts, new_claim=self._new_claim, load=loader.load)
        self._polling = Polling(parts, settings, assignment=held, faults=faults, budget=self._budget)
        self._timer_sweep = TimerSweep(
            source=parts.source, faults=faults, raised=held.raised, timeout_s=settings.claim_timeout_s
        )
        self._gathering = Gathering(
            clock=parts.clock,
            most_records=settings.max_batch_sessions,
            longest_s=settings.gather_ms / 1000.0,
            turn_s=min(settings.gather_ms / 1000.0 / _TURNS, _MOST_REST_S),
            least_pause_s=settings.commit_interval_ms / 1000.0 / _TURNS,
        )
        self._checkpoints = CheckpointCycle(
            parts, settings, assignment=held, faults=faults, producer=self._producer, gathering=self._gathering
        )
        self._probe = Probe(parts, settings, assignment=held, faults=faults)
        self._unfrozen = UnfrozenWords(
            publisher=parts.tentative,
            clock=parts.clock,
            interval_ms=settings.tentative_interval_ms,
            wire=settings.wire_format,
            observer=parts.observer,
            redaction=settings.redaction(settings.tentative_redact),
        )

    def run(self, stopping: Callable[[], bool]) -> None:
        """Work until told to stop, then drain: a last checkpoint, and leave the group. FatalError, FencedError."""
        if self.start(stopping):
            while not stopping():
                began_s = self._clock.monotonic_s()
                self.turn(self._poll_s())
                self._rest(began_s)
        self.drain()

    def start(self, stopping: Callable[[], bool] = lambda: False) -> bool:
        """Fence the former process with this transactional id, then join the group.

        Waits for the brokers as long as necessary; False if it was told to stop meanwhile. FatalError.
        """
        while not stopping():
            self._observer.note(LoopMoved())
            try:
                self._producer.start()
                self._partitions = self._parts.source.partition_count(self._settings.commit_timeout_s)
            except RetriableError as error:
                self._faults.failed("start", error)
                self._observer.note(ReadinessReported(reasons=("starting", *self._faults.reasons)))
                self._clock.sleep_s(_RETRY_WAIT_S)
                continue
            self._faults.cleared("start")
            self._parts.source.subscribe(self.assignment)
            return True
        return False

    def turn(self, timeout_s: float = _POLL_S) -> None:
        """Turn once: block for the poll's time-out and for the work on its records.

        Claims and rebuilds go on by a piece a turn; between two pieces the poll does not wait.
        """
        self._observer.note(LoopMoved())
        records = self._polling.poll(0.0 if self.assignment.busy else timeout_s)
        if self._producer.lost is not None:
            self._producer.rebuild()
        else:
            self._advance_claims()
            fired = self._timer_sweep.tick(self.assignment.loaded, self._budget.max_records)
            self._behind = self._polling.full or records + fired >= self._budget.max_records
            due = self._checkpoints.due
            at_once = self._gathering.pause_left_s <= 0  # labelling begins a pause
            began_s = self._clock.monotonic_s()
            is_over = self._gathering.is_over(records + fired, at_most=self._budget.max_records)
            if is_over or due or (at_once and self._checkpoints.wanted):
                self._label()
                self._budget.worked(self._gathering.waiting, self._clock.monotonic_s() - began_s)
                self._gathering.labelled(took_s=self._clock.monotonic_s() - began_s)
            if due or (at_once and self._checkpoints.wanted):
                self._unfrozen.tell(self._sessions, behind=records >= self._budget.max_records)
                if not self._checkpoints.put_off():
                    committed = self._checkpoints.take()
                    self._gathering.checkpointed(took_s=self._clock.monotonic_s() - began_s, committed=committed)
        self._checkpoints.save()
        self._probe.run(self._partitions)
        self._observer.note(ReadinessReported(reasons=self.unready(), awaits=self._faults.awaits))

    def drain(self) -> None:
        """Finish the records that were read, publish them, and leave the group.

        The next owner reads again what cannot be done within the deadline.
        """
        self._draining = True
        deadline = Deadline.after(self._clock, self._settings.drain_deadline_s)
        try:
            self._observer.note(ReadinessReported(reasons=self.unready()))
            if self._producer.lost is None and self._label(deadline):
                self._checkpoints.take(deadline)
        except Exception as error:  # not where a test kills the process: nothing of that runs on
            try:
                self.close()
            except Exception as another:  # noqa: BLE001 - what came first is what ended it
                error.add_note(f"and then: {type(another).__name__}: {another}")
            raise
        self.close()

    def close(self) -> None:
        """Close every client, the group's first, even if one of them raises. May be called twice."""
        fault: Exception | None = None
        parts = self._parts
        for part in (parts.source, parts.publisher, self._unfrozen, parts.store, parts.reader):
            try:
                part.close()
            except Exception as error:  # noqa: BLE001 - the first is raised below
                fault = fault or error
        for executor in (parts.saving, parts.asking):
            executor.shutdown(wait=False, cancel_futures=True)
        if fault is not None:
            raise fault

    def unready(self) -> tuple[str, ...]:
        """Return every reason why this worker is not ready; empty if it is."""
        reasons = ["draining"] if self._draining else []
        if not self._is_member():
            reasons.append("not a member of the group yet")
        if self._producer.lost is not None:
            reasons.append(f"no producer: {self._producer.lost}")
        reasons += self._faults.reasons
        reasons += [f"partition {one.partition} parked: {one.reason}" for one in self.assignment.parked.values()]
        return tuple(reasons)

    def _is_member(self) -> bool:
        now_s = self._clock.monotonic_s()
        if now_s >= self._member_until_s and self._parts.source.membership().current:
            self._member_until_s = now_s + _MEMBER_S
        return now_s < self._member_until_s

    @property
    def _sessions(self) -> dict[int, PartitionSessions]:
        return {number: one.sessions for number, one in self.assignment.loaded.items()}

    def _poll_s(self) -> float:
        """Return how long a poll may wait for a first record: at most until a checkpoint is due."""
        if self._producer.lost is not None:
            return _POLL_S
        return min(_POLL_S, max(_LEAST_POLL_S, self._checkpoints.work_in_s))

    def _rest(self, began_s: float) -> None:
        """Wait for more words if a turn would only read them, and some already wait for a checkpoint."""
        working = self._behind or self._checkpoints.is_awaited or self._producer.lost is not None
        if working or self.assignment.claiming or self._checkpoints.due_in_s == math.inf:
            return
        took_s = self._clock.monotonic_s() - began_s
        self._clock.sleep_s(self._gathering.rest_s(took_s, self._checkpoints.work_in_s))

    def _advance_claims(self) -> None:
        fault = self.assignment.advance_claims()
        if fault is not None:
            self._faults.failed("claim", fault)
        elif not self.assignment.claiming:
            self._faults.cleared("claim")

    def _label(self, deadline: Deadline | None = None) -> bool:
        """Label what waits. A partition for which our own code raises is left out, and the others go on."""
        while True:
            loaded = self.assignment.loaded.items()
            try:
                self._labelling.fall_back({number: one.sessions for number, one in loaded if one.unlabelled})
                return self._labelling.run(self._sessions, deadline)
            except OwnFaultError as error:
                self.assignment.raised(error)

    def _new_claim(self, partition: int) -> Claim:
        return Claim(partition, self._parts, self._settings, partitions=self._partitions)
