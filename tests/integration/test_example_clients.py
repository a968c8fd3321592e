"""docs/clients: Java and Node read and write every golden example, and speak and listen through a real broker."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec
import pytest

from caesura.schemas.codec import decode_event, decode_segment, decode_tentative, decode_translation
from caesura.schemas.wire import WireFormat
from tests.harness.parts.example_clients import ExampleClient, find_client
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.lookup import NotFound, missing
from tests.harness.places import ROOT
from tests.harness.real_world import RealWorld

pytestmark = pytest.mark.timeout(900)
GOLDEN = sorted(path for path in (ROOT / "schemas" / "golden").glob("1.*/*.*") if path.suffix in {".msgpack", ".json"})
DECODE: dict[str, Callable[[bytes], msgspec.Struct]] = {
    "words": decode_event,
    "segment": decode_segment,
    "tentative": decode_tentative,
    "translation": decode_translation,
}
SPOKEN = "so um we want to go\nto boston i mean to denver\nnaïve 你好 tomorrow\n"


@pytest.fixture(params=["java", "node"])
def client(request: pytest.FixtureRequest) -> ExampleClient:
    try:
        return find_client(request.param)
    except NotFound as why:
        missing(str(why))


@contextmanager
def running(started: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def test_every_golden_example_is_read_and_written_again_in_both_forms(client: ExampleClient) -> None:
    with running(client.start("again", *map(str, GOLDEN))) as process:
        out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    told = [json.loads(line) for line in out.splitlines()]
    assert [one["file"] for one in told] == [str(path) for path in GOLDEN]
    assert len({path.suffix for path in GOLDEN}) == 2
    for path, one in zip(GOLDEN, told, strict=True):
        meant = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        decode = DECODE[path.name.partition(".")[0]]
        assert one["json"] == meant, path
        assert decode(base64.b64decode(one["msgpack"])) == decode(path.with_suffix(".msgpack").read_bytes()), path
    sure = {one["sure_text"] for one in told if "1.3/segment.sure." in one["file"]}
    assert sure == {"it's like really good"}, "neither the filler nor the stop was sure enough"


@pytest.mark.parametrize(
    ("client", "written"),
    [
        ("java", "msgpack"),
        ("node", "json"),
        pytest.param("java", "json", marks=pytest.mark.long),
        pytest.param("node", "msgpack", marks=pytest.mark.long),
    ],
    indirect=["client"],
)
def test_what_a_client_says_comes_back_to_it_as_segments(
    client: ExampleClient, kafka: Kafka, redis_url: str, deployment: str, written: str
) -> None:
    world = RealWorld(kafka, redis_url, deployment, partitions=3)  # no power of two: every bit of the hash counts
    sessions = {f"{deployment}-{wire}": wire for wire in ("msgpack", "json")}
    for session, wire in sessions.items():
        variables = {"CAESURA_TOPIC": world.words_topic}
        with running(client.start("speak", kafka.bootstrap, session, wire, variables=variables)) as process:
            _, errors = process.communicate(SPOKEN, timeout=300)
        assert process.returncode == 0, errors
        values = [one.value or b"" for one in world.records(world.words_topic) if one.key == session.encode()]
        assert {value[:1] == b"{" for value in values} == {wire == "json"}
        assert len(values) == len(SPOKEN.splitlines()) + 1

    worker = world.worker(wire_format=WireFormat(written))
    worker.turn_until(lambda: {one.session for one in world.segments() if one.session_end} == set(sessions))
    worker.worker.drain()
    assert {(one.value or b"")[:1] == b"{" for one in world.records(world.segments_topic)} == {written == "json"}
    assert world.records(world.dead_topic) == [], "the partitioner is Java's"

    heard: dict[str, list[str]] = {session: [] for session in sessions}
    ended: set[str] = set()
    with running(client.start("listen", kafka.bootstrap, f"{deployment}-reader", world.segments_topic)) as process:
        assert process.stdout is not None
        while ended != set(sessions):
            told = json.loads(process.stdout.readline())
            heard[told["session"]] += told["words"]
            ended |= {told["session"]} if told["session_end"] else set()
    assert heard == dict.fromkeys(sessions, SPOKEN.split())
