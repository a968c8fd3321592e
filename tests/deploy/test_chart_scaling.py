"""The number of workers that the chart renders where a scaler has one of its own, from a StatefulSet that is there."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.rendered import KUBERNETES, render

_SCALED: dict[str, Any] = {"replicas": 7, "autoscaling": {"enabled": True, "partitions": 12, "minReplicas": 3}}
_KINDS = {
    "kind": "APIResourceList",
    "groupVersion": "apps/v1",
    "resources": [{"name": "statefulsets", "kind": "StatefulSet", "namespaced": True, "verbs": ["get"]}],
}


@contextmanager
def api_server(stateful_set: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """Answer, as an API server does, what helm asks before it looks an object up; yield a kubeconfig's path."""
    answers: dict[str, Mapping[str, Any]] = {
        "/version": {"major": "1", "minor": "36", "gitVersion": f"v{KUBERNETES}"},
        "/api": {"kind": "APIVersions", "versions": []},
        "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
        "/apis/apps/v1": _KINDS,
        "/apis/apps/v1/namespaces/asr/statefulsets/speech-caesura": stateful_set,
    }

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = answers.get(self.path.partition("?")[0])
            body = json.dumps(found or {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404})
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        file = folder / "kubeconfig"
        cluster = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}
        context = {"name": "c", "context": {"cluster": "c", "user": ""}}
        document = {"apiVersion": "v1", "kind": "Config", "clusters": [cluster], "contexts": [context]}
        file.write_text(yaml.safe_dump(document | {"current-context": "c"}))
        yield str(file)
        server.shutdown()


def of_replicas(number: int) -> dict[str, Any]:
    """Return a StatefulSet of so many pods."""
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "speech-caesura", "namespace": "asr"},
        "spec": {"replicas": number},
    }


@pytest.mark.parametrize("by", ["keda", "hpa"])
@pytest.mark.parametrize(("found", "rendered"), [(of_replicas(6), 6), (of_replicas(0), 3), ({}, 3)])
def test_an_upgrade_leaves_the_scaler_the_number_that_it_finds(
    tmp_path: Path, by: str, found: dict[str, Any], rendered: int
) -> None:
    with api_server(found, tmp_path) as kubeconfig:
        objects = render(_SCALED, {"autoscaling": {"by": by}}, more=["--dry-run=server", "--kubeconfig", kubeconfig])
    assert objects.of("StatefulSet")["spec"]["replicas"] == rendered


def test_without_a_scaler_it_is_the_values_number_whatever_is_there(tmp_path: Path) -> None:
    with api_server(of_replicas(6), tmp_path) as kubeconfig:
        objects = render({"replicas": 2}, more=["--dry-run=server", "--kubeconfig", kubeconfig])
    assert objects.of("StatefulSet")["spec"]["replicas"] == 2


def test_rendered_without_a_cluster_a_scaled_deployment_has_its_least_number() -> None:
    assert render(_SCALED).of("StatefulSet")["spec"]["replicas"] == 3
