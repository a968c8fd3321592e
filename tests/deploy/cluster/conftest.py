"""One control plane for all tests of this folder, with nodes and definitions; a namespace a test."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator

import pytest

from tests.deploy.cluster.control_plane import ControlPlane
from tests.deploy.cluster.definitions import definitions
from tests.harness.deploy_tools import tool

_NUMBERS = itertools.count(1)
_NEEDED = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok", "helm")


@pytest.fixture(scope="session")
def cluster() -> Iterator[ControlPlane]:
    if "CAESURA_DEPLOY_TOOLS" not in os.environ:
        pytest.skip("`make test-deploy` runs it")
    for name in _NEEDED:
        tool(name)
    made = ControlPlane()
    try:
        made.add_nodes("one", "two", "three")
        for file in definitions():
            made.kubectl("create", "--filename", str(file))
        made.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        yield made
    finally:
        made.close()


@pytest.fixture
def namespace(cluster: ControlPlane) -> str:
    """A namespace under the strictest pod security level."""
    name = f"asr-{next(_NUMBERS)}"
    enforce = "pod-security.kubernetes.io/enforce"
    labels = {enforce: "restricted", f"{enforce}-version": "latest"}
    cluster.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}])
    cluster.wait(lambda: cluster.get("serviceaccounts", namespace=name)["items"], f"accounts of {name}")
    return name
