"""Promise 5, told by the command itself: what ``caesura worker`` writes and serves, searched for a canary word."""

from __future__ import annotations

import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis

from caesura.worker.adapters.redis.session_store import partition_key
from caesura.worker.adapters.redis.settings import RedisSettings
from caesura.worker.embedded.guarded_process import free_port
from tests.harness.bad_events import bad_records
from tests.harness.command import CAESURA, outside, started
from tests.harness.parts.kafka_part import Kafka
from tests.harness.real_world import RealWorld
from tests.harness.speech import event, said
from tests.harness.waiting import wait_until

_CANARY = "zwieselhausen"


@pytest.mark.timeout(300)
def test_the_command_logs_serves_and_prints_nothing_that_was_said(
    kafka: Kafka, redis_url: str, deployment: str, tmp_path: Path
) -> None:
    world = RealWorld(kafka, redis_url, deployment, partitions=1)
    port = free_port()
    environ = _environ(world, port)
    output = tmp_path / "output"
    bad = [one for one in bad_records("bad", _CANARY) if not one.shift]
    world.send(event("ann", 0, _CANARY, "and", "on", session_end=True), event("ann", 1, _CANARY))
    for one in bad:
        world.send_bytes(one.key, one.value, partition=0)
    world.send(event("ben", 0, _CANARY, "last", session_end=True))
    with _command(environ, output) as worker:
        world.wait_for(lambda segments: sum(one.session_end for one in segments) == 2, timeout_s=120)
        served = [_served(port, path) for path in ("/metrics", "/started", "/live", "/ready")]
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0
    with redis.Redis.from_url(redis_url) as client:
        client.set(partition_key(deployment, world.words_topic, 0), _CANARY)
    with _command(environ, output) as worker:
        wait_until(lambda: b'"rebuilt"' in output.read_bytes(), output.read_text, within_s=90)
        worker.kill()
        worker.wait(60)
    assert said(world.segments()).count(_CANARY) == 2
    assert len(world.records(world.dead_topic)) == len(bad) + 1
    told = output.read_bytes()
    assert told.count(b'"dead_letter"') >= len(bad)
    assert b"caesura_dead_letters_total" in served[0]
    assert _CANARY.encode() not in b"".join((told, *served)).lower()


def _environ(world: RealWorld, port: int) -> dict[str, str]:
    address = RedisSettings.from_url(world.redis_url)
    return outside() | {
        "CAESURA_KAFKA_BOOTSTRAP_SERVERS": world.kafka.bootstrap,
        "CAESURA_REDIS_ADDRESSES": address.addresses[0],
        "CAESURA_REDIS_DATABASE": str(address.database),
        "CAESURA_WORKER_DEPLOYMENT": world.deployment,
        "CAESURA_WORKER_INPUT_TOPIC": world.words_topic,
        "CAESURA_WORKER_SEGMENT_TOPIC": world.segments_topic,
        "CAESURA_WORKER_DEAD_LETTER_TOPIC": world.dead_topic,
        "CAESURA_WORKER_HTTP_PORT": str(port),
    }


@contextmanager
def _command(environ: Mapping[str, str], output: Path) -> Iterator[subprocess.Popen[str]]:
    with (
        output.open("ab") as stream,
        started(*CAESURA, "worker", environ=environ, stdout=stream, stderr=subprocess.STDOUT) as process,
    ):
        yield process


def _served(port: int, path: str) -> bytes:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as refusal:
        return refusal.read()
