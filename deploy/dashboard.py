"""Writes ``chart/files/dashboard.json``: Grafana's view of every metric that the worker has, by what it is asked for.

``python -m deploy.dashboard`` writes it, ``--check`` says whether it is current (exit 1: it is not).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deploy.dashboard_rows import Panel, Query, rows

_TARGET = Path(__file__).with_name("chart") / "files" / "dashboard.json"
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_COLUMNS, _WIDTH, _HEIGHT = 24, 8, 7
_FILTER = 'namespace=~"$namespace", deployment=~"$deployment"'


def dashboard() -> dict[str, Any]:
    """Return the dashboard as Grafana reads it."""
    return {
        "uid": "caesura",
        "title": "Caesura",
        "tags": ["caesura"],
        "description": "Words in, frozen segments out. What each alert means: docs/alerts.md.",
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": list(_variables())},
        "annotations": {"list": []},
        "panels": list(_panels()),
    }


def _variables() -> Iterator[dict[str, Any]]:
    yield {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
    within = {"namespace": "caesura_ready", "deployment": 'caesura_ready{namespace=~"$namespace"}'}
    for name, series in within.items():
        yield {
            "name": name,
            "type": "query",
            "datasource": _SOURCE,
            "query": {"query": f"label_values({series}, {name})", "refId": name},
            "refresh": 2,
            "includeAll": True,
            "allValue": ".*",
            "multi": True,
            "current": {"text": "All", "value": "$__all"},
        }


def _panels() -> Iterator[dict[str, Any]]:
    number, top = 1, 0
    for title, panels in rows():
        yield {
            "id": number,
            "type": "row",
            "title": title,
            "collapsed": False,
            "panels": [],
            "gridPos": {"x": 0, "y": top, "w": _COLUMNS, "h": 1},
        }
        number, top = number + 1, top + 1
        for place, panel in enumerate(panels):
            across, down = place * _WIDTH % _COLUMNS, place * _WIDTH // _COLUMNS
            yield _panel(panel, number, {"x": across, "y": top + down * _HEIGHT, "w": _WIDTH, "h": _HEIGHT})
            number += 1
        top += -(-len(panels) * _WIDTH // _COLUMNS) * _HEIGHT


def _panel(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.says,
        "datasource": _SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}}
        if panel.kind == "timeseries"
        else {},
        "targets": [_target(query, letter) for query, letter in zip(panel.queries, "ABCDEF", strict=False)],
    }


def _target(query: Query, letter: str) -> dict[str, Any]:
    return {
        "refId": letter,
        "datasource": _SOURCE,
        "expr": query.expression.replace("$only", _FILTER),
        "legendFormat": query.legend,
    }


def main() -> int:
    """Write or check the file; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="say whether the file is current, and write nothing")
    text = json.dumps(dashboard(), indent=1) + "\n"
    if parser.parse_args().check:
        if _TARGET.exists() and _TARGET.read_text(encoding="utf-8") == text:
            return 0
        sys.stderr.write(f"{_TARGET} is not current: python -m deploy.dashboard writes it\n")
        return 1
    _TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
