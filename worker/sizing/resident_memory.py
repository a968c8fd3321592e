"""The resident memory of a process, as the kernel counts it; for measurements."""

from __future__ import annotations

import re
from pathlib import Path


def resident_bytes(process: int | str = "self") -> int:
    """Return the resident memory of a process in bytes; 0 if the kernel gives none, as for an ended process.

    OSError if there is no such process.
    """
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0
