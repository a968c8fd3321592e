"""What the image's steps make, in a plain folder; its command run as in a container: no rights, nothing to write."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.harness.places import DEPLOY, ROOT

__all__ = ["WHY_NOT", "assemble", "confined", "environment"]

_IMAGE = DEPLOY / "image"
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
