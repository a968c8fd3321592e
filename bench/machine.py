"""The machine that a benchmark ran on, and where its result is written."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Mapping
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
UNPUBLISHED = Path(__file__).parent.parent / "build" / "bench"
"""Where a result goes whose file in ``RESULTS`` another command made."""


def cpu_name() -> str:
    """Return what the machine calls its processor."""
    with Path("/proc/cpuinfo").open(encoding="ascii") as lines:
        return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def machine() -> dict[str, object]:
    """Return the processor's name, the cores there are, and the load average of the last minute."""
    return {"cpu": cpu_name(), "cores": os.cpu_count(), "load_average": round(os.getloadavg()[0], 1)}


def write_result(name: str, command: str, measured: Mapping[str, object], *, out: Path | None = None) -> Path:
    """Print a result, and write it with its command, the time and the machine; return the file.

    name: of the file in ``bench/results`` where ``out`` names no other. A file there that another command made is a
    figure that pages quote: it stays, and the result goes to ``build/bench``.
    """
    at = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    text = json.dumps({"command": command, "at": at, "machine": machine(), **measured}, indent=2)
    print(text)
    file = out or _own_file(f"{name}.json", command)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n", encoding="utf-8")
    return file


def _own_file(name: str, command: str) -> Path:
    published = RESULTS / name
    if not published.exists() or json.loads(published.read_text(encoding="utf-8")).get("command") == command:
        return published
    print(f"{published.name} is of another command and stays: {UNPUBLISHED / name}; --out writes elsewhere")
    return UNPUBLISHED / name
