"""The alerts on series, by promtool: each fires for what it is about, and none for anything else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.deploy.alert_series import CASES, RULES, complaint
from tests.harness.deploy_tools import tool


@pytest.mark.parametrize("name", CASES)
def test_exactly_these_alerts_fire(name: str, tmp_path: Path) -> None:
    assert complaint(CASES[name], tmp_path) == ""


def test_promtool_finds_the_rules_well_formed() -> None:
    done = subprocess.run(
        [tool("promtool"), "check", "rules", "--lint=all", "--lint-fatal", RULES],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_a_case_in_which_it_fires() -> None:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    alerts = {rule["alert"] for group in groups for rule in group["rules"] if "alert" in rule}
    assert {alert for case in CASES.values() for alert in case.fires} == alerts
