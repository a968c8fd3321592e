"""Another release of this project, taken from its own history, for a fleet in which not all are of one release."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.harness.places import ROOT

__all__ = ["release"]


@contextmanager
def release(commit: str, *, compiled: bool = False) -> Iterator[Path]:
    """Unpack the tree of a commit or tag into a folder of its own, which goes away in the end.

    compiled: with what an installation of it would have compiled. subprocess.CalledProcessError: there is no
    such commit here, or it does not compile.
    """
    packed = subprocess.run(
        ["/usr/bin/env", "git", "-C", str(ROOT), "archive", "--format=tar", commit],
        check=True,
        capture_output=True,
    ).stdout
    with tempfile.TemporaryDirectory(prefix="caesura-release-") as folder:
        subprocess.run(["/usr/bin/env", "tar", "-x", "-C", folder], input=packed, check=True)
        if compiled and Path(folder, "setup.py").exists():
            subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=folder, check=True)
        yield Path(folder)
