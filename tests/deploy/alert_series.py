"""Series for promtool: eight calm hours of two workers, and what of it is otherwise when an alert must fire."""

from __future__ import annotations

import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.harness.deploy_tools import tool
from tests.harness.places import CHART

RULES = CHART / "files" / "rules.yaml"
_OF_ALL = 'namespace="asr", deployment="speech"'


def lag(pod: str, partitions: range, values: str) -> dict[str, str]:
    """Return what a worker says of the partitions that it holds, one by one."""
    return {f'caesura_lag_records{{pod="{pod}", partition="{number}"}}': values for number in partitions}


CALM: dict[str, str] = {
    'caesura_ready{pod="a"}': "1x480",
    'caesura_ready{pod="b"}': "1x480",
    'caesura_loop_turns_total{pod="a"}': "0+600x480",
    'caesura_loop_turns_total{pod="b"}': "0+600x480",
    'caesura_partitions{pod="a", phase="loaded"}': "6x480",
    'caesura_partitions{pod="b", phase="loaded"}': "6x480",
    'caesura_partitions{pod="a", phase="claiming"}': "0x480",
    **lag("a", range(6), "3x480"),
    **lag("b", range(6, 12), "3x480"),
    'caesura_oldest_unread_age_seconds{pod="a", partition="0"}': "0.2x480",
    'caesura_oldest_unread_age_seconds{pod="b", partition="6"}': "0.1x480",
    'caesura_words_total{pod="a"}': "0+6000x480",
    'caesura_events_total{pod="a"}': "0+1500x480",
    'caesura_dead_letters_total{pod="a", reason="late"}': "0+1x480",
    'caesura_missed_events_total{pod="a"}': "0+1x480",
    'caesura_unmodelled_words_total{pod="a"}': "0+6x480",
    'caesura_unknown_targets_total{pod="a"}': "0x480",
    'caesura_inference_seconds_sum{pod="a"}': "0+20x480",
    'caesura_inference_seconds_sum{pod="b"}': "0+20x480",
    'caesura_freeze_delay_seconds_bucket{pod="a", le="10.0"}': "0+200x480",
    'caesura_freeze_delay_seconds_bucket{pod="a", le="30.0"}': "0+200x480",
    'caesura_freeze_delay_seconds_bucket{pod="a", le="+Inf"}': "0+200x480",
    'caesura_checkpoint_step_seconds_bucket{pod="a", step="publish", le="0.1"}': "0+600x480",
    'caesura_checkpoint_step_seconds_bucket{pod="a", step="publish", le="2.5"}': "0+600x480",
    'caesura_checkpoint_step_seconds_bucket{pod="a", step="publish", le="+Inf"}': "0+600x480",
    'caesura_transactions_total{pod="a", outcome="committed"}': "0+600x480",
    'caesura_transactions_total{pod="a", outcome="aborted_fenced"}': "0x480",
    'caesura_unsaved_seconds{pod="a", partition="0"}': "0x480",
    'caesura_rebalances_total{pod="a", kind="assigned"}': "4x480",
    'caesura_fence_rejections_total{pod="a", by="store"}': "1x480",
    'caesura_claims_total{pod="a", verdict="good"}': "6x480",
    'caesura_rebuilds_total{pod="a"}': "0x480",
    'caesura_rebuild_lost_records_total{pod="a"}': "0x480",
    'caesura_rebuild_lost_words_total{pod="a"}': "0x480",
    'caesura_store_errors_total{pod="a", call="write"}': "1x480",
    'caesura_broker_errors_total{pod="a", call="poll"}': "1x480",
    'caesura_producer_rebuilds_total{pod="a", reason="commit_unknown"}': "1x480",
    'caesura_engine_failures_total{pod="a"}': "0x480",
    'caesura_fallbacks_total{pod="a"}': "0x480",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Alerts that must fire, and no others, where some series are otherwise. at_m: minutes from the beginning.

    among: what the other series are. interval: how far apart samples are.
    """

    fires: tuple[str, ...]
    otherwise: dict[str, str] = field(default_factory=dict)
    at_m: int = 45
    among: dict[str, str] = field(default_factory=lambda: CALM)
    interval: str = "1m"


def complaint(case: Case, folder: Path) -> str:
    """Return what promtool has to say against a case: nothing where exactly its alerts are firing then."""
    expected = [
        {"labels": f'{{alertname="{alert}"}}', "value": count} for alert, count in sorted(Counter(case.fires).items())
    ]
    series = {name.replace("{", f"{{{_OF_ALL}, "): values for name, values in (case.among | case.otherwise).items()}
    query = 'count by (alertname) (ALERTS{alertstate="firing"})'
    asked = {"expr": query, "eval_time": f"{case.at_m}m", "exp_samples": expected}
    return promtool_complaint(series, asked, folder, interval=case.interval)


def promtool_complaint(series: dict[str, str], asked: dict[str, Any], folder: Path, *, interval: str = "1m") -> str:
    """Return what promtool has to say against an answer that is expected on these series; nothing where it is right."""
    test = {
        "interval": interval,
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [asked],
    }
    file = folder / "cases.yaml"
    file.write_text(
        yaml.safe_dump({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [test]}, sort_keys=False)
    )
    done = subprocess.run(
        [tool("promtool"), "test", "rules", file], capture_output=True, text=True, check=False, timeout=60
    )
    return done.stdout + done.stderr if done.returncode else ""


CASES: dict[str, Case] = {
    "all is calm": Case(fires=()),
    "it was calm for hours": Case(fires=(), at_m=470),
    "words wait": Case(
        fires=("CaesuraWordsWait",),
        otherwise={'caesura_oldest_unread_age_seconds{pod="a", partition="0"}': "10x480"},
    ),
    "words wait for a minute and it passes": Case(
        fires=(),
        otherwise={'caesura_oldest_unread_age_seconds{pod="a", partition="0"}': "0x43 10 0x430"},
    ),
    "words wait long": Case(
        fires=("CaesuraWordsWait", "CaesuraWordsWaitLong"),
        otherwise={'caesura_oldest_unread_age_seconds{pod="a", partition="0"}': "100x480"},
    ),
    "segments freeze late": Case(
        fires=("CaesuraFreezesLate",),
        otherwise={'caesura_freeze_delay_seconds_bucket{pod="a", le="10.0"}': "0+100x480"},
    ),
    "the engine is busy": Case(
        fires=("CaesuraEngineBusy",), otherwise={'caesura_inference_seconds_sum{pod="b"}': "0+57x480"}
    ),
    "checkpoints are slow": Case(
        fires=("CaesuraCheckpointsSlow",),
        otherwise={'caesura_checkpoint_step_seconds_bucket{pod="a", step="publish", le="0.1"}': "0x480"},
    ),
    "nobody is ready": Case(
        fires=("CaesuraNoWorkerReady", "CaesuraWorkerNotReady", "CaesuraWorkerNotReady"),
        otherwise={'caesura_ready{pod="a"}': "0x480", 'caesura_ready{pod="b"}': "0x480"},
    ),
    "one is not ready": Case(fires=("CaesuraWorkerNotReady",), otherwise={'caesura_ready{pod="b"}': "0x480"}),
    "nobody is heard from": Case(
        fires=("CaesuraGone",),
        otherwise={'caesura_ready{pod="a"}': "1x20 _x460", 'caesura_ready{pod="b"}': "1x20 _x460"},
    ),
    "one was scaled in": Case(fires=(), otherwise={'caesura_ready{pod="b"}': "1x20 _x460"}),
    "a loop stands still": Case(
        fires=("CaesuraLoopStill",), otherwise={'caesura_loop_turns_total{pod="a"}': "900x480"}
    ),
    "partitions move again and again": Case(
        fires=("CaesuraRebalancesOften",),
        otherwise={'caesura_rebalances_total{pod="a", kind="assigned"}': "0+3x480"},
    ),
    "a partition is parked": Case(
        fires=("CaesuraPartitionParked",),
        otherwise={'caesura_partition_parked{pod="a", partition="3", reason="newer_event"}': "_x30 1x450"},
    ),
    "partitions cannot be claimed": Case(
        fires=("CaesuraPartitionsClaiming",),
        otherwise={'caesura_partitions{pod="a", phase="claiming"}': "2x480"},
    ),
    "partitions are rebuilt for long": Case(
        fires=("CaesuraPartitionsClaiming",),
        otherwise={'caesura_partitions{pod="a", phase="rebuilding"}': "2x480"},
    ),
    "partitions are held by nobody": Case(
        fires=("CaesuraPartitionsUnheld",),
        otherwise={'caesura_partitions{pod="b", phase="loaded"}': "6x20 0x460", **lag("b", range(6, 12), "3x20 _x460")},
    ),
    "partitions have moved to the other worker": Case(
        fires=(),
        otherwise={
            'caesura_partitions{pod="a", phase="loaded"}': "6x20 12x460",
            'caesura_partitions{pod="b", phase="loaded"}': "6x20 0x460",
            **lag("a", range(6, 12), "_x20 3x460"),
            **lag("b", range(6, 12), "3x20 _x460"),
        },
    ),
    "a partition is held twice": Case(
        fires=("CaesuraPartitionsHeldTwice",),
        otherwise={'caesura_lag_records{pod="b", partition="0"}': "3x480"},
    ),
    "checkpoints fail": Case(
        fires=("CaesuraCheckpointsFail",),
        otherwise={'caesura_transactions_total{pod="a", outcome="aborted_fenced"}': "0+60x480"},
    ),
    "workers are fenced off": Case(
        fires=("CaesuraFenced",), otherwise={'caesura_fence_rejections_total{pod="a", by="store"}': "0+1x480"}
    ),
    "Redis was lost": Case(fires=("CaesuraStateRebuilt",), otherwise={'caesura_rebuilds_total{pod="a"}': "0x40 3x440"}),
    "Redis was lost, and the input was too short": Case(
        fires=("CaesuraStateRebuilt", "CaesuraWordsLost"),
        otherwise={
            'caesura_rebuilds_total{pod="a"}': "0x40 3x440",
            'caesura_rebuild_lost_words_total{pod="a"}': "0x40 17x440",
        },
    ),
    "Redis was lost, and the input was too short for words that the ledger never knew of": Case(
        fires=("CaesuraStateRebuilt", "CaesuraWordsLost"),
        otherwise={
            'caesura_rebuilds_total{pod="a"}': "0x40 3x440",
            'caesura_rebuild_lost_records_total{pod="a"}': "0x40 2x440",
        },
    ),
    "Redis fails": Case(
        fires=("CaesuraRedisFails",), otherwise={'caesura_store_errors_total{pod="a", call="write"}': "0+12x480"}
    ),
    "Redis is away": Case(
        fires=("CaesuraUnsaved",), otherwise={'caesura_unsaved_seconds{pod="a", partition="0"}': "0+60x480"}
    ),
    "Kafka fails": Case(
        fires=("CaesuraKafkaFails",), otherwise={'caesura_broker_errors_total{pod="a", call="poll"}': "0+12x480"}
    ),
    "producers are made anew again and again": Case(
        fires=("CaesuraProducersRebuilt",),
        otherwise={'caesura_producer_rebuilds_total{pod="a", reason="commit_unknown"}': "0+1x480"},
    ),
    "the engine refuses a batch": Case(
        fires=("CaesuraEngineFails",), otherwise={'caesura_engine_failures_total{pod="a"}': "0x40 1x440"}
    ),
    "the engine's process ends": Case(
        fires=("CaesuraEngineRestarts",), otherwise={'caesura_engine_restarts_total{pod="a"}': "0x40 3x440"}
    ),
    "sessions go out without labels": Case(
        fires=("CaesuraWordsUnlabelled",), otherwise={'caesura_fallbacks_total{pod="a"}': "0x40 1x440"}
    ),
    "a language has no model": Case(
        fires=("CaesuraLanguageWithoutModel",),
        otherwise={'caesura_unmodelled_words_total{pod="a"}': "0+600x480"},
    ),
    "events are refused": Case(
        fires=("CaesuraEventsRefused",),
        otherwise={'caesura_dead_letters_total{pod="a", reason="malformed"}': "0+60x480"},
    ),
    "a transaction hangs in the input": Case(
        fires=("CaesuraInputHeld",),
        otherwise={'caesura_input_held_seconds{pod="a", partition="0"}': "0x40 0+60x440"},
    ),
    "a worker begins again and again": Case(
        fires=("CaesuraWorkerCrashLoops",),
        otherwise={'caesura_loop_turns_total{pod="a"}': "0+600x32 0+600x2 0+600x2 0+600x440"},
    ),
    "a record is poisonous": Case(
        fires=("CaesuraRecordPoisonous",),
        otherwise={'caesura_dead_letters_total{pod="a", reason="poison"}': "_x40 1x440"},
    ),
    "a leader does not answer": Case(
        fires=("CaesuraBrokerAwaited",),
        otherwise={
            'caesura_broker_awaited{pod="a", role="leader", topic="asr.segments", partition="0"}': "0x40 1x440",
        },
    ),
    "producers lose events": Case(
        fires=("CaesuraEventsMissing",), otherwise={'caesura_missed_events_total{pod="a"}': "0+9x480"}
    ),
    "targets are unknown": Case(
        fires=("CaesuraTargetsUnknown",), otherwise={'caesura_unknown_targets_total{pod="a"}': "0+1x480"}
    ),
}
