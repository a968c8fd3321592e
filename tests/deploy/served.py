"""What a worker serves on its port: the metrics by name and kind."""

from __future__ import annotations

import urllib.request
from collections.abc import Sequence

from prometheus_client.parser import text_string_to_metric_families

from caesura.worker.telemetry.health import Health
from caesura.worker.telemetry.http_server import TelemetryServer
from caesura.worker.telemetry.metric_table import WORKER_METRICS, Metric
from caesura.worker.telemetry.metrics import Metrics


def families_served(port: int, host: str = "127.0.0.1") -> dict[str, str]:
    """Return what is on /metrics of a worker: sample name without its ending to kind."""
    with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    return {
        family.name + ("_total" if family.type == "counter" else ""): family.type
        for family in text_string_to_metric_families(text)
        if family.name.startswith("caesura_") and not family.name.endswith("_created")  # when a counter began
    }


def families(rows: Sequence[Metric] = WORKER_METRICS) -> dict[str, str]:
    """Return what a worker serves on /metrics; a worker that runs on real parts serves the same (the image's test)."""
    metrics = Metrics(rows)
    server = TelemetryServer("127.0.0.1", 0, registry=metrics.registry, health=Health(lambda: 0.0))
    server.start()
    try:
        return families_served(server.port)
    finally:
        server.close()
