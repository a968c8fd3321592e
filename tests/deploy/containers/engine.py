"""A container engine of this machine: Docker where its daemon answers, else Podman, with all that it keeps in a folder.

Podman needs no daemon. It runs as root here, with runc: crun refuses the hybrid cgroups that some machines have. Its
containers have the machine's network or none, since a bridge would leave a link and packet filters behind.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.deploy.containers.machine import remove_cgroups
from tests.harness.parts.lookup import docker_answers
from tests.harness.places import DEPLOY, ROOT

RECIPE = DEPLOY / "image" / "Containerfile"
CONFINED = (
    "--network=host",
    "--read-only",
    "--tmpfs=/tmp",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--pids-limit=128",
    "--memory=1g",
    "--cpus=1",
)
"""As the chart confines a worker's container."""

_STORE = ROOT / "build" / "containers"
_CONTAINERS_CONF = """
[containers]
# The engine may lack the right to raise a limit.
default_ulimits = ["nofile=1024:4096", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
"""
_AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
"""The build trusts the certificates that this machine trusts: its package index may be a mirror."""
_CGROUP = "caesura-containers"
_BASE = "localhost/caesura-python"
_DEBIANS_PYTHON = {"BUILD_PACKAGES": "gcc libc6-dev python3-dev python3-venv"}


class EngineFailed(Exception):  # noqa: N818  # it reads as the sentence it stands for
    """A command of the engine failed; the text is its output."""


@dataclass(frozen=True, slots=True)
class Engine:
    """command: the engine's command line, with its global options. environ: its environment.

    lock: held until ``close``, since two runs would take each other's cgroup and mount for their own.
    """

    command: tuple[str, ...]
    environ: Mapping[str, str]
    rootful_podman: bool
    lock: IO[str] | None = None

    @property
    def placed(self) -> Sequence[str]:
        """Options that every container gets: the cgroup below which it is, which ``close`` removes."""
        return (f"--cgroup-parent=/{_CGROUP}",) if self.rootful_podman else ()

    def ask(self, *arguments: str, given: str = "", within_s: float = 120.0) -> subprocess.CompletedProcess[str]:
        """Run a command of the engine, whatever its status."""
        return subprocess.run(
            [*self.command, *arguments],
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=within_s,
            env=self.environ,
            cwd=_STORE if self.rootful_podman else None,  # of a container out of memory a file says so there
        )

    def do(self, *arguments: str, within_s: float = 120.0) -> str:
        """Run a command of the engine and return its output; EngineFailed."""
        done = self.ask(*arguments, within_s=within_s)
        if done.returncode:
            raise EngineFailed(f"{' '.join(arguments)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    def run(self, image: str, *arguments: str, given: str = "", options: Sequence[str] = CONFINED) -> str:
        """Run a container to its end and return its output; EngineFailed."""
        done = self.ask("run", "--rm", "--interactive", *self.placed, *options, image, *arguments, given=given)
        if done.returncode:
            raise EngineFailed(f"{' '.join(arguments)}: status {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def build(self, tag: str, recipe: Path, context: Path, arguments: Mapping[str, str]) -> None:
        """Build an image; layers that did not change are taken from the last build. EngineFailed."""
        options = [f"--build-arg={name}={value}" for name, value in arguments.items()]
        if self.rootful_podman:
            options += ["--isolation=chroot", "--layers", "--pull=never"]
            options += [f"--volume={_AUTHORITIES}:{_AUTHORITIES}:ro"] if _AUTHORITIES.exists() else []
        self.do("build", "--network=host", *options, f"--file={recipe}", f"--tag={tag}", str(context), within_s=1500)

    def size(self, image: str) -> int:
        """Return an image's bytes, its base's among them."""
        return int(self.do("image", "inspect", "--format={{.Size}}", image))

    def build_worker(self, tag: str = "localhost/caesura:test") -> str:
        """Build the project's image from its own recipe and return its tag. EngineFailed."""
        self.build(tag, RECIPE, ROOT, self.base())
        return tag

    def base(self) -> dict[str, str]:
        """Return the build's arguments for a base that is to be had; Debian's own Python where no registry answers."""
        named = re.search(r"^ARG PYTHON_IMAGE=(\S+-slim-(\w+))$", RECIPE.read_text(), flags=re.MULTILINE)
        assert named is not None, "the recipe names its base"
        tag = f"{_BASE}:{named[2]}"
        arguments = {"PYTHON_IMAGE": tag, **_DEBIANS_PYTHON}
        if self.has(tag):
            return arguments
        try:
            if self.ask("pull", "--quiet", named[1], within_s=120).returncode == 0:
                return {"PYTHON_IMAGE": named[1]}
        except subprocess.TimeoutExpired:
            pass  # the registry does not answer at all
        self._import_debian(tag, named[2])
        return arguments

    def has(self, image: str) -> bool:
        """Tell whether an image is in the store."""
        return self.ask("image", "inspect", image).returncode == 0

    def close(self) -> None:
        """Leave the machine as it was: Podman keeps a mount and a cgroup. Its images stay in the store."""
        if self.rootful_podman:
            remove_cgroups(_CGROUP)
            subprocess.run(["umount", str(_STORE / "root" / "overlay")], capture_output=True, check=False)  # noqa: S607
        if self.lock is not None:
            self.lock.close()

    def _import_debian(self, tag: str, suite: str) -> None:
        _STORE.mkdir(parents=True, exist_ok=True)
        tree = _STORE / "base.tar"
        made = ["mmdebstrap", "--variant=minbase", "--components=main", "--include=python3,ca-certificates", suite]
        done = subprocess.run([*made, tree], capture_output=True, text=True, check=False, timeout=900)
        if done.returncode:
            raise EngineFailed(f"no registry answers, and mmdebstrap made no base: {done.stderr[-2000:]}")
        self.do("import", str(tree), tag)
        tree.unlink()


def find_engine() -> Engine | None:
    """Return the engine that there is, once no other run uses it; None says ``why_no_engine``."""
    if docker_answers():
        return Engine(("docker",), dict(os.environ), rootful_podman=False)
    if why_no_engine() is not None:
        return None
    _STORE.mkdir(parents=True, exist_ok=True)
    lock = (_STORE / ".lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    settings = _STORE / "containers.conf"
    settings.write_text(_CONTAINERS_CONF)
    where = ("--root", str(_STORE / "root"), "--runroot", str(_STORE / "run"), "--storage-driver", "overlay")
    return Engine(("podman", *where), {**os.environ, "CONTAINERS_CONF": str(settings)}, rootful_podman=True, lock=lock)


def why_no_engine() -> str | None:
    """Return what is missing for the images to be built and run here."""
    if docker_answers():
        return None
    if os.geteuid() != 0:
        return "no Docker daemon answers, and Podman is used by root alone"
    lacking = [name for name in ("podman", "runc", "mmdebstrap") if shutil.which(name) is None]
    return f"no Docker daemon answers, and {', '.join(lacking)} cannot be found" if lacking else None


@contextmanager
def running(engine: Engine, image: str, name: str, *arguments: str, options: Sequence[str]) -> Iterator[str]:
    """Run a container in the background until the end of the block; it is removed then, whatever it does. Its name."""
    engine.do("run", "--detach", f"--name={name}", *engine.placed, *options, image, *arguments)
    try:
        yield name
    finally:
        engine.ask("rm", "--force", "--time=0", name)
