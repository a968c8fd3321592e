"""A worker process that a test stops and continues with signals: it does one step for each name that it is sent.

Its answer to each step is ``done``, or the name of the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from multiprocessing.connection import Connection

from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.errors import CaesuraError
from caesura.worker.ports.records import NextOffset, OutMessage
from tests.harness.waiting import comes

PATIENCE_S = 60.0


class Zombie:
    """Reads one partition and copies it in one transaction, step by step."""

    def __init__(self, source: KafkaWordSource, publisher: KafkaPublisher, output: str) -> None:
        self._source, self._publisher, self._output = source, publisher, output
        self._membership = source.membership()
        self._held: list[int] = []

    def on_assigned(self, partitions: Sequence[int]) -> None:
        self._held += partitions

    def on_revoked(self, partitions: Sequence[int]) -> None:
        self.on_lost(partitions)

    def on_lost(self, partitions: Sequence[int]) -> None:
        self._held = [partition for partition in self._held if partition not in partitions]

    def join(self) -> None:
        self._publisher.init_transactions(PATIENCE_S)
        self._source.subscribe(self)
        comes(lambda: self._held, within_s=PATIENCE_S, every_s=0, meanwhile=lambda: self._source.poll(1, 0.1))
        self._membership = self._source.membership()

    def publish(self) -> None:
        self._publisher.begin()
        self._publisher.publish(OutMessage(topic=self._output, partition=0, key=None, value=b"of the zombie"))

    def offsets(self) -> None:
        self._publisher.send_offsets({0: NextOffset(next_offset=1, metadata="zombie")}, self._membership, PATIENCE_S)

    def commit(self) -> None:
        self._publisher.commit(PATIENCE_S)


def main(
    steps: Connection, settings: KafkaSettings, transactional_id: str, topic: str, claims: str, output: str
) -> None:
    zombie = Zombie(KafkaWordSource(settings, topic, claims), KafkaPublisher(settings, transactional_id, topic), output)
    while True:
        try:
            getattr(zombie, steps.recv())()
            answer = "done"
        except CaesuraError as error:
            answer = type(error).__name__
        steps.send(answer)
