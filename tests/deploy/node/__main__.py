"""Runs this folder's tests in namespaces of their own: ``python -m tests.deploy.node [pytest's arguments]``.

Before that it builds the images that pods run, with this machine's network; afterwards it compares the machine with
what it was, and fails where anything is left. Where a node cannot run here it says why and succeeds, unless
``CAESURA_CONTAINERS=required`` promises one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.deploy.containers.engine import Engine, find_engine, why_no_engine
from tests.deploy.containers.machine import changes_of, machine, remove_cgroups
from tests.deploy.node.nodes import CGROUP, FOLDER
from tests.harness.parts.kafka_broker import find_jars, find_java
from tests.harness.parts.lookup import NotFound
from tests.harness.places import ROOT, TOOLS

_RECIPES = Path(__file__).with_name("images")
_ARCHIVES = ROOT / "build" / "containers" / "images"
_PRIVATE_MOUNTS = """
mount --make-rshared /
mount -t tmpfs tmpfs /run
scratch=/run/scratch
mkdir -p $scratch/over $scratch/work
mount -t overlay overlay -o lowerdir=/var,upperdir=$scratch/over,workdir=$scratch/work /var
exec "$@"
"""
"""Containerd and kubelet write below /run and /var, some of it where no setting says otherwise."""
_NAMESPACES = ("--net", "--mount", "--propagation=private", "--pid", "--fork", "--kill-child", "--mount-proc")
_ISOLATED = ("unshare", *_NAMESPACES, "sh", "-euc", _PRIVATE_MOUNTS, "sh")
"""What runs a command in namespaces of its own, whose end is the end of all that it started."""


def main() -> int:
    """Return the exit status."""
    why = why_not()
    if why is not None:
        sys.stderr.write(f"no real node can run here: {why}\n")
        return int(os.environ.get("CAESURA_CONTAINERS") == "required")
    engine = find_engine()
    assert engine is not None
    before = machine()
    try:
        archives = [str(one) for one in archived(engine)]
    finally:
        engine.close()
    cgroup = f"caesura-node-{os.getpid()}"
    folder = tempfile.mkdtemp(prefix="caesura-node-")  # short: a socket's path may have 107 bytes
    environ = {**os.environ, CGROUP: cgroup, FOLDER: folder, "CAESURA_NODE_IMAGES": ":".join(archives)}
    tests = [sys.executable, "-m", "pytest", str(Path(__file__).parent), *sys.argv[1:]]
    try:
        status = subprocess.run([*_ISOLATED, *tests], check=False, cwd=ROOT, env=environ).returncode
    finally:
        remove_cgroups(cgroup)
        shutil.rmtree(folder, ignore_errors=True)
    left = changes_of(before, machine())
    sys.stderr.write("".join(f"left on this machine: {line}\n" for line in left))
    return status or int(bool(left))


def why_not() -> str | None:
    """Return what is missing for a real node to run here."""
    if os.geteuid() != 0:
        return "a node is run by root alone"
    lacking = [name for name in ("unshare", "ip", "iptables", "runc") if shutil.which(name) is None]
    lacking += [str(one) for one in (Path("/usr/lib/cni/ptp"),) if not one.exists()]
    lacking += [str(TOOLS / one) for one in ("kubelet", "containerd", "pause") if not (TOOLS / one).exists()]
    if lacking:
        return f"{', '.join(lacking)} cannot be found"
    tried = subprocess.run([*_ISOLATED, "iptables", "-t", "nat", "-L"], capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"the kernel does not allow it: {tried.stderr.strip()}"
    try:
        find_jars(find_java())
    except NotFound as error:
        return str(error)
    return why_no_engine()


def archived(engine: Engine) -> Iterator[Path]:
    """Build the images, and yield an archive of each; one whose image did not change is kept."""
    engine.build_worker()
    base = {"BASE": engine.base()["PYTHON_IMAGE"]}
    built = {"localhost/caesura:test": None, "kafka": find_jars(find_java()), "redis": _RECIPES, "pause": TOOLS}
    _ARCHIVES.mkdir(parents=True, exist_ok=True)
    for name, context in built.items():
        tag = name if context is None else f"localhost/caesura-{name}:test"
        if context is not None:
            arguments = base if name != "pause" else {}
            engine.build(tag, _RECIPES / f"{name}.Containerfile", context, arguments)
        identity = engine.do("image", "inspect", "--format={{.Id}}", tag).strip().removeprefix("sha256:")
        short = tag.rpartition("/")[2].partition(":")[0]
        archive = _ARCHIVES / f"{short}-{identity[:16]}.tar"
        if not archive.exists():
            for old in _ARCHIVES.glob(f"{short}-*.tar"):
                if old.stem.rpartition("-")[0] == short:
                    old.unlink()
            engine.do("save", f"--output={archive}.partial", tag, within_s=600)
            archive.with_name(f"{archive.name}.partial").rename(archive)
        yield archive


if __name__ == "__main__":
    sys.exit(main())
