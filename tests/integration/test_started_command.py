"""What the command tells an orchestrator as it starts: it has once its models are warm, with brokers or without.

No test needs brokers: in the one nobody listens, in the other a model is never read to its end.
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from caesura.worker.embedded.guarded_process import free_port
from tests.harness.command import CAESURA, outside, started
from tests.harness.waiting import wait_until

pytestmark = pytest.mark.timeout(120)

_NOBODY = "127.0.0.1:9"


@contextmanager
def _worker(log: Path, **variables: str) -> Iterator[int]:
    """Run the command without brokers and Redis; yield the port that answers for it."""
    port = free_port()
    environ = outside() | {
        "CAESURA_KAFKA_BOOTSTRAP_SERVERS": _NOBODY,
        "CAESURA_REDIS_ADDRESSES": _NOBODY,
        "CAESURA_WORKER_HTTP_PORT": str(port),
        **{f"CAESURA_{name}": value for name, value in variables.items()},
    }
    with log.open("w") as out, started(*CAESURA, "worker", environ=environ, stdout=out, stderr=out) as process:
        yield port
        process.kill()  # one that reads a model hears no signal


def _asked(port: int, path: str) -> tuple[int, list[str]]:
    """Return an answer's status and reasons; 0 where nobody answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=30) as answer:
            return int(answer.status), list(json.load(answer)["reasons"])
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, list(json.load(refusal)["reasons"])
    except OSError:
        return 0, []


def test_a_worker_whose_brokers_are_away_has_started_and_lives_and_is_not_ready(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with _worker(log, WORKER_COMMIT_TIMEOUT_S="0.5", KAFKA_REQUEST_TIMEOUT_MS="300000") as port:
        wait_until(lambda: _asked(port, "started")[0] == 200, log.read_text, within_s=60.0)
        assert '"started"' not in log.read_text(), "it was said after brokers had been waited for"
        wait_until(lambda: len(_asked(port, "ready")[1]) > 1, log.read_text, within_s=60.0)
        assert _asked(port, "ready") == (503, ["starting", "start: BrokerError"])
        assert _asked(port, "started") == _asked(port, "live") == (200, [])


def test_a_worker_whose_model_is_still_read_has_not_started_and_lives(tmp_path: Path) -> None:
    log, model = tmp_path / "log", tmp_path / "models" / "one"
    model.mkdir(parents=True)
    os.mkfifo(model / "manifest.json")
    with _worker(log, WORKER_MODELS_DIR=str(model.parent)) as port:
        wait_until(lambda: _asked(port, "live")[0] == 200, log.read_text, within_s=60.0)
        status, (reason,) = _asked(port, "started")
        assert (status, reason[:32]) == (503, "no model is loaded and warm yet,")
        assert _asked(port, "ready") == (503, ["starting"])
