"""What dashboard, alerts and scaler ask for is what the worker says, and what it says is asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
import yaml

from caesura.worker.telemetry.metric_table import METRICS
from deploy.dashboard import dashboard
from tests.deploy.served import families
from tests.harness.places import CHART

_NAME = re.compile(r"\bcaesura_[a-z0-9_]+\b")
_SELECTOR = re.compile(r"\b(caesura_[a-z0-9_]+)\{([^}]*)\}")
_GROUPING = re.compile(r"\b(?:by|on) \(([^)]*)\)")
_OF_THE_SCRAPE = {"namespace", "deployment", "pod", "le", "job", "instance"}


def rule_expressions() -> Iterator[str]:
    groups = yaml.safe_load((CHART / "files" / "rules.yaml").read_text())["groups"]
    for group in groups:
        for rule in group["rules"]:
            yield rule["expr"]


def panel_expressions() -> Iterator[str]:
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"]


def scaler_expressions() -> Iterator[str]:
    template = (CHART / "templates" / "scaledobject.yaml").read_text()
    yield from re.findall(r"query: (.*)", template)


def every_expression() -> list[str]:
    return [*rule_expressions(), *panel_expressions(), *scaler_expressions()]


def asked_for(expression: str, kinds: dict[str, str]) -> Iterator[str]:
    for name in _NAME.findall(expression):
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        yield base if kinds.get(base) == "histogram" else name


def test_every_metric_named_by_dashboard_alerts_and_scaler_is_served() -> None:
    kinds = families(METRICS)
    named = {name for expression in every_expression() for name in asked_for(expression, kinds)}
    assert named
    assert named - kinds.keys() == set()


def test_every_metric_is_on_the_dashboard() -> None:
    kinds = families(METRICS)
    shown = {name for expression in panel_expressions() for name in asked_for(expression, kinds)}
    assert kinds.keys() - shown == set()


def test_the_scaler_asks_for_a_metric_at_all() -> None:
    asked = [_NAME.findall(expression) for expression in scaler_expressions()]
    assert asked == [["caesura_oldest_unread_age_seconds", "caesura_partition_parked"]]


def test_a_label_that_an_expression_selects_by_is_one_that_the_metric_has() -> None:
    labels: dict[str, set[str]] = {metric.name: set(metric.labels) for metric in METRICS}
    strange = []
    for expression in every_expression():
        for name, selector in _SELECTOR.findall(expression):
            chosen = set(re.findall(r'(\w+)\s*(?:=|!=|=~|!~)\s*"', selector))
            base = re.sub(r"_(bucket|sum|count)$", "", name)
            known = labels.get(name) or labels.get(base) or set()
            strange += [f"{name}{{{label}}}" for label in chosen - known - _OF_THE_SCRAPE]
    assert strange == []


def test_labels_that_an_expression_groups_by_exist() -> None:
    labels: dict[str, set[str]] = {metric.name: set(metric.labels) for metric in METRICS}
    kinds = families(METRICS)
    strange = []
    for expression in every_expression():
        known = set().union(*(labels[name] for name in asked_for(expression, kinds) if name in labels))
        for group in _GROUPING.findall(expression):
            found = {label.strip() for label in group.split(",")}
            strange += [f"{label} in {expression}" for label in found - known - _OF_THE_SCRAPE]
    assert strange == []


@pytest.mark.parametrize("kind", ["counter", "histogram"])
def test_what_only_grows_is_shown_as_a_rate(kind: str) -> None:
    kinds = families(METRICS)
    bare = [
        expression
        for expression in panel_expressions()
        if any(kinds.get(name) == kind for name in asked_for(expression, kinds)) and "rate(" not in expression
    ]
    assert bare == []


def test_the_dashboard_in_the_chart_is_current() -> None:
    assert json.loads((CHART / "files" / "dashboard.json").read_text()) == dashboard()
