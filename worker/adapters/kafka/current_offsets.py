"""Reads a group's committed offsets from the current coordinator, never from a former one (ADR 0047).

A broker that stood still for longer than its session (a long collection, a frozen machine) goes on as the group's
coordinator when it wakes, until it hears of its successor. For some tenths of a second it returns old offsets as stable
ones; a worker that trusts them repeats a committed transaction. So a read writes first: it commits a **probe**, an
offset of the claims topic with a fresh string in its metadata. An answer counts only if it has that string. All offsets
of a group are in one log, so a broker that has the probe has all earlier commits. A former coordinator cannot commit,
because no replica follows it.

After the string stands what a claim leaves for the next one. A mere read keeps it as it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from uuid import uuid4

from confluent_kafka import Consumer, TopicPartition

from caesura.worker.errors import UnprovenOffsetError

_TRIES = 10
_AGAIN_S = 0.02
"""A group that is being rebalanced, or a coordinator just found, is through by then; who was expelled must poll."""


class CurrentOffsets:
    """Reads as a member of the group. probes: a topic with at least as many partitions as ``topic``.

    refused: what the broker said of the last write that it refused, which is heard when the member polls.
    """

    def __init__(self, consumer: Consumer, topic: str, probes: str) -> None:
        self._consumer = consumer
        self._topic = topic
        self._probes = probes
        self._name = uuid4().hex
        self._writes = 0
        self.refused = ""

    def read(
        self, partitions: Sequence[int], timeout_s: float, leave: Callable[[str], str] | None = None
    ) -> list[TopicPartition]:
        """Return the offsets, none older than the call; ``leave`` as ``WordSource.committed`` has it.

        BrokerError: nobody answers, or a transaction is open. UnprovenOffsetError: no coordinator shows that it counts,
        or we are no member of the group: poll, and ask again.
        """
        if not partitions:
            return []
        asked = [TopicPartition(self._topic, partition) for partition in partitions]
        probe, words = min(partitions), set[str]()
        ends_at_s = time.monotonic() + timeout_s
        while len(words) < _TRIES:
            if len(words) > 1:
                time.sleep(_AGAIN_S)
            # Asked first: a commit that nobody answers keeps the member from leaving (librdkafka 2.16).
            left_s = max(0.0, ends_at_s - time.monotonic())
            answers = self._consumer.committed([*asked, TopicPartition(self._probes, probe)], left_s)
            found = next((one.metadata or "" for one in answers if one.topic == self._probes), "")
            if found in words:
                self.refused = ""
                return [one for one in answers if one.topic == self._topic]
            _, _, left = found.partition(" ")
            words.add(self._write(probe, left if leave is None else leave(left)))
        raise UnprovenOffsetError(
            "reading committed offsets: the group's coordinator did not show what had just been committed to "
            f"{self._probes} [{probe}]: {self.refused or 'it is one no longer, or this is no member'}"
        )

    def _write(self, probe: int, left: str) -> str:
        """Commit a new word, and return it. It is not waited for: a commit knows no time-out in librdkafka (2.16)."""
        self._writes += 1
        word = f"{self._name}-{self._writes} {left}"
        self._consumer.commit(offsets=[TopicPartition(self._probes, probe, 0, metadata=word)], asynchronous=True)
        return word
