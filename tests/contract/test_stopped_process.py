"""A process that was stopped past its session and then continued commits nothing, whatever it was about to do."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Literal

import pytest

from tests.harness.clusters import RealCluster
from tests.harness.group_member import PATIENCE_S, Member, until
from tests.harness.parts.kafka_part import Kafka

REFUSED = {"OutcomeUnknownError", "FencedError", "AbortableError"}
"""Which of them depends on what the process meets first: its own clock, the coordinator, or a record given up."""

SCRIPT = Path(__file__).with_name("zombie.py")


class StoppedProcess:
    """The other end of ``zombie.py``."""

    def __init__(self, arguments: list[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(SCRIPT), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={"PYTHONPATH": str(SCRIPT.parents[2])},
        )

    def step(self, name: str, *polling: Member) -> str:
        """Have a step taken and return its answer; the members poll meanwhile, for it may outlast their interval."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{name}\n")
        self._process.stdin.flush()
        with ThreadPoolExecutor(1) as thread:
            answer = thread.submit(self._process.stdout.readline)
            until(answer.done, *polling)
            return answer.result().strip()

    def stop(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def a_stopped_owner(
    kafka: Kafka, protocol: Literal["classic", "consumer"], *steps: str
) -> Iterator[tuple[StoppedProcess, RealCluster, str]]:
    """Start the process, let it take its steps, and stop it; it owns the only partition."""
    with ExitStack() as clients:
        cluster = RealCluster(kafka, protocol, 1, clients)
        output = cluster.output()
        arguments = [
            kafka.bootstrap,
            protocol,
            cluster.deployment,
            f"{cluster.deployment}-zombie",
            cluster.topic,
            cluster.claims,
        ]
        process = StoppedProcess([*arguments, output])
        clients.callback(process.end)
        assert [process.step(step) for step in steps] == ["done"] * len(steps)
        process.stop()
        yield process, cluster, output


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_an_owner_stopped_before_its_offsets_commits_nothing(
    kafka: Kafka, protocol: Literal["classic", "consumer"]
) -> None:
    with a_stopped_owner(kafka, protocol, "join", "publish") as (zombie, cluster, output):
        cluster.append("a word")
        heir = Member(cluster.source())
        until(lambda: heir.held == {0}, heir)
        zombie.go_on()
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
        zombie.go_on()
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
        zombie.go_on()
        assert zombie.step("commit", heir) in REFUSED
        assert cluster.visible(output) == []
