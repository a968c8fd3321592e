"""The ACL rule of the worker's Redis user, from the one file that has it: the chart's."""

from __future__ import annotations

from tests.harness.places import CHART

__all__ = ["worker_rule"]


def worker_rule(deployment: str) -> str:
    """Return the rule as the chart renders it; a test of the chart compares the two."""
    text = (CHART / "files" / "redis.acl").read_text(encoding="utf-8").strip()
    return text.replace('{{ "{" }}', "{").replace('{{ include "caesura.deployment" . }}', deployment)
