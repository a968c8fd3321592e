"""Brokers and a Redis that are silent for longer than every time-out: workers wait, alive, and go on by themselves.

Workers are the command, in processes of their own, asked over HTTP whether they live, as an orchestrator asks. The
silence outlasts the 30 s after which a loop that stands still counts as dead, and with them the 10 s of sessions and
transactions. Those 30 s are what the default settings make of it, so each of these tests takes a minute.
"""

from __future__ import annotations

import re
import signal
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from caesura.schemas.segments import Segment
from caesura.worker.embedded.guarded_process import free_port
from tests.harness.parts.kafka_broker import KafkaProcess
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.proxy import Link, Proxy
from tests.harness.parts.redis_part import RedisServer
from tests.harness.real_world import RealWorld
from tests.harness.rehearsal import Rehearsal, RunningWorker
from tests.harness.speech import check_every_word_once, event
from tests.harness.waiting import wait_until

pytestmark = pytest.mark.timeout(300)

_AWAY_S = 36.0
_SILENCE_MS = 3_000
"""After so long a session's timer is due: soon after the parts fell silent, in every partition."""
_NAMES = [f"ann-{number}" for number in range(160)]
_BEFORE = [event(name, 0, "we", "all", "wait") for name in _NAMES]
_AFTER = [event(name, 1, "until", "it", "is", "back", session_end=True) for name in _NAMES]

_LISTENERS = """
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=INNER://127.0.0.1:{inner},OUTER://127.0.0.1:{outer},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=INNER://127.0.0.1:{inner},OUTER://127.0.0.1:{advertised}
listener.security.protocol.map=INNER:PLAINTEXT,OUTER:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=INNER
group.initial.rebalance.delay.ms=3000
"""
"""A broker that workers reach through the proxy, and the test around it; a new group waits as long as by default."""


class Probes:
    """Asks workers whether they live, again and again, and keeps the status of every answer; 0: there was none."""

    def __init__(self, workers: Sequence[RunningWorker]) -> None:
        self.answers: Counter[int] = Counter()
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(one.port,), daemon=True) for one in workers]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, port: int) -> None:
        while not self._stopped.wait(0.25):
            self.answers[_status(port)] += 1


def _status(port: int) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/live", timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code
    except OSError:
        return 0


def test_unreachable_brokers_leave_workers_alive_and_words_come_once(
    redis_server: RedisServer, deployment: str, tmp_path: Path
) -> None:
    with Proxy() as proxy, _broker_behind(proxy) as (kafka, link):
        world = RealWorld(kafka, redis_server.url, deployment, partitions=40)
        with _two_workers(world, tmp_path, bootstrap=f"127.0.0.1:{link.port}") as workers:
            heard = [len(one.lines("rebalance")) for one in workers]
            with Probes(workers) as probes:
                link.stall(on=True)
                time.sleep(_AWAY_S)
                reasons = [one.reasons() for one in workers]
                link.stall(on=False)
                for one in workers:
                    one.wait_until_ready()
                world.send(*_AFTER)
                segments = _all_segments(world)
            assert set(probes.answers) == {200}
            assert all(reasons)
            for worker, before in zip(workers, heard, strict=True):
                since = Counter(str(line["kind"]) for line in worker.lines("rebalance")[before:])
                assert set(since.values()) <= {1}, since
            check_every_word_once([*_BEFORE, *_AFTER], segments)


def test_a_redis_that_is_silent_pauses_no_partition_and_holds_up_no_word(
    kafka: Kafka, redis_server: RedisServer, deployment: str, tmp_path: Path
) -> None:
    if not redis_server.owned:
        pytest.skip("this Redis is not ours to stop: unset REDIS_URL and have a redis-server on the PATH")
    world = RealWorld(kafka, redis_server.url, deployment, partitions=12)
    with _two_workers(world, tmp_path, bootstrap=kafka.bootstrap) as workers:
        heard = [one.lines("rebalance") for one in workers]
        with Probes(workers) as probes:
            redis_server.signal(signal.SIGSTOP)
            try:
                began_s = time.monotonic()
                world.send(*_AFTER)
                segments = _all_segments(world)
                time.sleep(max(0.0, began_s + _AWAY_S - time.monotonic()))
                reasons = [one.reasons() for one in workers]
                phases = _phases(workers)
            finally:
                redis_server.signal(signal.SIGCONT)
        assert set(probes.answers) == {200}
        assert not any(reasons)
        assert phases == {"loaded": 12}
        assert [one.lines("rebalance") for one in workers] == heard
        check_every_word_once([*_BEFORE, *_AFTER], segments)


@contextmanager
def _broker_behind(proxy: Proxy) -> Iterator[tuple[Kafka, Link]]:
    inner, outer, controller = free_port(), free_port(), free_port()
    link = proxy.link(outer)
    listeners = _LISTENERS.format(inner=inner, outer=outer, controller=controller, advertised=link.port)
    process = KafkaProcess(port=inner, settings=listeners)
    try:
        process.start()
        yield Kafka(process.bootstrap), link
    finally:
        process.close()


@contextmanager
def _two_workers(world: RealWorld, folder: Path, *, bootstrap: str) -> Iterator[tuple[RunningWorker, RunningWorker]]:
    """Run two workers that hold half of the partitions each, in all of which somebody has just fallen silent."""
    changes = {
        "CAESURA_KAFKA_BOOTSTRAP_SERVERS": bootstrap,
        "CAESURA_WORKER_INPUT_TOPIC": world.words_topic,
        "CAESURA_WORKER_SEGMENT_TOPIC": world.segments_topic,
        "CAESURA_WORKER_DEAD_LETTER_TOPIC": world.dead_topic,
        "CAESURA_DECODING_FLUSH_AFTER_MS": str(_SILENCE_MS),
        "CAESURA_DECODING_STALL_AFTER_MS": str(_SILENCE_MS),
    }
    rehearsal = Rehearsal(world.kafka, world.redis_url, world.deployment, folder, changes)
    with rehearsal.worker(0) as first, rehearsal.worker(1) as second:
        first.wait_until_ready()
        second.wait_until_ready()
        half = {"loaded": world.partitions // 2}
        wait_until(lambda: _phases([first]) == half == _phases([second]), lambda: f"{_phases([first, second])}")
        world.send(*_BEFORE)
        # More where a machine is so slow that silence has fallen, and has been saved too, before anybody looked.
        wait_until(lambda: _saved([first, second]) >= len(_BEFORE), lambda: f"{_saved([first, second])} are saved")
        yield first, second


def _all_segments(world: RealWorld) -> list[Segment]:
    """Wait until every session has ended, and return what came out."""
    return world.wait_for(lambda segments: sum(one.session_end for one in segments) == len(_NAMES), timeout_s=90.0)


def _saved(workers: Sequence[RunningWorker]) -> int:
    """Count what committed checkpoints have saved, session by session: one event each, until they fall silent."""
    lines = [line for worker in workers for line in worker.lines("checkpoint") if line["outcome"] == "committed"]
    return sum(int(str(line["sessions"])) for line in lines)


def _phases(workers: Sequence[RunningWorker]) -> dict[str, int]:
    """Return how many partitions the workers hold by phase, without phases that none is in."""
    found: Counter[str] = Counter()
    for worker in workers:
        with urllib.request.urlopen(f"http://127.0.0.1:{worker.port}/metrics", timeout=10) as answer:
            served = answer.read().decode()
        for phase, count in re.findall(r'^caesura_partitions\{phase="(\w+)"\} (\d+)', served, flags=re.MULTILINE):
            found[phase] += int(count)
    return {phase: count for phase, count in found.items() if count}
