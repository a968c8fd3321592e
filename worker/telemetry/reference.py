"""Prints docs/metrics.md, the tables of metrics: ``python -m caesura.worker.telemetry.reference``."""

from __future__ import annotations

import sys

from caesura.worker.telemetry.metric_table import markdown

_HEAD = """# Metrics

Served on `/metrics` of the worker's HTTP port, and of `caesura serve` and `caesura view`. `make docs` writes this page
from `worker/telemetry/metric_table.py`. No label carries a session or a word. Only the worker that holds a partition
reports its gauges.

"""


def document() -> str:
    """Return the page."""
    return _HEAD + markdown()


if __name__ == "__main__":
    sys.stdout.write(document())
