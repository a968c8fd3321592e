"""What the dashboard shows, row by row. ``$only`` in a query stands for the chosen namespaces and deployments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from caesura.worker.telemetry.metric_table import METRICS, Metric

_BY = "by (deployment)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One line of a panel. legend: its name, with ``{{label}}``."""

    expression: str
    legend: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One panel. unit: Grafana's name of it. says: what a good value looks like."""

    title: str
    unit: str
    says: str
    queries: tuple[Query, ...]
    kind: str = "timeseries"


def _rate(metric: str, by: str = "") -> str:
    return f"sum by ({', '.join(filter(None, ('deployment', by)))}) (rate({metric}{{$only}}[$__rate_interval]))"


def _panel_of_rate(title: str, metric: str, says: str, by: str = "", unit: str = "short") -> Panel:
    legend = f"{{{{deployment}}}} {{{{{by}}}}}" if by else "{{deployment}}"
    return Panel(title=title, unit=unit, says=says, queries=(Query(expression=_rate(metric, by), legend=legend),))


def _quantiles(title: str, metric: str, says: str, unit: str = "s") -> Panel:
    return Panel(title=title, unit=unit, says=says, queries=tuple(_quantile(metric, q) for q in (0.5, 0.95, 0.99)))


def _quantile(metric: str, quantile: float, by: str = "") -> Query:
    labels = ", ".join(filter(None, ("deployment", by, "le")))
    inner = f"sum by ({labels}) (rate({metric}_bucket{{$only}}[$__rate_interval]))"
    legend = f"p{quantile * 100:.0f} {{{{deployment}}}}" + (f" {{{{{by}}}}}" if by else "")
    return Query(expression=f"histogram_quantile({quantile}, {inner})", legend=legend)


def _gauge(title: str, expression: str, legend: str, says: str, unit: str = "short") -> Panel:
    return Panel(title=title, unit=unit, says=says, queries=(Query(expression=expression, legend=legend),))


ROWS: tuple[tuple[str, tuple[Panel, ...]], ...] = (
    (
        "Does it keep up?",
        (
            _gauge(
                "Age of the oldest unread word",
                "max by (deployment, partition) (caesura_oldest_unread_age_seconds{$only})",
                "{{deployment}} {{partition}}",
                "Near 0. It grows before lag does; scaling out goes by it.",
                "s",
            ),
            _gauge(
                "Lag",
                "max by (deployment, partition) (caesura_lag_records{$only})",
                "{{deployment}} {{partition}}",
                "Records of a partition not yet applied.",
            ),
            _quantiles(
                "Freeze delay", "caesura_freeze_delay_seconds", "From a segment's last word in Kafka to its freezing."
            ),
            _quantiles(
                "Freeze delay in words",
                "caesura_freeze_delay_words",
                "Bounded by the decoding: T or L words and a step, unless silence or a full buffer froze it sooner.",
                "short",
            ),
            _panel_of_rate("Words published", "caesura_words_total", "Words a second.", unit="wps"),
            _panel_of_rate("Segments by cause", "caesura_segments_total", "What ended them.", "cause"),
        ),
    ),
    (
        "Workers and partitions",
        (
            _gauge("Ready workers", f"sum {_BY} (caesura_ready{{$only}})", "{{deployment}}", "All of them."),
            _gauge(
                "Partitions by phase",
                "sum by (deployment, phase) (caesura_partitions{$only})",
                "{{deployment}} {{phase}}",
                "All loaded; claiming for seconds only; rebuilding where Redis was lost; none parked.",
            ),
            _gauge(
                "Parked partitions",
                "max by (deployment, partition, reason) (caesura_partition_parked{$only})",
                "{{deployment}} {{partition}} {{reason}}",
                "None: a parked one waits for you.",
            ),
            _panel_of_rate("Rebalances", "caesura_rebalances_total", "Rare outside of roll-outs.", "kind"),
            _panel_of_rate("Claims by verdict", "caesura_claims_total", "good; behind is a rebuild.", "verdict"),
            _panel_of_rate("Claims that wait", "caesura_claims_waiting_total", "Rare.", "reason"),
            _quantiles("Claim time", "caesura_claim_seconds", "From assignment to all sessions loaded."),
            _gauge(
                "Sessions in memory",
                "sum by (deployment, status) (caesura_sessions{$only})",
                "{{deployment}} {{status}}",
                "By status.",
            ),
            _panel_of_rate("Sessions opened and closed", "caesura_session_changes_total", "A second.", "change"),
            _gauge(
                "Turns of the loop",
                "rate(caesura_loop_turns_total{$only}[$__rate_interval])",
                "{{pod}}",
                "Above 0 for every pod.",
            ),
        ),
    ),
    (
        "Engine",
        (
            _gauge(
                "Engine busy",
                "rate(caesura_inference_seconds_sum{$only}[$__rate_interval])",
                "{{pod}}",
                "The part of the time that a pod spends in the engine; above 0.8 delay grows.",
                "percentunit",
            ),
            _quantiles("Time of an inference", "caesura_inference_seconds", "One batch."),
            _quantiles("Wait for a batch", "caesura_queue_age_seconds", "The oldest session of each batch."),
            _quantiles("Sessions a batch", "caesura_batch_sessions", "More under load.", "short"),
            _quantiles("Words a batch", "caesura_batch_words", "More under load.", "short"),
            _gauge(
                "Rows computed a published word",
                "rate(caesura_engine_layer_rows_total{$only}[$__rate_interval]) "
                "/ rate(caesura_words_total{$only}[$__rate_interval])",
                "{{pod}}",
                "About twice the network's layers: each layer of each word once, tails and new starts besides.",
            ),
            Panel(
                title="Computed again",
                unit="short",
                says="Buffers read from their first word on: after a cut, a hand-over, an eviction. Evictions: near 0.",
                queries=(
                    Query(expression=_rate("caesura_engine_begun_buffers_total"), legend="buffers begun"),
                    Query(expression=_rate("caesura_engine_evicted_sessions_total"), legend="sessions evicted"),
                ),
            ),
            _gauge(
                "Rows kept",
                "caesura_engine_kept_bytes{$only}",
                "{{pod}}",
                "At most worker.engine_memory_mib; where it is reached, sessions are evicted.",
                "bytes",
            ),
            Panel(
                title="Without labels",
                unit="short",
                says="0: refused batches, sessions frozen without labels, words without a model.",
                queries=(
                    Query(expression=_rate("caesura_engine_failures_total"), legend="refused batches"),
                    Query(expression=_rate("caesura_fallbacks_total"), legend="sessions without labels"),
                    Query(expression=_rate("caesura_unmodelled_words_total"), legend="words without a model"),
                    Query(
                        expression=_rate("caesura_model_takeovers_total"), legend="buffers taken over by a new model"
                    ),
                ),
            ),
        ),
    ),
    (
        "Exactly once",
        (
            _panel_of_rate("Checkpoints by outcome", "caesura_transactions_total", "Almost all committed.", "outcome"),
            Panel(
                title="Checkpoint steps, p99",
                unit="s",
                says="Milliseconds each. Their sum and the commit interval are part of the delay.",
                queries=(_quantile("caesura_checkpoint_step_seconds", 0.99, "step"),),
            ),
            Panel(
                title="Rebuilt from the log",
                unit="short",
                says="0: Redis was behind the log. Lost is what retention had taken from the input.",
                queries=(
                    Query(expression=_rate("caesura_rebuilds_total"), legend="partitions rebuilt"),
                    Query(expression=_rate("caesura_rebuild_lost_sessions_total"), legend="sessions with lost words"),
                    Query(expression=_rate("caesura_rebuild_lost_words_total"), legend="words lost"),
                    Query(expression=_rate("caesura_rebuild_lost_records_total"), legend="offsets gone"),
                ),
            ),
            _panel_of_rate(
                "Fenced writes", "caesura_fence_rejections_total", "Only around rebalances or a loss in Redis.", "by"
            ),
            _panel_of_rate("Takeovers", "caesura_takeovers_total", "Transactions of dead workers ended early; rare."),
            _panel_of_rate("Producers made anew", "caesura_producer_rebuilds_total", "0.", "reason"),
            _panel_of_rate("Redis errors", "caesura_store_errors_total", "0.", "call"),
            _panel_of_rate("Kafka errors", "caesura_broker_errors_total", "0.", "call"),
        ),
    ),
    (
        "What producers send",
        (
            _panel_of_rate("Events applied", "caesura_events_total", "A second."),
            _panel_of_rate("Dead letters", "caesura_dead_letters_total", "0; by reason.", "reason"),
            Panel(
                title="Numbers of events",
                unit="short",
                says="Repeats are dropped and harmless; gaps are words that a producer lost.",
                queries=(
                    Query(expression=_rate("caesura_repeats_total"), legend="repeats"),
                    Query(expression=_rate("caesura_gaps_total"), legend="gaps"),
                    Query(expression=_rate("caesura_missed_events_total"), legend="events missed"),
                    Query(expression=_rate("caesura_unknown_targets_total"), legend="unknown targets"),
                ),
            ),
        ),
    ),
    (
        "Words on a screen",
        (
            _panel_of_rate(
                "Looks at unfrozen words",
                "caesura_tentative_looks_total",
                "Offered, and what gave way; where the topic is off and nobody watches, none.",
                "outcome",
            ),
            _gauge("Clients", "caesura_serve_connections{$only}", "{{pod}}", "Of caesura serve and view."),
            _gauge("Sessions served", "caesura_serve_sessions{$only}", "{{pod}}", "Of caesura serve; in memory alone."),
            _panel_of_rate("Words of clients", "caesura_serve_words_total", "A second."),
            _panel_of_rate("Refused clients", "caesura_serve_refused_total", "0; by reason.", "reason"),
        ),
    ),
)


def rows() -> Iterator[tuple[str, tuple[Panel, ...]]]:
    """Yield the rows, and after them one of the metrics that no panel of theirs names: a new one is seen at once."""
    yield from ROWS
    shown = " ".join(query.expression for _, panels in ROWS for panel in panels for query in panel.queries)
    left = [one for one in METRICS if one.name not in re.findall(r"caesura_\w+?(?=_bucket|_count|_sum|\W)", shown)]
    if left:
        yield "Everything else", tuple(map(_plain, left))


def _plain(metric: Metric) -> Panel:
    """Return a panel of a metric by its kind, deployment by deployment and by its first label."""
    title = metric.name.removeprefix("caesura_").removesuffix("_total").replace("_", " ")
    by = metric.labels[0] if metric.labels else ""
    if metric.kind == "histogram":
        return _quantiles(title, metric.name, metric.help)
    if metric.kind == "counter":
        return _panel_of_rate(title, metric.name, metric.help, by)
    return _gauge(title, f"max by (deployment) ({metric.name}{{$only}})", "{{deployment}}", metric.help)
