"""The README holds: its Python runs, its links lead somewhere, its commands exist."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer

from caesura.schemas.codec import decode_event
from caesura.worker.embedded.mock_cluster import mock_cluster
from tests.harness.places import PAGES, ROOT
from tests.harness.waiting import wait_until

pytestmark = pytest.mark.slow

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def servers() -> Iterator[str]:
    """A cluster with the README's topics."""
    with mock_cluster(["asr.words", "translate.fr"]) as bootstrap:
        yield bootstrap


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_producers_events_are_read(servers: str) -> None:
    producing, _ = blocks("python")
    exec(compile(producing.replace("localhost:9092", servers), "README.md", "exec"), {})  # noqa: S102 - it is the test
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "test", "auto.offset.reset": "earliest"})
    consumer.subscribe(["asr.words"])
    values: list[bytes] = []

    def read_one() -> None:
        if (message := consumer.poll(0.1)) and (value := message.value()):
            values.append(value)

    wait_until(lambda: len(values) == 10, within_s=60, every_s=0, meanwhile=read_one)
    consumer.close()
    events = [decode_event(value) for value in values]
    assert [event.seq for event in events] == list(range(10))
    assert [word.text for event in events for word in event.words][-1] == "friday"


def test_the_consumer_prints_a_route(servers: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, consuming = blocks("python")
    producer = Producer({"bootstrap.servers": servers})
    producer.produce("translate.fr", (ROOT / "schemas/golden/1.2/translation.silence.msgpack").read_bytes())
    producer.flush()
    polls = consuming.replace("localhost:9092", servers).replace("while True:", "for _ in range(10):")
    exec(compile(polls, "README.md", "exec"), {})  # noqa: S102
    assert capsys.readouterr().out == "room-4 It's really good\n"


def test_the_first_lines_are_what_the_command_prints() -> None:
    found = re.search(r'\$ echo "(.+?)" \\\n +\| \.venv/bin/caesura (.+)\n(.+)\n', blocks("console")[0])
    assert found is not None
    done = subprocess.run(
        [sys.executable, "-m", "caesura", *found[2].split()],
        cwd=ROOT,
        input=found[1] + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stdout == found[3] + "\n"


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set()
    for page in PAGES:
        named |= set(re.findall(r"(?:`|^)make ([a-z][a-z-]*)", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert named - targets == set()
