"""Writes the table of phases into docs/exactly-once.md: ``python -m caesura.worker.runtime.loop.phase_table``."""

from __future__ import annotations

import sys
from pathlib import Path

from caesura.worker.runtime.loop.phases import TRANSITIONS, Phase

BEGIN = "<!-- phases: begin -->"
END = "<!-- phases: end -->"
_NOT_HELD = "not held"


def phase_table() -> str:
    """Return the table of transitions in Markdown, in the code's order; phases with the same transition share a row."""
    phases: dict[str, list[str]] = {}
    for one in TRANSITIONS:
        phases.setdefault(f"{_name(one.after)} | {one.means}", []).append(_name(one.before))
    rows = (f"| {', '.join(before)} | {way} |" for way, before in phases.items())
    return "\n".join(["| phase | next phase | when |", "|---|---|---|", *rows])


def with_table(page: str) -> str:
    """Return the page with the present table. ValueError if it has no place for it."""
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError("the page has no place for the table of phases")
    return f"{before}{BEGIN}\n\n{phase_table()}\n\n{END}{after}"


def _name(phase: type[Phase] | None) -> str:
    return _NOT_HELD if phase is None else f"`{phase.__name__}`"


if __name__ == "__main__":
    page = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/exactly-once.md")
    page.write_text(with_table(page.read_text(encoding="utf-8")), encoding="utf-8")
