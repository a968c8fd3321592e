"""The alerts on series, by promtool: each fires for what it is about, and none for anything else."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.alert_series import CALM, CASES, Case
from tests.harness.deploy_tools import tool
from tests.harness.places import CHART

_RULES = CHART / "files" / "rules.yaml"
_OF_ALL = 'namespace="asr", deployment="speech"'


def promtool_case(name: str, case: Case) -> dict[str, Any]:
    """Return a test of promtool's: exactly these alerts are firing then."""
    series = CALM | case.otherwise
    expected = [
        {"labels": f'{{alertname="{alert}"}}', "value": count} for alert, count in sorted(Counter(case.fires).items())
    ]
    return {
        "name": name,
        "interval": "1m",
        "input_series": [
            {"series": series_name.replace("{", f"{{{_OF_ALL}, "), "values": values}
            for series_name, values in series.items()
        ],
        "promql_expr_test": [
            {
                "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                "eval_time": f"{case.at_m}m",
                "exp_samples": expected,
            }
        ],
    }


@pytest.mark.parametrize("name", CASES)
def test_exactly_these_alerts_fire(name: str, tmp_path: Path) -> None:
    document = {
        "rule_files": [str(_RULES)],
        "evaluation_interval": "1m",
        "tests": [promtool_case(name, CASES[name])],
    }
    file = tmp_path / "cases.yaml"
    file.write_text(yaml.safe_dump(document, sort_keys=False))
    done = subprocess.run(
        [tool("promtool"), "test", "rules", file], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_finds_the_rules_well_formed() -> None:
    done = subprocess.run(
        [tool("promtool"), "check", "rules", "--lint=all", "--lint-fatal", _RULES],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_a_case_in_which_it_fires() -> None:
    groups = yaml.safe_load(_RULES.read_text())["groups"]
    alerts = {rule["alert"] for group in groups for rule in group["rules"] if "alert" in rule}
    assert {alert for case in CASES.values() for alert in case.fires} == alerts
