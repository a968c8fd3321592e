"""The metrics of ``metric_table`` as Prometheus collectors in a registry of their own; nothing global."""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector

from caesura.worker.telemetry.metric_table import FREEZE_DELAY_WORDS, WORKER_METRICS, Metric

_LABEL_VALUE = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_OTHER = "other"


class WeightedHistogram(Collector):
    """A histogram that takes many equal observations at once; the client library's takes one at a time."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._counts = [0] * (len(metric.buckets) + 1)
        self._sum = 0.0
        self._lock = threading.Lock()

    def observe(self, value: float, times: int) -> None:
        """Count ``value`` so many times."""
        with self._lock:
            self._counts[bisect_left(self._metric.buckets, value)] += times
            self._sum += value * times

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """Yield the one family, as the registry asks."""
        with self._lock:
            counts, total = list(accumulate(self._counts)), self._sum
        bounds = [*(str(float(bound)) for bound in self._metric.buckets), "+Inf"]
        yield HistogramMetricFamily(
            self._metric.name, self._metric.help, buckets=list(zip(bounds, counts, strict=True)), sum_value=total
        )


class Metrics:
    """The metrics of one process, a worker's unless told. Thread-safe.

    A label's value that is no short name is counted as ``other``. A metric that is not among the rows is a KeyError.
    """

    def __init__(self, rows: Sequence[Metric] = WORKER_METRICS) -> None:
        self.registry = CollectorRegistry(auto_describe=False)
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        self._histograms: dict[str, Histogram] = {}
        self._partitioned: dict[int, set[tuple[str, tuple[str, ...]]]] = {}
        for metric in rows:
            self._make(metric)

    def _make(self, metric: Metric) -> None:
        if metric is FREEZE_DELAY_WORDS:
            self._freeze_delay_words = WeightedHistogram(metric)
            self.registry.register(self._freeze_delay_words)
        elif metric.kind == "counter":
            self._counters[metric.name] = Counter(metric.name, metric.help, metric.labels, registry=self.registry)
        elif metric.kind == "gauge":
            self._gauges[metric.name] = Gauge(metric.name, metric.help, metric.labels, registry=self.registry)
        else:
            self._histograms[metric.name] = Histogram(
                metric.name, metric.help, metric.labels, registry=self.registry, buckets=metric.buckets
            )

    def add(self, metric: Metric, amount: float = 1.0, **labels: str) -> None:
        """Add to a counter."""
        counter = self._counters[metric.name]
        (counter.labels(**_checked(labels)) if labels else counter).inc(amount)

    def observe(self, metric: Metric, value: float, **labels: str) -> None:
        """Observe a value in a histogram."""
        histogram = self._histograms[metric.name]
        (histogram.labels(**_checked(labels)) if labels else histogram).observe(value)

    def observe_freeze_delay(self, words: int, times: int) -> None:
        """Count words that froze when ``words`` further ones had come."""
        self._freeze_delay_words.observe(words, times)

    def set(self, metric: Metric, value: float, **labels: str) -> None:
        """Set a gauge that is not a partition's."""
        gauge = self._gauges[metric.name]
        (gauge.labels(**_checked(labels)) if labels else gauge).set(value)

    def set_of(self, partition: int, metric: Metric, value: float, **labels: str) -> None:
        """Set a gauge of a partition, to be dropped with it."""
        values = (str(partition), *_checked(labels).values())
        self._partitioned.setdefault(partition, set()).add((metric.name, values))
        self._gauges[metric.name].labels(*values).set(value)

    def drop(self, partition: int) -> None:
        """Drop the gauges of a partition that is no longer held: another worker reports it now."""
        for name, values in self._partitioned.pop(partition, ()):
            self._gauges[name].remove(*values)


def _checked(labels: dict[str, str]) -> dict[str, str]:
    return {name: value if _LABEL_VALUE.fullmatch(value) else _OTHER for name, value in labels.items()}
