"""Runs sessions through the engine until none needs labels; a batch has one step of each session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from caesura.schemas.labels import Labels
from caesura.worker.core.partition.partition import PartitionSessions
from caesura.worker.core.session.batching import BatchLimits, LabelQueue, PendingLabels, next_batch
from caesura.worker.errors import EngineError
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.engine import Engine
from caesura.worker.ports.observer import (
    BatchLabelled,
    BatchQueued,
    EngineFailed,
    EngineRestarted,
    Observer,
    SessionsFlooding,
)
from caesura.worker.runtime.retries.own_faults import blamed
from caesura.worker.runtime.settings.deadline import Deadline

_TRIES_ALONE = 2

_LOOKS_SHARE = 0.5
"""Of the time there is, for asking what is wanted, where very many sessions have new words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """Runs the batches. A batch that raises is run session by session; one that fails twice alone goes on unlabelled.

    OwnFaultError if a partition's own sessions raise; the next call goes on with the other partitions.
    """

    engine: Engine
    clock: Clock
    observer: Observer
    limits: BatchLimits

    def run(self, partitions: Mapping[int, PartitionSessions], deadline: Deadline | None = None) -> bool:
        """Label until no session of these partitions needs labels. Blocks for that long.

        False if the deadline passed first; then some sessions still need labels.
        """
        while True:
            looks = None if deadline is None else Deadline.after(self.clock, deadline.left_s * _LOOKS_SHARE)
            queues = self._waiting(partitions, looks)
            floods = {session: words for queue in queues for session, words in queue.begun_floods().items()}
            self.observer.note(SessionsFlooding(queued_words=floods))
            while any(queues):
                if deadline is not None and deadline.passed:
                    return False
                self._resolve(next_batch(queues, self.limits), partitions)
            if not any(queue.unsure for queue in queues):
                return True
            if deadline is not None and deadline.passed:
                return False

    def fall_back(self, partitions: Mapping[int, PartitionSessions]) -> None:
        """Let every session of these partitions go on without labels, until none needs any."""
        for queue in self._waiting(partitions):
            while queue:
                for one in queue:
                    fall_back = partitions[one.partition].fall_back
                    blamed(one.partition, fall_back, one.request.session, self.clock.wall_ms())

    def _waiting(self, partitions: Mapping[int, PartitionSessions], looks: Deadline | None = None) -> list[LabelQueue]:
        now_ms = self.clock.wall_ms()
        enough = (lambda: False) if looks is None else (lambda: looks.passed)
        return [blamed(number, sessions.waiting, now_ms, enough) for number, sessions in partitions.items()]

    def _resolve(self, batch: Sequence[PendingLabels], partitions: Mapping[int, PartitionSessions]) -> None:
        try:
            answers: Sequence[Labels | None] | None = self._label(batch)
        except EngineError as error:
            self.observer.note(EngineFailed(sessions=len(batch), detail=str(error)))
            answers = None
        if answers is None:  # not while the error is handled: it holds what the batch was computed with
            answers = [self._label_alone(one) for one in batch]
        now_ms = self.clock.wall_ms()
        for one, labels in zip(batch, answers, strict=True):
            sessions = partitions[one.partition]
            if labels is None:
                blamed(one.partition, sessions.fall_back, one.request.session, now_ms)
            else:
                blamed(one.partition, sessions.resolve, one.request.session, labels, now_ms)

    def _label(self, batch: Sequence[PendingLabels]) -> list[Labels]:
        started_s, before = self.clock.monotonic_s(), self.engine.work
        oldest_ms = min(one.waiting_since_ms for one in batch)
        self.observer.note(BatchQueued(oldest_s=max(0, self.clock.wall_ms() - oldest_ms) / 1000.0))
        try:
            answers = self.engine.label([one.request for one in batch])
        finally:
            work = self.engine.work
            if work.restarts > before.restarts:
                self.observer.note(EngineRestarted(times=work.restarts - before.restarts))
        self.observer.note(
            BatchLabelled(
                sessions=len(batch),
                words=sum(len(one.request.words) for one in batch),
                took_s=self.clock.monotonic_s() - started_s,
                layer_rows=work.layer_rows - before.layer_rows,
                begun_buffers=work.begun_buffers - before.begun_buffers,
                evicted_sessions=work.evicted_sessions - before.evicted_sessions,
                kept_bytes=work.kept_bytes,
                cpu_s=work.cpu_s - before.cpu_s,
                resident_bytes=work.resident_bytes,
            )
        )
        return answers

    def _label_alone(self, one: PendingLabels) -> Labels | None:
        for _ in range(_TRIES_ALONE):
            try:
                return self._label([one])[0]
            except EngineError as error:
                self.observer.note(EngineFailed(sessions=1, detail=str(error)))
        return None
