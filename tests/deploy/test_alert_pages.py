"""Nobody is woken by an alert that no page explains."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.harness.places import CHART, DOCS

_PAGE = DOCS / "alerts.md"
_PARTS = ("**Means.**", "**Look at.**", "**Do.**")


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load((CHART / "files" / "rules.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"] if "alert" in rule]


def sections() -> dict[str, str]:
    text = _PAGE.read_text()
    found = re.split(r"^## (Caesura\w+)$", text, flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def test_every_alert_has_its_section_and_every_section_its_alert() -> None:
    names = [rule["alert"] for rule in alerts()]
    assert len(set(names)) == len(names)
    assert sections().keys() == set(names)


@pytest.mark.parametrize("name", [rule["alert"] for rule in alerts()])
def test_a_section_says_what_the_alert_means_what_to_look_at_and_what_to_do(name: str) -> None:
    text = sections()[name]
    assert [part for part in _PARTS if part not in text] == []


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: str(rule["alert"]))
def test_an_alert_has_a_severity_and_a_sentence(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert rule["annotations"]["summary"].endswith(".")


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: str(rule["alert"]))
def test_a_sentence_names_only_labels_that_the_expression_keeps(rule: dict[str, Any]) -> None:
    named = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
    grouped = re.findall(r"by \(([^)]*)\)", rule["expr"])
    if not grouped:  # the series keeps all of its labels, those of the scrape among them
        assert named <= {"deployment", "pod", "namespace"}
        return
    kept = set.union(*({label.strip() for label in group.split(",")} for group in grouped))
    assert named <= kept


def test_where_the_page_sends_the_reader_there_is_something() -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", _PAGE.read_text()):
        assert (DOCS / link).exists(), link
