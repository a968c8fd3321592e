"""Whom a claim waits for where the committed offset is not to be had, and whose transaction it ends."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from caesura.schemas.checkpoint import CheckpointId, OffsetMetadata
from caesura.worker.errors import BrokerError, UnprovenOffsetError
from caesura.worker.ports.observer import Event, TookOver
from caesura.worker.runtime.ledger.stable_offset import StableOffset
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings

_PEER = OffsetMetadata(
    id=CheckpointId(3, 4, "0011223344556677"),
    topic="asr.words",
    partition=0,
    next_offset=0,
    replay_offset=0,
    transactional_id="caesura-7",
    partitions=1,
)

_OPEN = BrokerError("a transaction is open")
_UNPROVEN = UnprovenOffsetError("there is no topic caesura.claims")


class _Kafka:
    """Answers no question for an offset but with one error, and keeps whose transactions were ended."""

    def __init__(self, error: BrokerError) -> None:
        self.error = error
        self.now_s = 0.0
        self.ended: list[str] = []
        self.told: list[Event] = []

    def committed(self, partitions: list[int], timeout_s: float, *, leave: Callable[[str], str]) -> None:
        del partitions, timeout_s, leave
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


def _offset(kafka: _Kafka) -> StableOffset:
    parts = SimpleNamespace(source=kafka, clock=kafka, peers=kafka, observer=kafka)
    return StableOffset(0, cast("RuntimeAdapters", cast("Any", parts)), RuntimeSettings(takeover_after_ms=15_000))


def _waited(kafka: _Kafka, offset: StableOffset, seconds: int) -> None:
    for _ in range(seconds):
        with pytest.raises(BrokerError):
            offset.read(str)
        kafka.now_s += 1.0


def test_a_transaction_that_stays_open_for_long_is_ended() -> None:
    kafka = _Kafka(_OPEN)
    _waited(kafka, _offset(kafka), 20)
    assert kafka.ended == ["caesura-7"]
    assert kafka.told == [TookOver(partition=0, transactional_id="caesura-7")]


def test_who_cannot_show_that_its_answer_counts_has_nobodys_transaction_ended() -> None:
    kafka = _Kafka(_UNPROVEN)
    _waited(kafka, _offset(kafka), 60)
    assert (kafka.ended, kafka.told) == ([], [])


def test_time_without_an_open_transaction_does_not_count() -> None:
    kafka = _Kafka(_OPEN)
    offset = _offset(kafka)
    for error in (_OPEN, _UNPROVEN, _OPEN):
        kafka.error = error
        _waited(kafka, offset, 10)
    assert kafka.ended == []
