"""What an operator does by mistake or on purpose, and how he fixes it: as docs/operations.md tells him to.

Offsets of a group can be changed only while nobody is in it, so all workers are stopped first. What was changed by
mistake parks its partitions; set back with its metadata, it is as if nothing had been. A ledger record that somebody
wrote over parks its partition once Redis is lost; the record written again, and the partition released, it goes on.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TypeVar

import msgspec
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from caesura.schemas.checkpoint import OffsetMetadata
from caesura.schemas.state import STATE_VERSION
from caesura.worker.adapters.kafka.log_reader import KafkaLogReader
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.commands.skip import request_skip
from caesura.worker.errors import BrokerError
from caesura.worker.ports.reasons import ParkReason
from caesura.worker.ports.records import Record
from caesura.worker.runtime.ledger.output_records import ledger_probe
from caesura.worker.runtime.settings.settings import RuntimeSettings
from tests.chaos.fleet_member import Member
from tests.chaos.group_deletion import delete_group
from tests.chaos.world import DEPLOYMENT, ChaosWorld
from tests.harness.checker import Adopted
from tests.harness.producers import Sent
from tests.harness.waiting import comes, retried

_Answer = TypeVar("_Answer")
_WITHIN_S = 240.0
_ASK_S = 5.0
_LOOK_EVERY_S = 0.2
_RELEASE_AGAIN_S = 6.0


class OperatorAtWork:
    """Works on a world, past its proxies. Every call blocks until all is fixed; RuntimeError where it never is."""

    def __init__(self, world: ChaosWorld) -> None:
        self._world = world
        self._topic = f"{DEPLOYMENT}.words"
        self._partitions = list(range(world.partitions))
        self.adopted: list[Adopted] = []

    def delete_offsets(self) -> None:
        """Delete the group, see every partition parked, and set the offsets back."""
        with self._all_stopped():
            before = self._committed()
            delete_group(self._world.kafka.bootstrap, DEPLOYMENT, _WITHIN_S)
        self._await_parked(self._partitions, ParkReason.OFFSET_FROM_OUTSIDE)
        with self._all_stopped():
            self._commit(before)

    def set_offset(self, partition: int, where: float, *, keeps_metadata: bool) -> None:
        """Move an offset anywhere, see its partition parked, set it back. keeps_metadata: as a mirroring tool does."""
        with self._all_stopped():
            before = self._committed()[partition]
            offset = int(where * (self._end(partition) + 1))
            offset += offset == before.offset
            metadata = before.metadata if keeps_metadata else ""
            moved = TopicPartition(self._topic, partition, offset, metadata)
            self._commit([moved])
        self._await_parked([partition], ParkReason.OFFSET_FROM_OUTSIDE)
        with self._all_stopped():
            self._commit([before])

    def adopt_offset(self, partition: int, skipped: int) -> None:
        """Set a partition's offset on purpose, so many records further on, and have the workers begin there."""
        with self._all_stopped(), self._adopting():
            stopped_at = self._committed()[partition].offset
            begins_at = min(stopped_at + skipped, self._end(partition))
            self._commit([TopicPartition(self._topic, partition, begins_at)])
            self.adopted.append(Adopted(partition=partition, stopped_at=stopped_at, begins_at=begins_at))
            self._go_on()
            self._await(lambda: self._is_ours(partition), f"partition {partition} was not adopted")

    def spoil_ledger(self, partition: int, where: float) -> None:
        """Write something, or a tombstone, over a session's ledger record, lose Redis, and fix what is parked."""
        latest = {record.key or b"": record for record in self._ledger(partition)}
        candidates = [record for record in latest.values() if record.value is not None]
        if len(candidates) < 2:
            return
        victim, another = candidates[int(where * len(candidates)) - 1], candidates[int(where * len(candidates))]
        assert victim.key is not None
        kinds = [*_rubbish(victim.value or b"", another.value or b""), None]
        rubbish = kinds[int(where * len(kinds))]
        reason = ParkReason.LEDGER_INCOMPLETE if rubbish is None else ParkReason.LEDGER_UNREADABLE
        self._write_ledger(partition, victim.key, rubbish)
        self._world.redis.flush_all()
        records: list[Record] = []

        def is_rubbish(record: Record) -> bool:
            return record.value == rubbish and not record.headers  # a worker's tombstone has some

        def parked_or_written_over() -> bool:
            parked = self._parked().get(partition) == reason
            records[:] = [one for one in self._ledger(partition) if one.key == victim.key]
            return parked or not is_rubbish(records[-1])

        if not comes(parked_or_written_over, within_s=_WITHIN_S, every_s=1.0):
            raise RuntimeError(f"partition {partition} has {(rubbish or b'')[:2]!r} in its ledger and was not parked")
        if not is_rubbish(records[-1]):
            return  # the session has published meanwhile: a later record of its key is enough
        self._write_ledger(partition, victim.key, next(one.value for one in records[::-1] if not is_rubbish(one)))
        self._release(partition)

    def skip(self, partition: int, sent: Sent) -> None:
        """Have a record skipped that has parked its partition."""
        self._await_parked([partition], ParkReason.NEWER_EVENT)
        same = (partition, sent.key, sent.value)
        places = [one.offset for one in self._world.records("words") if (one.partition, one.key, one.value) == same]
        kafka = KafkaSettings(bootstrap_servers=self._world.kafka.bootstrap, group_id=f"{DEPLOYMENT}-operator")
        reader, settings = KafkaLogReader(kafka), RuntimeSettings(deployment=DEPLOYMENT, input_topic=self._topic)
        try:
            for offset in places:
                retried(
                    partial(request_skip, reader, settings, partition, offset),
                    despite=BrokerError,
                    within_s=_WITHIN_S,
                    every_s=_LOOK_EVERY_S,
                )
        finally:
            reader.close()
        self._release(partition)

    # the group

    @contextmanager
    def _all_stopped(self) -> Iterator[None]:
        """Stop every worker in good order until the end of the context, and hold what could start one."""
        members = self._world.fleet.members
        with ExitStack() as held:
            for member in members:
                held.enter_context(member.busy)
            self._wanted = [member for member in members if member.wanted]
            for member in members:
                member.wanted = False
            held.callback(self._go_on)
            self._stop(members)
            yield

    def _go_on(self) -> None:
        for member in self._wanted:
            member.wanted = True

    def _stop(self, members: Sequence[Member]) -> None:
        for member in members:
            member.wanted = False
        told: set[int] = set()  # once each: in the midst of its end a second signal would kill it

        def tell() -> None:
            for member in members:
                if (pid := member.pid) is not None and pid not in told:
                    member.signal(signal.SIGTERM)
                    told.add(pid)

        while any(member.lives for member in members):
            if not comes(
                lambda: not any(member.lives for member in members),
                within_s=_WITHIN_S,
                every_s=_LOOK_EVERY_S,
                meanwhile=tell,
            ):
                raise RuntimeError("workers did not end")
            time.sleep(_LOOK_EVERY_S)  # the supervisor may have been about to start one

    @contextmanager
    def _adopting(self) -> Iterator[None]:
        """Have the next start, and no later one, adopt foreign offsets; in the end all are stopped again."""
        members = self._world.fleet.members
        for member in members:
            member.configure({"changes": {"adopt_foreign_offsets": True}})
        try:
            yield
        finally:
            self._stop(members)
            for member in members:
                member.configure({"changes": {"adopt_foreign_offsets": False}})

    def _consumer(self) -> Consumer:
        return Consumer(
            {
                "bootstrap.servers": self._world.kafka.bootstrap,
                "group.id": DEPLOYMENT,
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "log_level": 0,
            }
        )

    def _committed(self) -> list[TopicPartition]:
        """Return the group's offsets, once no transaction on them is open."""
        places = [TopicPartition(self._topic, partition) for partition in self._partitions]
        consumer = self._consumer()
        try:
            return self._retried(lambda: _without_errors(consumer.committed(places, _ASK_S)))
        finally:
            consumer.close()

    def _commit(self, places: Sequence[TopicPartition]) -> None:
        """Commit as a member of nothing does, which the brokers take as soon as the group is empty."""
        consumer = self._consumer()
        try:
            self._retried(lambda: _without_errors(consumer.commit(offsets=list(places), asynchronous=False) or []))
        finally:
            consumer.close()

    def _end(self, partition: int) -> int:
        consumer = self._consumer()
        place = TopicPartition(self._topic, partition)
        try:
            return self._retried(lambda: consumer.get_watermark_offsets(place, _ASK_S, cached=False))[1]
        finally:
            consumer.close()

    def _is_ours(self, partition: int) -> bool:
        return OffsetMetadata.decode(self._committed()[partition].metadata or "") is not None

    def _retried(self, call: Callable[[], _Answer]) -> _Answer:
        return retried(call, despite=KafkaException, within_s=_WITHIN_S, every_s=_LOOK_EVERY_S)

    # the ledger

    def _ledger(self, partition: int) -> list[Record]:
        return [one for one in self._world.records("ledger") if one.partition == partition]

    def _write_ledger(self, partition: int, key: bytes, value: bytes | None) -> None:
        producer = Producer({"bootstrap.servers": self._world.kafka.bootstrap, "acks": "all", "log_level": 0})
        producer.produce(f"{DEPLOYMENT}.ledger", value, key, partition)
        if producer.flush(_WITHIN_S):
            raise RuntimeError("the ledger could not be written")

    # parked partitions

    def _parked(self) -> Mapping[int, str]:
        return self._world.fleet.parked()

    def _await_parked(self, partitions: Sequence[int], reason: ParkReason) -> None:
        self._await(
            lambda: all(self._parked().get(partition) == reason for partition in partitions),
            f"partitions {partitions} were not parked as {reason}",
        )

    def _release(self, partition: int) -> None:
        """Say it until it is heard: who parked it may have died since."""
        probe = ledger_probe(f"{DEPLOYMENT}.ledger", partition)

        def goes_on() -> bool:
            return partition not in self._parked()

        def release() -> None:
            self._write_ledger(partition, probe.key or b"", None)
            self._world.fleet.await_(goes_on, _RELEASE_AGAIN_S)

        if not comes(goes_on, within_s=_WITHIN_S, every_s=_LOOK_EVERY_S, meanwhile=release):
            raise RuntimeError(f"partition {partition} was released and stays parked")

    def _await(self, done: Callable[[], bool], otherwise: str) -> None:
        if not self._world.fleet.await_(done, _WITHIN_S):
            raise RuntimeError(f"{otherwise} within {_WITHIN_S} s; parked: {self._parked()}")


def _without_errors(places: Sequence[TopicPartition]) -> list[TopicPartition]:
    for one in places:
        if one.error is not None:
            raise KafkaException(one.error)
    return list(places)


def _rubbish(record: bytes, another: bytes) -> Sequence[bytes]:
    """Return what a record may be written over with: nothing that can be taken for its own."""
    major = int(STATE_VERSION.partition(".")[0])
    newer = msgspec.msgpack.encode(msgspec.msgpack.decode(record) | {"version": f"{major + 1}.0"})
    return b"", b"\xc1 rubbish", record[: len(record) // 2], another, newer
