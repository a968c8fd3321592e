"""The runbook, rehearsed: its own command blocks, and workers started by the command, on real parts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import ConsumerGroupTopicPartitions, Producer

from caesura.schemas.codec import decode_segment, encode_event
from caesura.schemas.events import WordsEvent
from caesura.schemas.segments import Segment
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.redis.settings import RedisSettings
from caesura.worker.checks.topic_plan import wanted_topics
from caesura.worker.embedded.guarded_process import free_port
from caesura.worker.settings.tree import SettingSources, load_settings
from tests.harness.command import outside
from tests.harness.forked import Forked, command
from tests.harness.parts.committed import committed_records
from tests.harness.parts.kafka_part import Kafka
from tests.harness.places import DOCS, ROOT
from tests.harness.shipped_models import ENGLISH, one_model
from tests.harness.waiting import wait_until

_DEADLINE_S = 120.0
_SHIM = f'#!/bin/sh\nexec "{sys.executable}" -c "from caesura.worker.cli import main; main()" "$@"\n'


def blocks(section: str) -> list[str]:
    """Return the commands of a section of the runbook, as they stand there."""
    text = (DOCS / "operations.md").read_text()
    parts = re.split(r"^#{2,3} (.+)$", text, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    return re.findall(r"^```sh\n(.*?)^```", sections[section], flags=re.MULTILINE | re.DOTALL)


@dataclass
class Rehearsal:
    """One deployment on a real Kafka and Redis. What the runbook calls ``asr.`` has names of its own here."""

    kafka: Kafka
    redis_url: str
    deployment: str
    folder: Path
    changes: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.folder / "bin").mkdir(parents=True, exist_ok=True)
        shim = self.folder / "bin" / "caesura"
        shim.write_text(_SHIM)
        shim.chmod(0o755)

    def topic(self, name: str) -> str:
        return f"{self.deployment}.{name}"

    @property
    def settings(self) -> dict[str, str]:
        redis = RedisSettings.from_url(self.redis_url)
        return {
            "CAESURA_KAFKA_BOOTSTRAP_SERVERS": self.kafka.bootstrap,
            "CAESURA_REDIS_ADDRESSES": redis.addresses[0],
            "CAESURA_REDIS_DATABASE": str(redis.database),
            "CAESURA_WORKER_DEPLOYMENT": self.deployment,
            "CAESURA_WORKER_INPUT_TOPIC": self.topic("asr.words"),
            "CAESURA_WORKER_SEGMENT_TOPIC": self.topic("asr.segments"),
            "CAESURA_WORKER_DEAD_LETTER_TOPIC": self.topic("asr.words.dead"),
            "CAESURA_WORKER_MODELS_DIR": str(one_model(ENGLISH)),
            # A slow machine's pauses between commands are no silence.
            "CAESURA_DECODING_FLUSH_AFTER_MS": "10000",
            "CAESURA_DECODING_STALL_AFTER_MS": "10000",
            **self.changes,
        }

    def follow(self, section: str, number: int = 0) -> str:
        """Run a block of the runbook, its names made this deployment's own, and return what it printed."""
        block = blocks(section)[number]
        for name in ("asr.", "translate.", "DEPLOYMENT="):
            own = f"{name}{self.deployment}-" if name == "DEPLOYMENT=" else f"{self.deployment}.{name}"
            block = block.replace(name, own)
        return self.shell(block)

    def shell(self, commands: str) -> str:
        """Run commands with the deployment's settings; the test fails where one fails."""
        clean = outside()
        path = f"{self.folder / 'bin'}:{clean['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],  # noqa: S607
            cwd=ROOT,
            env={**clean, **self.settings, "PATH": path, "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def run(self, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; the test fails where its exit status is another."""
        environ = {**outside(), **self.settings, "CAESURA_WORKER_HTTP_PORT": "0", "NO_COLOR": "1"}
        with closing(command(*arguments, environ=environ)) as running:
            ended = running.wait(timeout_s=60)
            done = subprocess.CompletedProcess(arguments, ended, running.stdout, running.stderr)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    def until(self, holds: Callable[[str], bool], *arguments: str) -> str:
        """Run a command until what it prints satisfies a condition; return that. The test fails where it never does."""
        return wait_until(
            lambda: shown if holds(shown := self.run(*arguments).stdout) else "", f"{arguments}", within_s=60
        )

    def make_topics(self, partitions: int = 12) -> None:
        """Make the topics that ``caesura topics create`` makes, without its process."""
        settings = load_settings(SettingSources(environ=self.settings)).worker
        wanted = wanted_topics(settings, partitions=partitions)
        self.kafka.create_topics_named({topic.name: topic.options for topic in wanted}, partitions)

    def say(self, *events: WordsEvent, partitioner: str = "murmur2_random") -> None:
        """Send word events. partitioner: librdkafka's name of it."""
        self.send(*((encode_event(one), one.session.encode()) for one in events), partitioner=partitioner)

    def send(self, *records: tuple[bytes | None, bytes | None], partitioner: str = "murmur2_random") -> None:
        """Send values with their keys to the input topic."""
        producer = Producer({"bootstrap.servers": self.kafka.bootstrap, "partitioner": partitioner})
        for value, key in records:
            producer.produce(self.settings["CAESURA_WORKER_INPUT_TOPIC"], value, key)
        assert producer.flush(30) == 0

    def values(self, topic: str) -> list[bytes]:
        """Return the committed values of a topic, partition by partition."""
        settings = KafkaSettings(bootstrap_servers=self.kafka.bootstrap, group_id=f"{self.deployment}-outside")
        return [record.value or b"" for record in committed_records(self.kafka.admin, settings, self.topic(topic))]

    def segments(self, topic: str = "asr.segments") -> list[Segment]:
        """Return the committed segments of a topic, partition by partition."""
        return [decode_segment(value) for value in self.values(topic)]

    def committed(self) -> int:
        """Return how many events are committed, of all partitions."""
        asked = self.kafka.admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(self.deployment)])
        (answer,) = asked.values()
        return sum(max(0, one.offset) for one in answer.result(30).topic_partitions)

    @contextmanager
    def worker(self, ordinal: int = 0, *, settings: Mapping[str, str] | None = None) -> Iterator[RunningWorker]:
        """Run ``caesura worker`` until the end of the block; then it must end well when it is told to."""
        port = free_port()
        environ = {**outside(), **self.settings, **(settings or {})}
        environ |= {"CAESURA_WORKER_ORDINAL": str(ordinal), "CAESURA_WORKER_HTTP_PORT": str(port)}
        with closing(command("worker", environ=environ)) as process:
            running = RunningWorker(process, port)
            yield running
            if process.lives:
                running.stop()


@dataclass(frozen=True, slots=True)
class RunningWorker:
    """A worker in a process of its own."""

    process: Forked
    port: int

    @property
    def log(self) -> str:
        """Return what it has logged so far."""
        return self.process.stdout

    def tail(self) -> str:
        """Return the log's end, for a test that failed."""
        return self.log[-3000:]

    def wait_until_ready(self) -> None:
        def reached() -> bool:
            assert self.process.lives, f"it has ended: {self.tail()}"
            return self.reasons() == []

        wait_until(reached, lambda: f"not ready: {self.reasons()}\n{self.tail()}", within_s=_DEADLINE_S)

    def reasons(self) -> list[str] | None:
        """Return why it is not ready, or None where it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/ready", timeout=5) as answer:
                return list(json.load(answer)["reasons"])
        except urllib.error.HTTPError as error:
            return list(json.load(error)["reasons"])
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return None

    def lines(self, event: str) -> list[dict[str, object]]:
        """Return the log's lines of one event."""
        found = [json.loads(line) for line in self.log.splitlines() if line.startswith("{")]
        return [line for line in found if line.get("event") == event]

    def stop(self) -> None:
        """Stop it as an orchestrator does; the test fails where it does not end well."""
        assert self.process.terminate(timeout_s=_DEADLINE_S) == 0, self.tail()
