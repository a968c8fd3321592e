"""Writes the table of metrics for the docs: ``worker.telemetry.reference --write docs/metrics.md``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from caesura.worker.telemetry.metric_table import markdown

__all__ = ["document", "main"]

_HEAD = """# Metrics

Served on `/metrics` of the worker's HTTP port, and of `caesura serve` and `caesura view`.
Made from `worker/telemetry/metric_table.py` by `make docs`.
No label carries a session or a word. Gauges of a partition are reported by the worker that holds it, and by no other.

"""


def document() -> str:
    """Return the page."""
    return _HEAD + markdown()


def main() -> None:
    """Print the page, or write it to a file."""
    parser = argparse.ArgumentParser(description="The table of metrics, for the docs.")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write it there instead of printing it")
    file = parser.parse_args().write
    if file is None:
        sys.stdout.write(document())
    else:
        file.write_text(document(), encoding="utf-8")


if __name__ == "__main__":
    main()
