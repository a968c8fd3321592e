"""How much memory a process holds now, as the kernel counts it: for measurements of a worker's."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["resident_bytes"]


def resident_bytes(process: int | str = "self") -> int:
    """Return the memory of a process that is resident now; 0 where the kernel does not say, as of one that has ended.

    OSError where there is no such process.
    """
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0
