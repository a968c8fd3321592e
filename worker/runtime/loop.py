"""The loop: poll, claim, fire timers, label, take a checkpoint; one thread, one turn after another.

A turn never waits for one partition at another's cost: claims are short, a fault drops its partition back to a claim,
and everything that is not loaded is paused while the group membership is kept alive by polling.
"""

from __future__ import annotations

from collections.abc import Callable

from worker.errors import BrokerError, FatalError, RetriableError
from worker.ports.observer import DecodingCounted, LoopMoved, ReadinessTold, SeamReached, SeamStep, SegmentsPublished
from worker.ports.reasons import CheckpointOutcome, ParkReason
from worker.ports.records import PartitionEnd, PartitionStalled, Record
from worker.runtime.adoption import Adoption
from worker.runtime.assignment import Assignment
from worker.runtime.checkpoint import Checkpoint, CheckpointResult
from worker.runtime.claim import Claim, ClaimedState, Parked
from worker.runtime.deadline import Deadline
from worker.runtime.faults import Faults
from worker.runtime.gathering import Gathering
from worker.runtime.labelling import Labelling
from worker.runtime.loaded_partition import LoadedPartition
from worker.runtime.own_producer import OwnProducer
from worker.runtime.partition_loader import PartitionLoader, Rebuilding
from worker.runtime.parts import RuntimeParts
from worker.runtime.poll_budget import PollBudget
from worker.runtime.positions import Positions
from worker.runtime.settings import RuntimeSettings
from worker.runtime.staged import TransactionPart
from worker.runtime.timer_sweep import TimerSweep
from worker.runtime.unfrozen_words import UnfrozenWords

__all__ = ["Worker"]

_POLL_S = 0.02
_RETRY_WAIT_S = 0.5


class Worker:
    """One member of the group. ``run`` it, or ``start`` and ``turn`` it by hand."""

    def __init__(
        self, parts: RuntimeParts, settings: RuntimeSettings, *, loader: PartitionLoader, labelling: Labelling
    ) -> None:
        self._parts = parts
        self._source = parts.source
        self._publisher = parts.publisher
        self._store = parts.store
        self._clock = parts.clock
        self._observer = parts.observer
        self._settings = settings
        self._labelling = labelling
        self._loader = loader
        self._partitions = 0
        self._staged_since_s: float | None = None
        self._faults = Faults(
            store=parts.store,
            source=parts.source,
            positions=Positions(
                source=parts.source,
                reader=parts.reader,
                clock=parts.clock,
                observer=parts.observer,
                timeout_s=settings.claim_timeout_s,
            ),
            clock=parts.clock,
            observer=parts.observer,
            timeout_s=settings.claim_timeout_s,
        )
        self._timer_sweep = TimerSweep(source=parts.source, faults=self._faults, timeout_s=settings.claim_timeout_s)
        self._producer = OwnProducer(
            parts.publisher,
            clock=parts.clock,
            observer=parts.observer,
            faults=self._faults,
            timeout_s=settings.commit_timeout_s,
        )
        self._draining = False
        self._unfrozen = UnfrozenWords(
            publisher=parts.tentative,
            clock=parts.clock,
            interval_ms=settings.tentative_interval_ms,
            wire=settings.wire_format,
            observer=parts.observer,
        )
        self._poll_budget = PollBudget(settings.max_poll_records)
        self._gathering = Gathering(
            clock=parts.clock, most_records=settings.max_batch_sessions, longest_s=settings.gather_ms / 1000.0
        )
        self._checkpoint = Checkpoint(
            store=parts.store,
            source=parts.source,
            publisher=parts.publisher,
            clock=parts.clock,
            observer=parts.observer,
            timeout_s=settings.commit_timeout_s,
        )
        source, clock, observer = parts.source, parts.clock, parts.observer
        self.assignment = Assignment(
            source=source, clock=clock, observer=observer, new_claim=self._new_claim, load=self._load
        )

    def run(self, stopping: Callable[[], bool]) -> None:
        """Work until told to stop, then drain: a last checkpoint, and leave the group. FatalError, FencedError."""
        if self.start(stopping):
            while not stopping():
                self.turn(_POLL_S)
        self.drain()

    def start(self, stopping: Callable[[], bool] = lambda: False) -> bool:
        """Fence the former process with this transactional id, then join the group.

        Waits for the brokers as long as it takes; False where it was told to stop meanwhile. FatalError.
        """
        while not stopping():
            self._observer.note(LoopMoved())
            try:
                self._producer.start()
                self._partitions = self._source.partition_count(self._settings.commit_timeout_s)
            except RetriableError as error:
                self._faults.failed("start", error)
                self._observer.note(ReadinessTold(reasons=("starting", *self._faults.reasons)))
                self._clock.sleep_s(_RETRY_WAIT_S)
                continue
            self._faults.cleared("start")
            self._source.subscribe(self.assignment)
            return True
        return False

    def turn(self, timeout_s: float = _POLL_S) -> None:
        """Turn once: blocks for the poll's time-out and for whatever came of it.

        A rebuild is done in chunks, one a turn: while there is one, the poll between two of them waits for nothing.
        """
        self._observer.note(LoopMoved())
        records = self._poll(0.0 if self.assignment.rebuilding else timeout_s)
        if self._producer.lost is not None:
            self._producer.rebuild()
        else:
            fault = self.assignment.advance_claims()
            if fault is not None:
                self._faults.failed("claim", fault)
            elif not self.assignment.claiming:
                self._faults.cleared("claim")
            fired = self._timer_sweep.tick(self.assignment.loaded, self._poll_budget.max_records)
            due = self._due()
            if self._gathering.is_over(records + fired, at_most=self._poll_budget.max_records) or due:
                began_s = self._clock.monotonic_s()
                self._label()
                self._poll_budget.worked(self._gathering.waiting, self._clock.monotonic_s() - began_s)
                self._gathering.labelled(took_s=self._clock.monotonic_s() - began_s)
            if due:
                loaded = {number: one.sessions for number, one in self.assignment.loaded.items()}
                self._unfrozen.tell(loaded, behind=records >= self._poll_budget.max_records)
                self.checkpoint()
        self._probe()
        self._observer.note(ReadinessTold(reasons=self.unready()))

    def drain(self) -> None:
        """Finish what was read, publish it, and leave the group.

        What cannot be done within the deadline is left to the next owner, who reads it again.
        """
        self._draining = True
        self._observer.note(ReadinessTold(reasons=self.unready()))
        deadline = Deadline.after(self._clock, self._settings.drain_deadline_s)
        if self._producer.lost is None and self._label(deadline):
            self.checkpoint(deadline)
        self._source.close()
        self._publisher.close()
        self._unfrozen.close()
        self._store.close()
        self._parts.reader.close()

    def unready(self) -> tuple[str, ...]:
        """Name every reason why this worker should not count as ready; none: it is."""
        reasons = ["draining"] if self._draining else []
        if not self._source.membership().current:
            reasons.append("not a member of the group yet")
        if self._producer.lost is not None:
            reasons.append(f"no producer: {self._producer.lost}")
        reasons += self._faults.reasons
        reasons += [f"partition {one.partition} parked: {one.reason}" for one in self.assignment.parked.values()]
        return tuple(reasons)

    def checkpoint(self, deadline: Deadline | None = None) -> None:
        """Take a checkpoint over everything that is staged; nothing staged, nothing done."""
        started_s = self._clock.monotonic_s()
        staged = [one for held in self.assignment.loaded.values() if (one := held.stage()) is not None]
        self._staged_since_s = None
        stage_ms = (self._clock.monotonic_s() - started_s) * 1000.0
        together = [one for one in staged if not one.alone]
        for some in (together, *([one] for one in staged if one.alone)):
            if some and self._producer.lost is None:  # else whatever is staged is claimed again already
                self._adopt(self._checkpoint.take(some, stage_ms=stage_ms, deadline=deadline))
        self._park()

    def _park(self) -> None:
        """Park partitions that cannot go on, once what they had staged is committed."""
        for held in list(self.assignment.loaded.values()):
            if held.parked is not None and not held.changed:
                self.assignment.park(held.parked)

    def _adopt(self, result: CheckpointResult) -> None:
        for one in result.committed:
            held = self.assignment.loaded[one.partition]
            self._observer.note(DecodingCounted(counts=held.counts.drain()))
            self._observer.note(SegmentsPublished(partition=one.partition, segments=one.segments))
            if one.onward:
                self.assignment.went_well(one.partition)
            try:
                held.adopt(one)
            except RetriableError as error:
                self.assignment.claim_again(one.partition, type(error).__name__)
        if result.committed:
            self._observer.note(SeamReached(step=SeamStep.ADOPTED))
            self._faults.cleared("checkpoint")
        for partition, reason in result.dropped.items():
            self._faults.dropped(reason)
            self.assignment.claim_again(partition, reason)
        if result.publisher_lost is not None:
            self._lose_producer(result.publisher_lost)

    def _lose_producer(self, reason: CheckpointOutcome) -> None:
        for partition in list(self.assignment.loaded):  # paused: nothing piles up while there is nobody to publish it
            self.assignment.claim_again(partition, reason)
        self._producer.lose(reason)

    def _poll(self, timeout_s: float) -> int:
        """Take what has come; return how many records it was, and sessions whose timers fired before one."""
        try:
            items = self._source.poll(self._poll_budget.max_records, timeout_s)
        except RetriableError as error:
            self._faults.failed("poll", error)
            return 0
        if items:
            self._faults.cleared("poll")
        fired = 0
        for item in items:
            fired += self._take(item, max(0, self._poll_budget.max_records - fired))
        return sum(1 for item in items if isinstance(item, Record)) + fired

    def _take(self, item: Record | PartitionEnd | PartitionStalled, most_timers: int) -> int:
        held = self.assignment.loaded.get(item.partition)
        if held is None:
            if isinstance(item, Record) and not self.assignment.holds(item.partition):
                raise FatalError(f"a record of partition {item.partition}, which is not assigned to this worker")
            return 0  # on its way to be claimed: it is sought to its committed offset before it is read
        match item:
            case Record():
                try:
                    return held.take(item, most_timers)
                except RetriableError as error:
                    self._faults.failed("poll", error)
                    self.assignment.claim_again(item.partition, type(error).__name__)
            case PartitionEnd():
                held.reached_end(item.next_offset)
            case PartitionStalled():
                self._park_out_of_range(held, item.reason)
        return 0

    def _park_out_of_range(self, held: LoadedPartition, reason: str) -> None:
        """Park a partition whose next record retention has taken, with the range that is there."""
        partition = held.partition
        try:
            low, end = self._source.watermarks(partition, self._settings.claim_timeout_s)
        except RetriableError as error:
            self._faults.failed("poll", error)
            self.assignment.claim_again(partition, type(error).__name__)
            return
        detail = f"{reason}: next is {held.next_offset}, there is {low} to {end}; see docs/operations.md"
        self.assignment.park(Parked(partition=partition, reason=ParkReason.OFFSET_OUT_OF_RANGE, detail=detail))

    def _label(self, deadline: Deadline | None = None) -> bool:
        loaded = self.assignment.loaded.items()
        self._labelling.fall_back({number: one.sessions for number, one in loaded if one.unlabelled})
        return self._labelling.run({number: one.sessions for number, one in loaded}, deadline)

    def _due(self) -> bool:
        """Tell whether the commit interval since the first uncheckpointed change has passed, labelling included."""
        now_s = self._clock.monotonic_s()
        if any(held.isolating for held in self.assignment.loaded.values()):
            return True
        if self._staged_since_s is None:
            if any(one.changed or one.parked is not None for one in self.assignment.loaded.values()):
                self._staged_since_s = now_s
            else:
                return False
        return self._gathering.ends(self._staged_since_s, self._settings.commit_interval_ms / 1000.0)

    def _probe(self) -> None:
        partitions = self._faults.probe(self.assignment.loaded, [*self.assignment.claiming, *self.assignment.parked])
        if partitions is None:
            return
        self._faults.cleared("poll")
        self._release()
        if partitions != self._partitions:
            detail = f"{self._partitions} before, {partitions} now; see docs/operations.md"
            for partition in list(self.assignment.loaded):
                parked = Parked(partition=partition, reason=ParkReason.PARTITION_COUNT_CHANGED, detail=detail)
                self.assignment.park(parked)

    def _release(self) -> None:
        """Claim parked partitions again that an operator has released (``caesura unpark``)."""
        for partition in list(self.assignment.parked):
            try:
                if self._store.take_release(partition):
                    self.assignment.unpark(partition)
            except RetriableError as error:
                self._faults.failed("release", error)
                return
        self._faults.cleared("release")

    def _new_claim(self, partition: int) -> Claim:
        return Claim(partition, self._parts, self._settings, partitions=self._partitions)

    def _load(self, state: ClaimedState) -> LoadedPartition | Rebuilding | Adoption:
        return self._loader.load(state, partitions=self._partitions, announce=self._announce)

    def _announce(self, part: TransactionPart) -> None:
        """Commit that a rebuild is about to be tried. BrokerError where it did not commit for sure: claim again."""
        reason, lost = self._checkpoint.announce(part)
        if lost is not None:
            self._lose_producer(lost)
        if reason is not None:
            raise BrokerError(f"a rebuild of partition {part.partition} could not be announced: {reason}")
