"""A process that was stopped past its session and then continued commits nothing, whatever it was about to do."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Literal

import pytest

from caesura.worker.adapters.kafka.settings import KafkaSettings
from tests.contract.zombie import main
from tests.harness.clusters import RealCluster
from tests.harness.forked import FORKING
from tests.harness.group_member import PATIENCE_S, Member, until
from tests.harness.parts.kafka_part import Kafka

REFUSED = {"OutcomeUnknownError", "FencedError", "AbortableError"}
"""Which of them depends on what the process meets first: its own clock, the coordinator, or a record given up."""


class StoppedProcess:
    """The other end of ``zombie.main``."""

    def __init__(self, settings: KafkaSettings, *names: str) -> None:
        self._connection, end = FORKING.Pipe()
        self._process = FORKING.Process(target=main, args=(end, settings, *names), daemon=True)
        self._process.start()

    def step(self, name: str, *polling: Member) -> str:
        """Have a step taken and return its answer; the members poll meanwhile, for it may outlast their interval."""
        self._connection.send(name)
        until(lambda: self._connection.poll(0.02), *polling)
        return str(self._connection.recv())

    def signal(self, number: int) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._connection.close()


@contextmanager
def a_stopped_owner(
    kafka: Kafka, protocol: Literal["classic", "consumer"], *steps: str
) -> Iterator[tuple[StoppedProcess, RealCluster, str]]:
    """Start the process, let it take its steps, and stop it; it owns the only partition."""
    with ExitStack() as clients:
        cluster = RealCluster(kafka, protocol, 1, clients)
        output = cluster.output()
        process = StoppedProcess(
            replace(cluster.settings(), transaction_timeout_ms=1_500),
            f"{cluster.deployment}-zombie",
            cluster.topic,
            cluster.claims,
            output,
        )
        clients.callback(process.end)
        assert [process.step(step) for step in steps] == ["done"] * len(steps)
        process.signal(signal.SIGSTOP)
        yield process, cluster, output


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_an_owner_stopped_before_its_offsets_commits_nothing(
    kafka: Kafka, protocol: Literal["classic", "consumer"]
) -> None:
    with a_stopped_owner(kafka, protocol, "join", "publish") as (zombie, cluster, output):
        cluster.append("a word")
        heir = Member(cluster.source())
        until(lambda: heir.held == {0}, heir)
        zombie.signal(signal.SIGCONT)
        assert zombie.step("offsets", heir) in REFUSED
        assert zombie.step("commit", heir) in REFUSED
        assert cluster.visible(output) == []
        assert heir.committed() is None


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_an_owner_stopped_after_its_offsets_commits_nothing(
    kafka: Kafka, protocol: Literal["classic", "consumer"]
) -> None:
    with a_stopped_owner(kafka, protocol, "join", "publish", "offsets") as (zombie, cluster, output):
        cluster.append("a word")
        heir = Member(cluster.source())
        until(lambda: bool(heir.records), heir)
        zombie.signal(signal.SIGCONT)
        assert zombie.step("commit", heir) in REFUSED
        assert cluster.visible(output) == []
        assert heir.values() == ["a word"]
        assert heir.committed() is None


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_new_owner_that_takes_the_id_over_need_not_wait(
    kafka: Kafka, protocol: Literal["classic", "consumer"]
) -> None:
    with a_stopped_owner(kafka, protocol, "join", "publish", "offsets") as (zombie, cluster, output):
        heir = Member(cluster.source(), claims=False)
        until(lambda: heir.held == {0}, heir)
        cluster.publisher("zombie").init_transactions(PATIENCE_S)
        assert heir.committed() is None
        zombie.signal(signal.SIGCONT)
        assert zombie.step("commit", heir) in REFUSED
        assert cluster.visible(output) == []
