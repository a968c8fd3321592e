"""Whom a claim waits for where the committed offset is not to be had, and whose transaction it ends."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from schemas.checkpoint import CheckpointId, OffsetMetadata
from worker.errors import BrokerError, UnprovenOffsetError
from worker.ports.observer import Event, TookOver
from worker.runtime.parts import RuntimeParts
from worker.runtime.settings import RuntimeSettings
from worker.runtime.stable_offset import StableOffset

_PEER = OffsetMetadata(
    id=CheckpointId(3, 4, "0011223344556677"), replay_offset=0, transactional_id="caesura-7", partitions=1
)


class _Kafka:
    """Answers no question for an offset but with one error, and keeps whose transactions were ended."""

    def __init__(self, error: BrokerError) -> None:
        self.error = error
        self.now_s = 0.0
        self.ended: list[str] = []
        self.told: list[Event] = []

    def committed(self, partitions: list[int], timeout_s: float) -> None:
        del partitions, timeout_s
        raise self.error

    def monotonic_s(self) -> float:
        return self.now_s

    def committed_metadata(self, timeout_s: float) -> dict[int, str]:
        del timeout_s
        return {0: _PEER.encode()}

    def end(self, transactional_id: str, timeout_s: float) -> None:
        del timeout_s
        self.ended.append(transactional_id)

    def note(self, event: Event) -> None:
        self.told.append(event)


def _waited(kafka: _Kafka, seconds: int) -> None:
    parts = SimpleNamespace(source=kafka, clock=kafka, peers=kafka, observer=kafka)
    settings = RuntimeSettings(takeover_after_ms=15_000)
    offset = StableOffset(0, cast("RuntimeParts", cast("Any", parts)), settings)
    for _ in range(seconds):
        with pytest.raises(BrokerError):
            offset.read()
        kafka.now_s += 1.0


def test_a_transaction_that_stays_open_for_long_is_ended() -> None:
    kafka = _Kafka(BrokerError("a transaction is open"))
    _waited(kafka, 20)
    assert kafka.ended == ["caesura-7"]
    assert kafka.told == [TookOver(partition=0, transactional_id="caesura-7")]


def test_who_cannot_show_that_its_answer_counts_has_nobodys_transaction_ended() -> None:
    kafka = _Kafka(UnprovenOffsetError("there is no topic caesura.claims"))
    _waited(kafka, 60)
    assert (kafka.ended, kafka.told) == ([], [])
