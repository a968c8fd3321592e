"""How many threads this process may use, by the cgroup's quota instead of the machine's cores.

ONNX Runtime's default is one thread for each core of the machine, also in a container. With a quota of two cores on a
machine of sixty-four, these threads wait for one another most of the time. The kernel's files are
``cpu.max`` (cgroup v2) and ``cpu.cfs_quota_us`` with ``cpu.cfs_period_us`` (v1).
"""

from __future__ import annotations

import os
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUPS = Path("/proc/self/cgroup")


def threads_allowed(cgroups: Path = _CGROUPS, own: Path = _OWN_CGROUPS) -> int:
    """Return the number of threads that the quota, the affinity and the machine allow; at least 1.

    A quota of two and a half cores gives two threads. Each cgroup from the process's own to the root limits the number.
    """
    threads = len(os.sched_getaffinity(0))
    for folder in _folders(cgroups, own):
        quota = _quota(folder)
        if quota is not None:
            threads = min(threads, int(quota))
    return max(1, threads)


def _folders(cgroups: Path, own: Path) -> list[Path]:
    """Return the folders of the process's own cgroup and of those above it, for both versions."""
    try:
        lines = own.read_text(encoding="ascii").splitlines()
    except OSError:
        lines = []
    folders: list[Path] = [cgroups, cgroups / "cpu"]
    for line in lines:
        _, controllers, path = line.split(":", 2)
        root = cgroups if not controllers else cgroups / controllers
        if controllers and "cpu" not in controllers.split(","):
            continue
        below = root / path.strip("/")
        folders.extend(folder for folder in (below, *below.parents) if folder.is_relative_to(root))
    return folders


def _quota(folder: Path) -> float | None:
    """Return the cores that a cgroup allows; None if it sets no limit."""
    try:
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text(encoding="ascii").split()
        else:
            quota = (folder / "cpu.cfs_quota_us").read_text(encoding="ascii").strip()
            period = (folder / "cpu.cfs_period_us").read_text(encoding="ascii").strip()
        return None if quota in ("max", "-1") else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None
