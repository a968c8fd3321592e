"""The cluster of the tests, the release in it, and what a test does to its pods."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.deploy.cluster.control_plane import ControlPlane
from tests.deploy.cluster.release import Release
from tests.deploy.node import data
from tests.deploy.node.conversation import Conversation
from tests.deploy.node.nodes import Nodes
from tests.harness.places import CHART, TOOLS

NAMESPACE = "asr"
PARTITIONS = 8
_PATIENCE_S = 300.0
_SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "speech-redis", "namespace": NAMESPACE},
    "stringData": {"password": data.REDIS_PASSWORD},
}


@dataclass(frozen=True, slots=True)
class Cluster:
    """A control plane with its nodes."""

    plane: ControlPlane
    nodes: Nodes

    @property
    def release(self) -> Release:
        """The release of the chart that all tests share."""
        return Release(self.plane, NAMESPACE, within="300s")

    def wait(self, reached: Callable[[], object], what: str) -> None:
        """Wait until ``reached()`` is true, for as long as a busy machine may need; AssertionError naming ``what``."""
        self.plane.wait(reached, what, within_s=_PATIENCE_S)

    def values(self) -> dict[str, Any]:
        """Return values as a user of a small cluster has them: the chart's example, and where Kafka and Redis are."""
        self.plane.apply([_SECRET])
        example: dict[str, Any] = yaml.safe_load((CHART / "examples" / "small-cluster.yaml").read_text())
        return example | {
            "image": {"repository": "localhost/caesura", "tag": "test"},
            "settings": {
                "kafka": {"bootstrap_servers": data.BOOTSTRAP},
                "redis": {"addresses": [data.REDIS], "username": data.REDIS_USER},
                # A machine that is busy makes no silence that nobody meant.
                "decoding": {"flush_after_ms": 200_000, "stall_after_ms": 200_000, "idle_after_ms": 400_000},
            },
            "secrets": {"redis.password": {"name": "speech-redis", "key": "password"}},
            "topics": {"create": True, "partitions": PARTITIONS, "replicas": 1, "timeoutSeconds": 300},
            "check": {"timeoutSeconds": 300},
            "resources": {"requests": {"cpu": "50m", "memory": "512Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}},
            "podDisruptionBudget": {"enabled": True},
            "minReadySeconds": 2,
            # A machine that is busy starts pods slowly.
            "probes": {"startupSeconds": 300},
        }

    def conversation(self, name: str, every_s: float = 0.3) -> Conversation:
        """Return sessions that talk from now on, one in each partition."""
        return Conversation(data.BOOTSTRAP, PARTITIONS, name, every_s)

    def scale(self, workers: int) -> None:
        """Have so many workers, and wait until they are ready."""
        release = self.release
        scaled = ("scale", "statefulset", release.full_name, f"--replicas={workers}")
        self.plane.kubectl(*scaled, "--namespace", NAMESPACE)
        self.wait(lambda: len(release.pods()) == release.ready() == workers, f"{workers} workers are ready")

    def logs(self, pod: str) -> list[dict[str, Any]]:
        """Return a worker's log, a line each, as ``kubectl logs`` has it."""
        said = self.plane.kubectl("logs", pod, "--namespace", NAMESPACE)
        return [json.loads(line) for line in said.splitlines()]

    def shell(self, commands: str) -> str:
        """Run commands of a page, with kubectl and helm as an administrator has them; return their output."""
        environ = os.environ | {"PATH": f"{TOOLS}:{os.environ['PATH']}", "KUBECONFIG": str(self.plane.kubeconfig)}
        done = subprocess.run(
            ["bash", "-eu", "-c", commands],  # noqa: S607
            env=environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def kill(self, pod: str, namespace: str = NAMESPACE) -> None:
        """Kill the process of a pod's container, as a crash would."""
        os.kill(self.nodes.container(self.plane.get("pod", pod, namespace)), signal.SIGKILL)

    def restarts(self, pod: str, namespace: str = NAMESPACE) -> int:
        """Return how often a pod's container was started again."""
        return int(self._status(pod, namespace).get("restartCount", 0))

    def last_end(self, pod: str) -> str:
        """Return why a pod's container ended before it was started again."""
        return str(self._status(pod, NAMESPACE).get("lastState", {}).get("terminated", {}).get("reason", ""))

    def offer_to_the_killer(self, pod: str) -> None:
        """Have a worker chosen first when its container is out of memory."""
        process = self.nodes.container(self.plane.get("pod", pod, NAMESPACE))
        Path(f"/proc/{process}/oom_score_adj").write_text("1000")

    def _status(self, pod: str, namespace: str) -> dict[str, Any]:
        found: dict[str, Any] = self.plane.get("pod", pod, namespace)["status"]["containerStatuses"][0]
        return found
