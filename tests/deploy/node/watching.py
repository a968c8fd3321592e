"""What watches a cluster: Prometheus with the chart's rules, and what autoscalers ask: metrics server and KEDA."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from caesura.worker.embedded.guarded_process import free_port
from tests.deploy.cluster.control_plane import ControlPlane
from tests.deploy.cluster.definitions import KEDA, module_folder
from tests.harness.places import CHART

__all__ = ["Prometheus", "start_keda", "start_metrics_server"]

_ADDRESS = "192.0.2.2"
"""The control plane's on the nodes' network."""


class Prometheus:
    """Starts on construction, and scrapes the pods that ``watch`` was last given."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._folder = plane.folder / "prometheus"
        self._folder.mkdir()
        self._port = free_port()
        self.watch({})
        config = {
            "global": {"scrape_interval": "2s", "evaluation_interval": "5s"},
            "rule_files": [str(CHART / "files" / "rules.yaml")],
            "scrape_configs": [
                {
                    "job_name": "caesura",
                    "file_sd_configs": [{"files": [str(self._folder / "pods.json")], "refresh_interval": "1s"}],
                }
            ],
        }
        (self._folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
        self.start()

    @property
    def address(self) -> str:
        """Its URL, for what runs beside the control plane."""
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start it again after ``end``, with what it had stored."""
        self._plane.spawn(
            "prometheus",
            f"--config.file={self._folder}/prometheus.yaml",
            f"--storage.tsdb.path={self._folder}/data",
            f"--web.listen-address=127.0.0.1:{self._port}",
        )

    def end(self) -> None:
        """End it: nothing answers at its address."""
        self._plane.end("prometheus")

    def watch(self, pods: Mapping[str, Mapping[str, Any]]) -> None:
        """Scrape those pods that have an address, under the labels that the chart's PodMonitor gives them."""
        labels = {"namespace": "asr", "deployment": "speech"}
        targets = [
            {"targets": [f"{pod['status']['podIP']}:9464"], "labels": labels | {"pod": name}}
            for name, pod in pods.items()
            if "podIP" in pod["status"]
        ]
        written = self._folder / "pods.json"
        written.with_suffix(".new").write_text(json.dumps(targets))
        written.with_suffix(".new").rename(written)

    def value(self, expression: str) -> float | None:
        """Return the value of an expression that has one; None while it has none."""
        found = self._ask(f"query?query={urllib.parse.quote(expression)}").get("result", [])
        return float(found[0]["value"][1]) if found else None

    def rules(self) -> list[dict[str, Any]]:
        """Return all rules, with what Prometheus says of their last evaluation."""
        return [rule for group in self._ask("rules").get("groups", []) for rule in group["rules"]]

    def firing(self) -> set[str]:
        """Return the names of the alerts that fire."""
        return {one["labels"]["alertname"] for one in self._ask("alerts").get("alerts", []) if one["state"] == "firing"}

    def _ask(self, path: str) -> dict[str, Any]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/api/v1/{path}", timeout=10) as answer:
                found: dict[str, Any] = json.load(answer)["data"]
                return found
        except OSError:  # it is not up yet
            return {}


def start_metrics_server(plane: ControlPlane) -> None:
    """Start the metrics server, and wait until the API server hands on to it what an autoscaler asks for."""
    port = free_port()
    plane.spawn(
        "metrics-server",
        f"--kubeconfig={plane.kubeconfig}",
        *_serving(plane, port, "metrics-server"),
        "--kubelet-insecure-tls",
        "--kubelet-preferred-address-types=InternalIP",
        "--metric-resolution=15s",
    )
    _aggregate(plane, "metrics-server", port, "metrics.k8s.io")


def start_keda(plane: ControlPlane) -> None:
    """Install KEDA's definitions, start its operator and its metrics API server, and wait until both answer.

    They run beside the control plane, as the metrics server does: without their roles and their admission webhook.
    """
    plane.kubectl("apply", "--server-side", "--kustomize", str(module_folder(KEDA) / "config" / "crd"))
    service, health, port = free_port(), free_port(), free_port()
    certificates = plane.folder / "keda"
    _make_certificate(certificates)
    environ = (f"KUBECONFIG={plane.kubeconfig}", "WATCH_NAMESPACE=", "KEDA_CLUSTER_OBJECT_NAMESPACE=kube-system")
    plane.spawn(
        "keda-operator",
        f"--metrics-service-bind-address=127.0.0.1:{service}",
        f"--health-probe-bind-address=127.0.0.1:{health}",
        "--enable-prometheus-metrics=false",
        f"--cert-dir={certificates}",
        before=["env", *environ],
    )
    plane.spawn(
        "keda-adapter",
        f"--lister-kubeconfig={plane.kubeconfig}",
        *_serving(plane, port, "keda"),
        f"--tls-cert-file={certificates}/tls.crt",
        f"--tls-private-key-file={certificates}/tls.key",
        f"--metrics-service-address=127.0.0.1:{service}",
        f"--port={free_port()}",
        before=["env", *environ],
    )
    _aggregate(plane, "keda-metrics-apiserver", port, "external.metrics.k8s.io")


def _serving(plane: ControlPlane, port: int, name: str) -> tuple[str, ...]:
    """Return flags of a server that the API server hands requests on to."""
    return (
        f"--authentication-kubeconfig={plane.kubeconfig}",
        f"--authorization-kubeconfig={plane.kubeconfig}",
        f"--secure-port={port}",
        f"--cert-dir={plane.folder}/{name}",
    )


def _make_certificate(folder: Path) -> None:
    """Make one certificate with which KEDA's operator and its metrics API server know each other."""
    folder.mkdir()
    made: list[str | Path] = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    made += ["-keyout", folder / "tls.key", "-out", folder / "tls.crt"]
    subprocess.run(
        [*made, "-subj", "/CN=keda", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True
    )
    shutil.copy(folder / "tls.crt", folder / "ca.crt")


def _aggregate(plane: ControlPlane, name: str, port: int, group: str) -> None:
    """Have the API server hand requests for a group of metrics on to a server, and wait until it answers."""
    named = {"name": name, "namespace": "kube-system"}
    addressed = {"addresses": [_ADDRESS], "conditions": {"ready": True}}
    plane.apply(
        [
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": named,
                "spec": {"ports": [{"name": "https", "port": 443, "targetPort": port}]},
            },
            {
                "apiVersion": "discovery.k8s.io/v1",
                "kind": "EndpointSlice",
                "metadata": named | {"labels": {"kubernetes.io/service-name": name}},
                "addressType": "IPv4",
                "endpoints": [addressed],
                "ports": [{"name": "https", "port": port}],
            },
            {
                "apiVersion": "apiregistration.k8s.io/v1",
                "kind": "APIService",
                "metadata": {"name": f"v1beta1.{group}"},
                "spec": {
                    "group": group,
                    "version": "v1beta1",
                    "groupPriorityMinimum": 100,
                    "versionPriority": 100,
                    "insecureSkipTLSVerify": True,
                    "service": named,
                },
            },
        ]
    )
    plane.kubectl("wait", "--for=condition=Available", "apiservice", f"v1beta1.{group}", "--timeout=120s")
