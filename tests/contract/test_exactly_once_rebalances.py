"""Words pass once and in order while members join, leave, are expelled and go on: with the ports alone.

The workers here are the smallest that keep the rules of the ports: they hold nothing but offsets, and their output is
their input. What the commit protocol with Redis adds is tested where the runtime is.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from caesura.worker.errors import AbortableError, BrokerError, FencedError, OutcomeUnknownError, UnprovenOffsetError
from caesura.worker.ports.records import NextOffset, OutMessage
from tests.harness.clusters import Cluster
from tests.harness.group_member import ASK_S, PATIENCE_S, Member, until

PARTITIONS = 6
RECORDS = 150


class Worker(Member):
    """Copies its partitions to the output in transactions, and aborts some of them on a whim."""

    def __init__(self, cluster: Cluster, output: str, number: int) -> None:
        self._publisher = cluster.publisher(f"worker-{number}")
        self._publisher.init_transactions(PATIENCE_S)
        self._output = output
        self._whim = random.Random(number)
        self._lost = False
        self.holds_back = False
        super().__init__(cluster.source())
        self.max_records = 20
        self.on_revoke = self._finish

    def step(self) -> None:
        super().step()
        if self._lost:
            self._lost = False
            self._claim_again()
        if self.records and not self.holds_back:
            self.checkpoint(abort=self._whim.random() < 0.2)

    def on_lost(self, partitions: Sequence[int]) -> None:
        super().on_lost(partitions)
        self.records.clear()
        self._lost = True

    def stop(self) -> None:
        self.source.close()
        self._publisher.close()

    def _finish(self, partitions: Sequence[int]) -> None:
        del partitions
        self.checkpoint(abort=False)

    def checkpoint(self, *, abort: bool) -> None:
        """Publish what was read; where that fails, or on a whim, go back to what is committed."""
        staged = [record for record in self.records if record.partition in self.held]
        self.records.clear()
        if not staged:
            return
        try:
            self._publisher.begin()
            for record in staged:
                message = OutMessage(topic=self._output, partition=record.partition, key=None, value=record.value)
                self._publisher.publish(message)
            offsets = {record.partition: NextOffset(next_offset=record.offset + 1, metadata="") for record in staged}
            self._publisher.send_offsets(offsets, self.source.membership(), PATIENCE_S)
            if not abort:
                self._publisher.commit(PATIENCE_S)
                return
            self._publisher.abort(PATIENCE_S)
        except (AbortableError, FencedError):
            self._publisher.abort(PATIENCE_S)
        except OutcomeUnknownError:
            self._publisher.rebuild(PATIENCE_S)
        self._lost = True

    def _claim_again(self) -> None:
        self.records.clear()  # an abort does not rewind: what was read since is behind a gap
        try:
            found = self.source.committed(sorted(self.held), ASK_S)
        except BrokerError:  # expelled: it hears of that when it polls
            self._lost = True
            return
        for partition, offset in found.items():
            try:
                self.source.seek(partition, 0 if offset is None else offset.next_offset)
                self.source.resume([partition])
            except BrokerError:  # it was given away meanwhile
                continue


def fill(cluster: Cluster) -> list[str]:
    values = [str(number) for number in range(RECORDS)]
    for partition in range(PARTITIONS):
        cluster.append(*values, partition=partition)
    return values


def seen(cluster: Cluster, output: str) -> int:
    return sum(len(cluster.visible(output, partition)) for partition in range(PARTITIONS))


def all_read(observer: Worker) -> bool:
    """Tell whether all is committed; not yet, where the observer is no member at the moment and has to poll first."""
    try:
        offsets = observer.source.committed(range(PARTITIONS), PATIENCE_S).values()
    except UnprovenOffsetError:
        return False
    return all(offset is not None and offset.next_offset >= RECORDS for offset in offsets)


def test_words_come_once_while_two_workers_join_and_one_leaves(six_partitions: Cluster) -> None:
    cluster = six_partitions
    output, values = cluster.output(), fill(cluster)
    workers = [Worker(cluster, output, 0)]
    until(lambda: seen(cluster, output) > 0, *workers)
    workers += [Worker(cluster, output, 1), Worker(cluster, output, 2)]
    until(lambda: all(len(worker.held) == 2 for worker in workers), *workers)
    workers.pop(0).stop()
    until(lambda: all_read(workers[0]), *workers)
    assert [cluster.visible(output, partition) for partition in range(PARTITIONS)] == [values] * PARTITIONS


def test_one_that_was_expelled_in_mid_step_commits_nothing_of_what_it_had_read(six_partitions: Cluster) -> None:
    cluster = six_partitions
    output, values = cluster.output(), fill(cluster)
    zombie, heir = Worker(cluster, output, 0), Worker(cluster, output, 1)
    zombie.holds_back = True
    until(lambda: len(zombie.held) == len(heir.held) == 3 and bool(zombie.records), zombie, heir)
    cluster.expel(zombie, heir)
    until(lambda: len(heir.held) == 6, heir)
    zombie.holds_back = False
    zombie.checkpoint(abort=False)
    until(lambda: all_read(heir), zombie, heir)
    assert [cluster.visible(output, partition) for partition in range(PARTITIONS)] == [values] * PARTITIONS
