"""Two real nodes with Kafka and Redis in pods, one release of the chart, and the times that the tests measure."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.deploy.cluster.control_plane import ControlPlane
from tests.deploy.node import data
from tests.deploy.node.cluster import Cluster
from tests.deploy.node.nodes import CGROUP, FOLDER, Nodes, make_network
from tests.deploy.node.watching import Prometheus
from tests.harness.places import ROOT

_TIMES = ROOT / "build" / "node-times.json"


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    if CGROUP not in os.environ:
        pytest.skip("`make test-node` runs it, in namespaces of its own")
    make_network()
    plane = ControlPlane(Path(os.environ[FOLDER]))
    try:
        nodes = Nodes(plane, [Path(one) for one in os.environ["CAESURA_NODE_IMAGES"].split(":")])
        nodes.add("node-a", "node-b")
        nodes.tag("localhost/caesura:test", "localhost/caesura:next")
        plane.apply([data.namespace("asr"), data.namespace(data.NAMESPACE)])
        plane.apply(data.objects(plane.folder / "kafka", "speech"))
        for name in ("kafka", "redis"):
            plane.kubectl("rollout", "status", f"statefulset/{name}", "--namespace", data.NAMESPACE, "--timeout=300s")
        yield Cluster(plane, nodes)
    finally:
        plane.close()


@pytest.fixture(scope="session")
def prometheus(cluster: Cluster) -> Prometheus:
    return Prometheus(cluster.plane)


@pytest.fixture(scope="session")
def times() -> Iterator[dict[str, float]]:
    """Seconds by what they were measured of; kept for the page that publishes them."""
    measured: dict[str, float] = {}
    yield measured
    _TIMES.write_text(json.dumps(measured, indent=1))


@pytest.fixture
def measured(times: dict[str, float]) -> Callable[[str], object]:
    """Measure a block."""

    @contextmanager
    def measure(what: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        times[what] = round(time.monotonic() - began, 1)

    return measure
