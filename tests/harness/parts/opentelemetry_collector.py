"""An OpenTelemetry Collector (``tools/otelcol``) between the worker and the test's receiver: OTLP in, OTLP on."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from caesura.worker.embedded.guarded_process import GuardedProcess, free_port
from tests.harness.deploy_tools import tool
from tests.harness.waiting import wait_until

_DEADLINE_S = 120.0


@contextmanager
def forwarding(to: str, folder: Path) -> Iterator[str]:
    """Run a collector that sends on what it gets before it answers; yield its endpoint for OTLP over HTTP."""
    port = free_port()
    config = folder / "otelcol.yaml"
    config.write_text(yaml.safe_dump(_config(port, to)))
    process = GuardedProcess([str(tool("otelcol")), "--config", str(config)], log=folder / "otelcol.log")
    try:
        endpoint = f"http://127.0.0.1:{port}"
        _wait_until_it_answers(endpoint, process)
        yield endpoint
    finally:
        process.terminate()


def _config(port: int, to: str) -> dict[str, object]:
    # No queue and no retries: the worker's exporter is told what became of its spans.
    exporter = {"endpoint": to, "sending_queue": {"enabled": False}, "retry_on_failure": {"enabled": False}}
    return {
        "receivers": {"otlp": {"protocols": {"http": {"endpoint": f"127.0.0.1:{port}"}}}},
        "exporters": {"otlphttp": exporter},
        "service": {
            "telemetry": {"metrics": {"level": "none"}},
            "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["otlphttp"]}},
        },
    }


def _wait_until_it_answers(endpoint: str, process: GuardedProcess) -> None:
    wait_until(lambda: _answers(endpoint) or not process.alive, process.log_tail, within_s=_DEADLINE_S)
    assert process.alive, process.log_tail()


def _answers(endpoint: str) -> bool:
    """Tell whether something listens; a collector has no page of its own at ``/``."""
    try:
        urllib.request.urlopen(endpoint, timeout=5).close()  # noqa: S310 - an address of ours
    except urllib.error.HTTPError as refusal:
        refusal.close()
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False
    return True
