"""The image, built by a container engine from its own recipe and run as the chart confines it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from websockets.sync.client import connect

from caesura.worker.embedded.guarded_process import free_port
from tests.deploy.containers.engine import CONFINED, Engine, EngineFailed, running
from tests.deploy.containers.machine import changes_of, machine
from tests.harness.parts.certificates import Certificates
from tests.harness.parts.secured_parts import PASSWORD, USER, SecuredKafka, SecuredRedis, secured_redis
from tests.harness.places import ROOT
from tests.harness.waiting import wait_until

pytestmark = pytest.mark.timeout(1800)

_BESIDE_THE_BASE_MB = 450
_SAID = "so we begin with the um numbers for october\n"
_READY_S = 90.0
_PARTS = "/opt/caesura/lib/python3.11/site-packages"


@pytest.fixture
def redis_behind_tls(certificates: Certificates, deployment: str) -> Iterator[SecuredRedis]:
    """A Redis whose one user has the chart's ACL rule for this deployment."""
    with secured_redis(certificates, user=USER, password=PASSWORD, deployment=deployment) as secured:
        yield secured


@pytest.fixture
def connected(
    guarded_kafka: SecuredKafka, redis_behind_tls: SecuredRedis, certificates: Certificates, deployment: str
) -> list[str]:
    """The engine's options for a container that reaches both over TLS."""
    authority = "/etc/caesura/ca.crt"
    settings = {
        "CAESURA_WORKER_DEPLOYMENT": deployment,
        "CAESURA_WORKER_ORDINAL": "0",
        "CAESURA_KAFKA_BOOTSTRAP_SERVERS": guarded_kafka.sasl,
        "CAESURA_KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
        "CAESURA_KAFKA_SASL_MECHANISM": "SCRAM-SHA-512",
        "CAESURA_KAFKA_SASL_USERNAME": USER,
        "CAESURA_KAFKA_SASL_PASSWORD": PASSWORD,
        "CAESURA_KAFKA_SSL_CA_FILE": authority,
        "CAESURA_REDIS_ADDRESSES": redis_behind_tls.address,
        "CAESURA_REDIS_TLS": "true",
        "CAESURA_REDIS_TLS_CA_FILE": authority,
        "CAESURA_REDIS_USERNAME": USER,
        "CAESURA_REDIS_PASSWORD": PASSWORD,
        "CAESURA_WORKER_HTTP_PORT": str(free_port()),
    }
    given = [f"--env={name}={value}" for name, value in settings.items()]
    return [*CONFINED, *given, f"--volume={certificates.ca}:{authority}:ro"]


def in_python(engine: Engine, image: str, script: str, options: Sequence[str] = CONFINED) -> str:
    """Run a script with the image's own Python."""
    return engine.run(image, "-", given=script, options=[*options, "--entrypoint=python"])


def answers(address: str, path: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{address}{path}", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def log_of(engine: Engine, container: str) -> str:
    done = engine.ask("logs", container)
    return done.stdout + done.stderr


def test_it_punctuates_confined(engine: Engine, image: str) -> None:
    assert engine.run(image, "punctuate", given=_SAID) == "So we begin with the numbers for October.\n"


def test_its_process_has_no_rights_and_nothing_to_write(engine: Engine, image: str) -> None:
    status = in_python(engine, image, "print(open('/proc/self/status').read())")
    has = dict(re.findall(r"^(Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):\s+(\w+)", status, flags=re.MULTILINE))
    assert has == {"Uid": "10001", "CapEff": "0" * 16, "CapBnd": "0" * 16, "NoNewPrivs": "1", "Seccomp": "2"}
    for folder in ("/", "/opt/caesura", "/usr/bin", "/etc", "/var/lib"):
        with pytest.raises(EngineFailed, match=r"OSError|PermissionError"):
            in_python(engine, image, f"open({folder!r} + '/written', 'w')")
    assert in_python(engine, image, "print(open('/tmp/written', 'w').write('a'))") == "1\n"


def test_it_works_as_another_user(engine: Engine, image: str) -> None:
    """OpenShift gives out a number of its own, and the group 0."""
    options = [*CONFINED, "--user=1000660000:0"]
    assert "October" in engine.run(image, "punctuate", given=_SAID, options=options)


def test_no_compiler_and_no_package_manager_of_python_is_in_it(engine: Engine, image: str) -> None:
    names = ["cc", "gcc", "g++", "c++", "clang", "as", "ld", "make", "cpp", "tcc", "pip", "pip3", "uv"]
    script = f"import shutil; print([one for one in {names} if shutil.which(one)])"
    assert in_python(engine, image, script) == "[]\n"
    with pytest.raises(EngineFailed, match="No module named"):
        in_python(engine, image, "import pip")


def test_it_takes_at_most_450_mb_beside_its_base(engine: Engine, image: str) -> None:
    base = engine.base()["PYTHON_IMAGE"]
    beside = (engine.size(image) - engine.size(base)) / 1e6
    script = f"""
import pathlib
parts = {{}}
for one in pathlib.Path({_PARTS!r}).rglob("*"):
    if one.is_file() and not one.is_symlink():
        part = one.relative_to({_PARTS!r}).parts[0].removesuffix(".libs")
        parts[part] = parts.get(part, 0) + one.stat().st_size
for name, size in sorted(parts.items(), key=lambda item: -item[1])[:10]:
    print(f"{{name}} {{size / 1e6:.0f}} MB")
"""
    print(f"{beside:.0f} MB beside the base; the largest parts:\n{in_python(engine, image, script)}")  # noqa: T201
    assert beside <= _BESIDE_THE_BASE_MB


def test_over_its_memory_limit_it_is_killed(engine: Engine, image: str) -> None:
    options = [*CONFINED, "--memory=100m", "--memory-swap=100m", "--entrypoint=python", "--interactive", "--rm"]
    done = engine.ask("run", *engine.placed, *options, image, "-", given="len(bytearray(400 << 20))")
    assert done.returncode == 137, done.stderr


def test_serve_answers_and_ends_at_sigterm(engine: Engine, image: str) -> None:
    port = free_port()
    options = [*CONFINED, "--env=CAESURA_SERVE_TOKEN=a-token-of-a-test-0123456789abcdef"]
    command = ("serve", "--host", "127.0.0.1", "--port", str(port))
    with running(engine, image, f"serve-{port}", *command, options=options) as name:
        wait_until(lambda: answers(f"127.0.0.1:{port}", "/ready"), lambda: log_of(engine, name), within_s=_READY_S)
        with connect(
            f"ws://127.0.0.1:{port}/v1/words",
            proxy=None,
            additional_headers={"Authorization": "Bearer a-token-of-a-test-0123456789abcdef"},
        ) as client:
            client.send("{}")
            client.send(json.dumps({"words": "so um can you hear me", "session_end": True}))
            told = [json.loads(client.recv(timeout=60)) for _ in range(3)]
        assert [one["type"] for one in told] == ["ready", "segment", "ended"]
        engine.do("stop", "--time=30", name)
        assert engine.do("inspect", "--format={{.State.ExitCode}}", name).strip() == "0"


def test_words_go_through_a_confined_worker_over_tls(
    engine: Engine, image: str, connected: list[str], deployment: str
) -> None:
    """Topics, check, worker, SIGTERM: with the chart's ACL user, and no word in the log."""
    made = engine.run(image, "topics", "create", "--partitions", "1", options=connected)
    assert f"{deployment}.claims" in made
    engine.run(image, "check", options=connected)
    port = next(one.rpartition("=")[2] for one in connected if one.startswith("--env=CAESURA_WORKER_HTTP_PORT="))
    with running(engine, image, f"worker-{port}", options=connected) as name:
        wait_until(lambda: answers(f"127.0.0.1:{port}", "/ready"), lambda: log_of(engine, name), within_s=_READY_S)
        engine.run(image, "replay", "-", "--speed", "0", given=_SAID, options=connected)
        wait_until(
            lambda: "October" in engine.run(image, "tail", "--from-start", "--no-follow", options=connected),
            lambda: log_of(engine, name),
            within_s=_READY_S,
        )
        began = time.monotonic()
        engine.do("stop", "--time=30", name)
        took = time.monotonic() - began
        assert engine.do("inspect", "--format={{.State.ExitCode}}", name).strip() == "0"
        assert took < 25, "SIGTERM drained it, and no SIGKILL ended it"
        said = log_of(engine, name)
    assert [json.loads(line)["event"] for line in said.splitlines()].count("ready") == 1
    assert "october" not in said.lower()


def test_without_compiled_parts_the_labels_are_the_same(engine: Engine, image: str) -> None:
    """As on a machine for which they are not compiled: NumPy attends, and ONNX Runtime multiplies."""
    script = f"""
import importlib.util, io, sys
for name in ("attention_kernels", "int8_kernels", "schedule_kernels", "waiting_kernels"):
    module = f"caesura.worker.inference.native.{{name}}"
    assert importlib.util.find_spec(module), module
    sys.modules[module] = None
sys.argv, sys.stdin = ["caesura", "punctuate"], io.TextIOWrapper(io.BytesIO({_SAID.encode()!r}))
from caesura.worker.cli import main
main()
"""
    assert in_python(engine, image, script) == engine.run(image, "punctuate", given=_SAID)


def test_every_pinned_library_has_a_wheel_for_arm64(tmp_path: Path) -> None:
    """But for jieba, which is pure Python and comes as source alone."""
    pinned = (ROOT / "requirements" / "runtime.txt").read_text()
    without = re.sub(r"^jieba==(?:.*\\\n)*.*\n", "", pinned, flags=re.MULTILINE)
    assert without != pinned
    wanted = tmp_path / "runtime.txt"
    wanted.write_text(without)
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--no-deps", "--only-binary=:all:"]
    platforms = [f"--platform=manylinux_2_{minor}_aarch64" for minor in (28, 27, 26, 24, 17)]
    where = ["--platform=manylinux2014_aarch64", "--python-version=3.11", f"--target={tmp_path / 'target'}"]
    done = subprocess.run(
        [*command, *platforms, *where, "--require-hashes", f"--requirement={wanted}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def test_the_machine_is_left_unchanged(engine: Engine, machine_before: Mapping[str, frozenset[str]]) -> None:
    """By any test before this one."""
    engine.close()
    assert changes_of(machine_before, machine()) == []
