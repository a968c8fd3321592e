"""A kubelet of a test: pods of a release whose image has the tag ``real`` are workers in processes of this machine.

kwok leaves such pods alone. Each gets the environment that its pod's specification says, is ready when its ``/ready``
says so, and is stopped as a container is when its pod goes.
"""

from __future__ import annotations

import json
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from caesura.worker.embedded.guarded_process import free_port
from tests.deploy.cluster.release import Release
from tests.harness.command import CAESURA, outside
from tests.harness.places import ROOT
from tests.harness.waiting import wait_until

_DEADLINE_S = 120.0


@dataclass(slots=True)
class _Container:
    """A worker's process; where it listens; whether its pod was said to be ready."""

    process: subprocess.Popen[bytes]
    port: int
    ready: bool = False


class Kubelet:
    """Turns by hand, in ``turn_until``; ``close`` kills what still runs."""

    def __init__(self, release: Release, folder: Path) -> None:
        self._release = release
        self._folder = folder
        self._containers: dict[str, _Container] = {}
        self.stopped: list[int] = []

    def turn_until(self, reached: Callable[[], bool], what: str) -> None:
        """Play the pods until something is so; the test fails where it never is."""
        wait_until(reached, lambda: f"{what}; {self.logs()}", within_s=_DEADLINE_S, every_s=0.3, meanwhile=self._turn)

    def logs(self) -> str:
        """Return the end of every worker's log."""
        return "\n".join(f"{log.name}: {log.read_text()[-1500:]}" for log in sorted(self._folder.glob("*.log")))

    def close(self) -> None:
        """Kill every worker that still runs."""
        for one in self._containers.values():
            one.process.kill()
            one.process.wait()

    def _turn(self) -> None:
        pods = {pod["metadata"]["uid"]: pod for pod in self._release.pods().values()}
        for uid in self._containers.keys() - pods.keys():
            self._stop(uid)
        for uid, pod in pods.items():
            if "nodeName" in pod["spec"] and uid not in self._containers:
                self._start(uid, pod)
            if uid in self._containers:
                self._probe(self._containers[uid], pod)

    def _start(self, uid: str, pod: dict[str, Any]) -> None:
        port = free_port()
        environ = outside() | self._environment(pod) | {"CAESURA_WORKER_HTTP_PORT": str(port)}
        arguments = pod["spec"]["containers"][0]["args"]
        with (self._folder / f"{pod['metadata']['name']}-{uid[:8]}.log").open("wb") as log:
            process = subprocess.Popen([*CAESURA, *arguments], cwd=ROOT, env=environ, stdout=log, stderr=log)
        self._containers[uid] = _Container(process, port)

    def _environment(self, pod: dict[str, Any]) -> dict[str, str]:
        return {
            variable["name"]: variable["value"] if "value" in variable else _field(pod, variable["valueFrom"])
            for variable in pod["spec"]["containers"][0]["env"]
        }

    def _probe(self, one: _Container, pod: dict[str, Any]) -> None:
        assert one.process.poll() is None, f"{pod['metadata']['name']} ended; {self.logs()}"
        ready = _answers_ready(one.port)
        if ready == one.ready:
            return
        one.ready = ready
        conditions = [{"type": kind, "status": str(ready)} for kind in ("Ready", "ContainersReady")]
        status = json.dumps({"status": {"phase": "Running", "conditions": conditions}})
        self._release.cluster.kubectl(
            *("patch", "pod", pod["metadata"]["name"], "--namespace", self._release.namespace),
            *("--subresource", "status", "--type", "strategic", "--patch", status),
        )

    def _stop(self, uid: str) -> None:
        process = self._containers.pop(uid).process
        process.send_signal(signal.SIGTERM)
        self.stopped.append(process.wait(timeout=_DEADLINE_S))


def _field(pod: dict[str, Any], source: dict[str, Any]) -> str:
    """Return what the downward API says of a label; the chart asks for nothing else here."""
    path: str = source["fieldRef"]["fieldPath"]
    label = path.removeprefix("metadata.labels['").removesuffix("']")
    found: str = pod["metadata"]["labels"][label]
    return found


def _answers_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5) as answer:
            return bool(json.load(answer)["ready"])
    except urllib.error.HTTPError as refusal:
        refusal.close()
        return False
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False
