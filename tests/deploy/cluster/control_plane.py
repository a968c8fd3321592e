"""A Kubernetes control plane on this machine: etcd, API server, controllers, scheduler; and kwok, to play the nodes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from ssl import CERT_NONE, create_default_context
from typing import Any

import yaml

from caesura.worker.embedded.guarded_process import free_port
from tests.harness.deploy_tools import tool
from tests.harness.waiting import wait_until

_STAGES = Path(__file__).with_name("stages.yaml")
_TOKEN = "admin-of-a-test"
_DEADLINE_S = 120.0


class Failed(Exception):  # noqa: N818  # it reads as the sentence it stands for
    """A command of kubectl or helm failed; the text is what it said."""


class ControlPlane:
    """Starts on construction, in a folder of its own; ``close`` ends every process of it.

    With a folder given, which ``close`` leaves, its nodes are real ones, whose processes are started by ``spawn``;
    otherwise kwok plays them.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(tempfile.mkdtemp(prefix="control-plane-"))
        self._played = folder is None
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._port = free_port()
        try:
            self._start()
            if self._played:
                self._play_nodes()
        except BaseException:
            self.close()
            raise

    @property
    def kubeconfig(self) -> Path:
        """Credentials of its administrator."""
        return self.folder / "kubeconfig"

    def kubectl(self, *arguments: str, given: str | None = None) -> str:
        """Run kubectl. Failed with what it said."""
        return self._run([str(tool("kubectl")), *arguments], given)

    def helm(self, *arguments: str, given: str | None = None) -> str:
        """Run helm. Failed with what it said."""
        return self._run([str(tool("helm")), *arguments], given)

    def get(self, kind: str, name: str = "", namespace: str = "") -> dict[str, Any]:
        """Return an object, or the list of all of a kind, as the API server has it."""
        within = ("--namespace", namespace) if namespace else ()
        named = (name,) if name else ()
        found: dict[str, Any] = json.loads(self.kubectl("get", kind, *named, *within, "--output", "json"))
        return found

    def apply(self, objects: Sequence[Mapping[str, Any]], *options: str) -> str:
        """Create or change objects."""
        return self.kubectl("apply", *options, "--filename", "-", given=yaml.safe_dump_all(list(objects)))

    def add_nodes(self, *names: str) -> None:
        """Add nodes that kwok plays, in a zone each, and wait until pods can be put on them."""
        node = {"apiVersion": "v1", "kind": "Node"}
        labels = [{"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{name}"} for name in names]
        self.apply([node | {"metadata": {"name": n, "labels": one}} for n, one in zip(names, labels, strict=True)])
        self.wait(lambda: all(_takes_pods(node) for node in self.get("nodes")["items"]), "nodes")

    def wait(self, reached: Any, what: str, within_s: float = _DEADLINE_S) -> None:  # noqa: ANN401 - any question
        """Wait until ``reached()`` is true; AssertionError naming ``what`` after the deadline."""
        wait_until(reached, what, within_s=within_s, meanwhile=self._check_that_all_run)

    def spawn(self, name: str, *arguments: str, named: str = "", before: Sequence[str] = ()) -> None:
        """Start a tool and have it looked after. named: its name here, the tool's by default; before: what runs it."""
        known_as = named or name
        with (self.folder / f"{known_as}.log").open("ab") as log:
            command = [*before, str(tool(name)), *arguments]
            self._processes[known_as] = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)

    def end(self, known_as: str, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a process that ``spawn`` started a signal, and wait for its end."""
        process = self._processes.pop(known_as)
        process.send_signal(number)
        process.wait(timeout=60)

    def close(self) -> None:
        """End the processes, the last started first, and remove a folder of its own."""
        for process in reversed(self._processes.values()):
            process.send_signal(signal.SIGTERM)
        for process in reversed(self._processes.values()):
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._played:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self) -> None:
        key = self.folder / "accounts.key"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)  # noqa: S607
        (self.folder / "tokens.csv").write_text(f"{_TOKEN},admin,admin,system:masters\n")
        self._write_kubeconfig()
        etcd, peers = free_port(), free_port()
        self.spawn(
            "etcd",
            f"--data-dir={self.folder}/etcd",
            f"--listen-client-urls=http://127.0.0.1:{etcd}",
            f"--advertise-client-urls=http://127.0.0.1:{etcd}",
            f"--listen-peer-urls=http://127.0.0.1:{peers}",
            f"--initial-advertise-peer-urls=http://127.0.0.1:{peers}",
            f"--initial-cluster=default=http://127.0.0.1:{peers}",
            "--unsafe-no-fsync",
        )
        self.spawn(
            "kube-apiserver",
            f"--etcd-servers=http://127.0.0.1:{etcd}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self._port}",
            f"--cert-dir={self.folder}/certificates",
            f"--token-auth-file={self.folder}/tokens.csv",
            "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--kubelet-preferred-address-types=InternalIP",
            *self._aggregator(),
        )
        self.wait(self._answers, "the API server answers")
        shared = (f"--kubeconfig={self.kubeconfig}", "--leader-elect=false")
        self.spawn("kube-controller-manager", *shared, f"--service-account-private-key-file={key}", "--secure-port=0")
        self.spawn("kube-scheduler", *shared, "--secure-port=0")

    def _aggregator(self) -> list[str]:
        """Return flags with which the API server may hand requests on to another, such as the metrics server."""
        key, authority = self.folder / "aggregator.key", self.folder / "aggregator.crt"
        made: list[str | Path] = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        made += ["-keyout", key, "-out", authority, "-subj", "/CN=aggregator"]
        subprocess.run(made, check=True, capture_output=True)
        return [
            f"--requestheader-client-ca-file={authority}",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={authority}",
            f"--proxy-client-key-file={key}",
        ]

    def _play_nodes(self) -> None:
        self.spawn(
            "kwok",
            f"--kubeconfig={self.kubeconfig}",
            "--manage-all-nodes=true",
            f"--config={_STAGES}",
            "--node-lease-duration-seconds=40",
        )

    def _check_that_all_run(self) -> None:
        for name, process in self._processes.items():
            if process.poll() is not None:
                raise AssertionError(f"{name} ended: {self._last_words(name)}")

    def _answers(self) -> bool:
        request = urllib.request.Request(f"https://127.0.0.1:{self._port}/readyz")
        request.add_header("Authorization", f"Bearer {_TOKEN}")
        trusting = create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, CERT_NONE
        try:
            with urllib.request.urlopen(request, timeout=5, context=trusting) as answer:  # noqa: S310
                return bool(answer.status == 200)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def _last_words(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")[-2000:]

    def _write_kubeconfig(self) -> None:
        cluster = {"server": f"https://127.0.0.1:{self._port}", "insecure-skip-tls-verify": True}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": _TOKEN}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
            "current-context": "test",
        }
        self.kubeconfig.write_text(yaml.safe_dump(document))

    def _run(self, command: Sequence[str], given: str | None) -> str:
        environ = {**os.environ, "KUBECONFIG": str(self.kubeconfig), "HOME": str(self.folder)}
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, check=False, timeout=600, env=environ
        )
        if done.returncode:
            raise Failed(done.stderr + done.stdout)
        return done.stdout


def _takes_pods(node: Mapping[str, Any]) -> bool:
    conditions = node["status"].get("conditions", ())
    ready = any((one["type"], one["status"]) == ("Ready", "True") for one in conditions)
    return ready and not node["spec"].get("taints")
