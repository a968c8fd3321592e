"""Alerts that go by what was before, on histories that have misled them: hand-overs, first samples, long outages."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.deploy.alert_series import CASES, RULES, Case, complaint, lag, promtool_complaint
from tests.deploy.rendered import render
from tests.harness.deploy_tools import tool

_SCRAPE_S, _STEP_S, _MOVED_S, _END_S = 15, 5, 597, 2700
_PARKED = 'caesura_partition_parked{pod="a", partition="0", reason="newer_event"}'
_AGE = 'caesura_oldest_unread_age_seconds{pod="a", partition="0"}'


def scraped(says: Callable[[bool], str], *, at_s: int) -> str:
    """Return samples of a pod that is scraped every 15 s, ``at_s`` later than others. says: by whether it has moved."""
    return " ".join(
        says(time_s >= _MOVED_S) if time_s % _SCRAPE_S == at_s else "_" for time_s in range(0, _END_S, _STEP_S)
    )


def hand_over() -> dict[str, str]:
    """Return four partitions that go from a to b: b is scraped with them at 600 s, a without them at 610 s."""
    return {
        'caesura_partitions{pod="a", phase="loaded"}': scraped(lambda moved: "8" if moved else "12", at_s=10),
        'caesura_partitions{pod="b", phase="loaded"}': scraped(lambda moved: "4" if moved else "0", at_s=0),
        **lag("a", range(8), scraped(lambda _: "3", at_s=10)),
        **lag("a", range(8, 12), scraped(lambda moved: "stale" if moved else "3", at_s=10)),
        **lag("b", range(8, 12), scraped(lambda moved: "3" if moved else "_", at_s=0)),
    }


def group(workers: int, partitions: int, rebalances: str) -> dict[str, str]:
    """Return workers of which each holds as many partitions, and what each counts of rebalances."""
    each = partitions // workers
    series: dict[str, str] = {}
    for number in range(workers):
        series[f'caesura_ready{{pod="{number}"}}'] = "1x480"
        series[f'caesura_partitions{{pod="{number}", phase="loaded"}}'] = f"{each}x480"
        series[f'caesura_rebalances_total{{pod="{number}", kind="assigned"}}'] = rebalances
        series |= lag(str(number), range(number * each, number * each + each), "3x480")
    return series


def of_both(counter: str, values: str) -> dict[str, str]:
    return {counter.replace("{", f'{{pod="{pod}", '): values for pod in "ab"}


_HISTORIES: dict[str, Case] = {
    "partitions are moved while two pods are scraped": Case(
        fires=(), among={}, otherwise=hand_over(), interval=f"{_STEP_S}s", at_m=30
    ),
    "partitions have been held by nobody for seven hours and a half": Case(
        fires=("CaesuraPartitionsUnheld",),
        otherwise={'caesura_partitions{pod="b", phase="loaded"}': "6x20 0x460", **lag("b", range(6, 12), "3x20 _x460")},
        at_m=470,
    ),
    "a worker has rebuilt before its first scrape": Case(
        fires=("CaesuraStateRebuilt",), otherwise={'caesura_rebuilds_total{pod="c"}': "_x40 6x440"}
    ),
    "a worker has rebuilt before its first scrape, and lost words": Case(
        fires=("CaesuraStateRebuilt", "CaesuraWordsLost"),
        otherwise={
            'caesura_rebuilds_total{pod="c"}': "_x40 6x440",
            'caesura_rebuild_lost_words_total{pod="c"}': "_x40 900x440",
        },
    ),
    "a worker has rebuilt before its first scrape, and lost records": Case(
        fires=("CaesuraStateRebuilt", "CaesuraWordsLost"),
        otherwise={
            'caesura_rebuilds_total{pod="c"}': "_x40 6x440",
            'caesura_rebuild_lost_records_total{pod="c"}': "_x40 4711x440",
        },
    ),
    "a worker lost words before its first scrape, and is gone again": Case(
        fires=("CaesuraWordsLost",),
        otherwise={'caesura_rebuild_lost_words_total{pod="c"}': "_x40 900x5 stale"},
        at_m=70,
    ),
    "a worker lost words before its first scrape, more than an hour ago": Case(
        fires=(),
        otherwise={
            'caesura_rebuilds_total{pod="c"}': "_x40 6x440",
            'caesura_rebuild_lost_words_total{pod="c"}': "_x40 900x440",
        },
        at_m=105,
    ),
    "words were lost long ago, and Prometheus was away for a while": Case(
        fires=(), otherwise={'caesura_rebuild_lost_words_total{pod="a"}': "900x60 _x60 900x360"}, at_m=150
    ),
    "workers are fenced off twice before a scrape tells of the first time": Case(
        fires=("CaesuraFenced",),
        otherwise=of_both('caesura_fence_rejections_total{by="group"}', "_x40 12x440"),
        at_m=48,
    ),
    "every worker is fenced off once": Case(
        fires=(), otherwise=of_both('caesura_fence_rejections_total{by="group"}', "0x40 6x440"), at_m=48
    ),
    "producers are made anew twice before a scrape tells of the first time": Case(
        fires=("CaesuraProducersRebuilt",),
        otherwise=of_both('caesura_producer_rebuilds_total{reason="publisher_fenced"}', "_x40 2x440"),
    ),
    "the producer of every one of twelve workers is made anew once": Case(
        fires=(),
        among={},
        otherwise={
            **group(12, 36, "0x480"),
            **{
                f'caesura_producer_rebuilds_total{{pod="{number}", reason="commit_unknown"}}': "0x40 1x440"
                for number in range(12)
            },
        },
    ),
    "the engine refuses a batch before the first scrape": Case(
        fires=("CaesuraEngineFails",), otherwise={'caesura_engine_failures_total{pod="c"}': "_x40 1x440"}
    ),
    "sessions go out without labels before the first scrape": Case(
        fires=("CaesuraWordsUnlabelled",), otherwise={'caesura_fallbacks_total{pod="c"}': "_x40 1x440"}
    ),
    "events are refused for a reason that is new, all within a minute": Case(
        fires=("CaesuraEventsRefused",),
        otherwise={'caesura_dead_letters_total{pod="a", reason="malformed"}': "_x37 2000x443"},
    ),
    "a worker has read a backlog before its first scrape, with few refusals": Case(
        fires=(),
        otherwise={
            'caesura_events_total{pod="c"}': "_x37 90000x443",
            'caesura_dead_letters_total{pod="c", reason="late"}': "_x37 300x443",
        },
    ),
    "nobody has been heard from for hours": Case(
        fires=("CaesuraGone",),
        otherwise={'caesura_ready{pod="a"}': "1x20 stale", 'caesura_ready{pod="b"}': "1x20 stale"},
        at_m=470,
    ),
    "a parked partition grows old": Case(
        fires=("CaesuraPartitionParked",), otherwise={_PARKED: "1x480", _AGE: "0+60x480"}
    ),
    "a parked partition grows old, and another waits": Case(
        fires=("CaesuraPartitionParked", "CaesuraWordsWait"),
        otherwise={
            _PARKED: "1x480",
            _AGE: "0+60x480",
            'caesura_oldest_unread_age_seconds{pod="b", partition="6"}': "10x480",
        },
    ),
    "twelve workers are rolled": Case(fires=(), among={}, otherwise=group(12, 36, "4x20 5 6 7 8 9 10x454"), at_m=35),
    "the partitions of twelve workers move every minute": Case(
        fires=("CaesuraRebalancesOften",), among={}, otherwise=group(12, 36, "0+1x480")
    ),
    "six workers of many partitions are told once a minute each": Case(
        fires=("CaesuraRebalancesOften",), among={}, otherwise=group(6, 120, "0+1x480")
    ),
    "a loop stands still, and a scrape comes every two minutes": Case(
        fires=("CaesuraLoopStill",),
        among={},
        otherwise={'caesura_ready{pod="a"}': "1x60", 'caesura_loop_turns_total{pod="a"}': "900x60"},
        interval="2m",
    ),
    "a loop turns, and a scrape comes every two minutes": Case(
        fires=(),
        among={},
        otherwise={'caesura_ready{pod="a"}': "1x60", 'caesura_loop_turns_total{pod="a"}': "0+1200x60"},
        interval="2m",
    ),
}


@pytest.mark.parametrize(
    ("parked", "answer"),
    [
        pytest.param("6", [{"labels": "{}", "value": 2700}], id="another"),
        pytest.param("7", [{"labels": "{}", "value": 0.5}], id="the one that grows old"),
    ],
)
def test_the_scaler_does_not_go_by_a_parked_partition(
    parked: str, answer: list[dict[str, object]], tmp_path: Path
) -> None:
    scaled = {"autoscaling": {"enabled": True, "partitions": 12, "prometheusAddress": "http://prometheus:9090"}}
    triggers = render(scaled).of("ScaledObject")["spec"]["triggers"]
    query = next(one["metadata"]["query"] for one in triggers if one["type"] == "prometheus")
    of_pod = 'namespace="asr", pod="speech-caesura-0"'
    series = {
        f'caesura_oldest_unread_age_seconds{{{of_pod}, partition="6"}}': "0.5x60",
        f'caesura_oldest_unread_age_seconds{{{of_pod}, partition="7"}}': "0+60x60",
        f'caesura_partition_parked{{{of_pod}, partition="{parked}", reason="newer_event"}}': "1x60",
    }
    asked = {"expr": query, "eval_time": "45m", "exp_samples": answer}
    assert promtool_complaint(series, asked, tmp_path) == ""


@pytest.mark.parametrize("case", (CASES | _HISTORIES).values(), ids=(CASES | _HISTORIES).keys())
def test_exactly_these_alerts_fire(case: Case, tmp_path: Path) -> None:
    assert complaint(case, tmp_path) == ""


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
