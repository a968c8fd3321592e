"""What containers and a node could leave behind on this machine: links, mounts, cgroups, packet filters, settings."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

_SETTINGS = (
    "net/ipv4/ip_forward",
    "vm/overcommit_memory",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/maxkeys",
)


def machine() -> dict[str, frozenset[str]]:
    """Return what there is now, by kind."""
    return {
        "links": _lines("ip", "-oneline", "-brief", "link"),
        "addresses and routes": _lines("ip", "-brief", "address") | _lines("ip", "route"),
        "network namespaces": _lines("ip", "netns"),
        "packet filters": _lines("iptables-save") | _lines("ip6tables-save"),
        "mounts": frozenset(line.split(" - ")[1] + line.split()[4] for line in _read("/proc/self/mountinfo")),
        # Below them other programs of the machine make and remove their own all the time; ours are made at the top.
        "cgroups": frozenset(str(one) for top in cgroup_folders() for one in top.iterdir() if one.is_dir()),
        "settings": frozenset(f"{name}={_read(f'/proc/sys/{name}')}" for name in _SETTINGS),
    }


def changes_of(before: Mapping[str, frozenset[str]], after: Mapping[str, frozenset[str]]) -> list[str]:
    """Return what came and what went, a line each."""
    came = [f"{kind}: came {one}" for kind in before for one in sorted(after[kind] - before[kind])]
    return came + [f"{kind}: went {one}" for kind in before for one in sorted(before[kind] - after[kind])]


def cgroup_folders() -> list[Path]:
    """Return where this machine's cgroups are mounted: one folder a hierarchy, of either version."""
    mounts = (line.partition(" - ") for line in _read("/proc/self/mountinfo"))
    return [Path(mount.split()[4]) for mount, _, kind in mounts if kind.split()[0] in ("cgroup", "cgroup2")]


def remove_cgroups(name: str) -> None:
    """Remove a cgroup and those below it in every hierarchy; its processes have ended, perhaps a moment ago."""
    for hierarchy in cgroup_folders():
        below = (one for one in (hierarchy / name).rglob("*/") if one.is_dir())
        for folder in [*sorted(below, key=lambda one: -len(one.parts)), hierarchy / name]:
            for _ in range(50):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.1)


def _read(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except FileNotFoundError:
        return []


def _lines(*command: str) -> frozenset[str]:
    """Return a command's lines, without comments and counters, which change by themselves; none without the command."""
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30).stdout
    except FileNotFoundError:
        return frozenset()
    return frozenset(line.partition(" [")[0] for line in said.splitlines() if not line.startswith("#"))
