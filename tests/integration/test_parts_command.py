"""``make parts``: what it prints is all that a worker needs to be told of Kafka and Redis."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.harness.command import caesura, outside
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.redis_part import RedisServer
from tests.harness.places import ROOT

pytestmark = pytest.mark.timeout(300)


def test_the_printed_variables_are_enough_for_topics_and_check(kafka: Kafka, redis_of_the_run: RedisServer) -> None:
    given = {"KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap, "REDIS_URL": redis_of_the_run.url}
    command = [sys.executable, "-m", "tests.harness.parts"]
    with subprocess.Popen(command, cwd=ROOT, env=outside() | given, stdout=subprocess.PIPE, text=True) as parts:
        assert parts.stdout is not None
        lines = [parts.stdout.readline().removeprefix("export ").strip() for _ in range(4)]
        exported = dict(line.split("=", 1) for line in lines)
        ours = {name: value for name, value in exported.items() if name.startswith("CAESURA_")}
        try:
            made = caesura("topics", "create", "--partitions", "1", "--replication", "1", **ours)
            assert made.returncode == 0, made.stdout + made.stderr
            checked = caesura("check", **ours)
            assert checked.returncode == 0, checked.stdout + checked.stderr
        finally:
            parts.send_signal(signal.SIGINT)
        assert parts.wait(60) == 0
    assert exported.keys() - ours.keys() == given.keys()
