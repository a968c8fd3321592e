"""A part of the world that is gone when a run is over is a complaint, and what is still there is checked."""

from __future__ import annotations

from confluent_kafka import KafkaError, KafkaException
from typing_extensions import override

from caesura.worker.errors import StoreError
from caesura.worker.ports.records import Record
from tests.chaos.kept import Kept
from tests.chaos.left import left_by
from tests.chaos.plan import Plan
from tests.chaos.world import ChaosWorld
from tests.harness.checker import Output
from tests.harness.reference import output_of


class Ruin(ChaosWorld):
    """A world of which nothing was ever started: no Redis, and brokers only where it is said."""

    def __init__(self, *, brokers: bool) -> None:
        super().__init__(Plan(seed=1, faults=0))
        self._brokers_live = brokers

    @override
    def records(self, name: str) -> list[Record]:
        if not self._brokers_live:
            raise KafkaException(KafkaError(KafkaError._ALL_BROKERS_DOWN))
        return []

    @override
    def output(self) -> Output:
        return output_of(self.records("segments"), self.records("de"), self.records("dead"))

    @override
    def kept(self) -> Kept:
        raise StoreError("nobody answers")


def test_where_redis_is_gone_the_output_is_still_checked() -> None:
    complaints: list[str] = []
    left = left_by(Ruin(brokers=True), complaints)
    assert left is not None
    assert left.kept is None
    assert complaints == ["what is kept could not be read, and is not checked: nobody answers"]


def test_where_the_brokers_are_gone_nothing_is_checked_and_that_is_said() -> None:
    complaints: list[str] = []
    assert left_by(Ruin(brokers=False), complaints) is None
    (complaint,) = complaints
    assert "nothing is checked" in complaint
