"""A worker's work without Kafka and Redis: events' bytes in, records and snapshots out, nothing sent anywhere.

The same decoding of events, sessions, batches, engine, records and snapshots as the worker's; what it leaves out is the
two clients, and the loop around them.
"""

from __future__ import annotations

from collections.abc import Iterable

from caesura.schemas.codec import decode_event
from caesura.worker.core.decoding.context import DecodingContext, Origin
from caesura.worker.core.language.rules import DecodingRules, ModelTable
from caesura.worker.core.language.segmentation import segmenters
from caesura.worker.core.partition.partition import PartitionSessions
from caesura.worker.core.session.batching import BatchLimits
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.engine import Engine
from caesura.worker.ports.observer import SilentObserver
from caesura.worker.runtime.ledger.output_records import OutputRecords
from caesura.worker.runtime.loop.labelling import Labelling
from caesura.worker.runtime.settings.settings import RuntimeSettings

_PARTITION = 0


class UnconnectedWorker:
    """One partition's sessions in memory, and their snapshots, as a worker holds them."""

    def __init__(self, engine: Engine, settings: RuntimeSettings, rules: DecodingRules, clock: Clock) -> None:
        context = DecodingContext(
            topic=settings.input_topic,
            partition=_PARTITION,
            rules=rules,
            models=ModelTable.of(engine.models),
            segmenters=segmenters,
        )
        self._sessions = PartitionSessions(context)
        self._records = OutputRecords(settings=settings)
        self._snapshots: dict[str, bytes] = {}
        self._offset = 0
        self._clock = clock
        self._labelling = Labelling(
            engine=engine,
            clock=clock,
            observer=SilentObserver(),
            limits=BatchLimits(max_sessions=settings.max_batch_sessions, max_words=settings.max_batch_words),
        )

    def __len__(self) -> int:
        return len(self._sessions)

    def take(self, events: Iterable[bytes]) -> None:
        """Apply events, and label until no session wants labels."""
        now_ms = self._clock.wall_ms()
        for value in events:
            origin = Origin(offset=self._offset, appended_ms=now_ms, polled_ms=now_ms, time_ms=now_ms)
            self._sessions.offer(decode_event(value), origin)
            self._offset += 1
        self._labelling.run({_PARTITION: self._sessions})

    def checkpoint(self) -> int:
        """Make what a checkpoint saves and publishes; return how many words froze since the last one."""
        out = self._sessions.take_segments()
        snapshots = self._sessions.snapshots(self._sessions.touched)
        self._snapshots |= {name: data for name, data in snapshots.items() if data is not None}
        for one in out:
            self._records.segment(_PARTITION, one)
        for name, record in self._sessions.ledger_states(sorted({one.segment.session for one in out})).items():
            self._records.ledger(_PARTITION, name, record, through=self._offset - 1)
        self._sessions.settle()
        return sum(len(one.segment.words) for one in out)
