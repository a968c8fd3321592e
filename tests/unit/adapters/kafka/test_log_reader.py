"""How long a reading of the log may stall is counted in polls alone, however long its reader takes for a record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

import caesura.worker.adapters.kafka.log_reader as adapter
from caesura.worker.adapters.kafka.log_reader import KafkaLogReader
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import BrokerError

STALL_S = 4.0


@dataclass
class Fetched:
    """A message as the binding hands it over."""

    at: int

    def offset(self) -> int:
        return self.at

    def leader_epoch(self) -> None:
        return None

    def error(self) -> None:
        return None

    def timestamp(self) -> tuple[int, int]:
        return 0, 0

    def headers(self) -> None:
        return None

    def key(self) -> bytes:
        return b"key"

    def value(self) -> bytes:
        return b"value"


@dataclass
class FiveAtATime:
    """A consumer that has so many records, five of them in each fetch; a poll in vain takes its time."""

    records: int
    now_s: float = 0.0
    at: int = field(default=0, init=False)

    def __call__(self, *_: object) -> Any:  # noqa: ANN401 - in place of the binding's class
        return self

    def assign(self, places: list[Any]) -> None:
        self.at = places[0].offset

    def poll(self, timeout_s: float) -> Fetched | None:
        if self.at >= self.records:
            self.now_s += timeout_s
            return None
        self.at += 1
        return Fetched(self.at - 1)

    def consume(self, _: int, __: float) -> list[Fetched]:
        found = [Fetched(at) for at in range(self.at, min(self.records, self.at + 4))]
        self.at += len(found)
        return found

    def close(self) -> None:
        pass

    def monotonic_s(self) -> float:
        return self.now_s


def reading(client: FiveAtATime, monkeypatch: pytest.MonkeyPatch) -> KafkaLogReader:
    monkeypatch.setattr(adapter, "new_client", client)
    settings = KafkaSettings(bootstrap_servers="localhost:9092")
    return KafkaLogReader(settings, monotonic_s=client.monotonic_s)


def test_a_reader_that_takes_long_for_each_record_reads_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    client = FiveAtATime(records=23)
    found = []
    for record in reading(client, monkeypatch).read("topic", 0, 0, 23, STALL_S):
        found.append(record.offset)
        client.now_s += 10 * STALL_S
    assert found == list(range(23))


def test_a_log_that_does_not_go_on_is_given_up_after_the_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    client = FiveAtATime(records=10)
    found = reading(client, monkeypatch).read("topic", 0, 0, 11, STALL_S)
    assert [next(found).offset for _ in range(10)] == list(range(10))
    with pytest.raises(BrokerError, match="stands at 10, not yet at 11"):
        next(found)
    assert STALL_S < client.now_s < STALL_S + 1.0
