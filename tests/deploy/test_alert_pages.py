"""Nobody is woken by an alert that no page explains."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import yaml

from caesura.worker.ports.reasons import CheckpointOutcome, ClaimWaitReason, ParkReason
from tests.harness.places import CHART, DOCS, ROOT

_PAGE = DOCS / "alerts.md"
_PARTS = ("**Means.**", "**Look at.**", "**Do.**")


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load((CHART / "files" / "rules.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"] if "alert" in rule]


def spelt_out(expression: str) -> str:
    """Return an expression with that of each recorded series in its place."""
    groups = yaml.safe_load((CHART / "files" / "rules.yaml").read_text())["groups"]
    recorded = {rule["record"]: rule["expr"] for group in groups for rule in group["rules"] if "record" in rule}
    return re.sub(r"\bcaesura:[\w:]+", lambda name: f"({recorded[name.group()]})", expression)


def sections() -> dict[str, str]:
    text = _PAGE.read_text()
    found = re.split(r"^## (Caesura\w+)$", text, flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def test_every_alert_has_its_section_and_every_section_its_alert() -> None:
    names = [rule["alert"] for rule in alerts()]
    assert len(set(names)) == len(names)
    assert sections().keys() == set(names)


def test_a_section_says_what_the_alert_means_what_to_look_at_and_what_to_do() -> None:
    for name, text in sections().items():
        assert [part for part in _PARTS if part not in text] == [], name


def test_an_alert_has_a_severity_and_a_sentence() -> None:
    for rule in alerts():
        assert rule["labels"]["severity"] in {"critical", "warning", "info"}, rule["alert"]
        assert rule["annotations"]["summary"].endswith("."), rule["alert"]


def test_a_sentence_names_only_labels_that_the_expression_keeps() -> None:
    for rule in alerts():
        named = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        grouped = [
            {label.strip() for label in group.split(",")}
            for group in re.findall(r"by \(([^)]*)\)", spelt_out(rule["expr"]))
        ]
        # Without a grouping the series keeps all of its labels, those of the scrape among them.
        assert named <= (set.union(*grouped) if grouped else {"deployment", "pod", "namespace"}), rule["alert"]


def test_the_page_explains_every_reason_why_a_partition_is_parked_or_waits() -> None:
    explained = {name: set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) for name, text in sections().items()}
    assert explained["CaesuraPartitionParked"] == set(ParkReason)
    assert explained["CaesuraPartitionsClaiming"] == set(ClaimWaitReason)


_NO_FAULT = {CheckpointOutcome.COMMITTED, CheckpointOutcome.STARTING}
_OF_NO_CALL = {
    "starting",
    "draining",
    "not a member of the group yet",
    "no producer",
    "partition",
    "checkpoint",
    "input",
}


def first_column(alert: str) -> set[str]:
    cells = re.findall(r"^\| (`[^|]+`) \|", sections()[alert], re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def calls_that_fail() -> Iterator[str]:
    """Yield what the runtime calls that which failed, and is a reason against being ready until it works again."""
    for file in (ROOT / "worker" / "runtime").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "failed":
                (what, *_) = node.args
                assert isinstance(what, ast.Constant)
                yield str(what.value)


def test_the_page_explains_every_outcome_of_a_checkpoint_that_did_not_commit() -> None:
    assert first_column("CaesuraCheckpointsFail") == set(CheckpointOutcome) - _NO_FAULT


def test_the_page_explains_every_reason_why_a_worker_is_not_ready() -> None:
    assert first_column("CaesuraNoWorkerReady") == {*calls_that_fail(), *_OF_NO_CALL}
