"""The chart as users install it on two real nodes; sessions talk through all that happens, and each word comes once.

One release lives through the tests, in the order in which they stand here.
"""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from tests.deploy.cluster.control_plane import Failed
from tests.deploy.node import data
from tests.deploy.node.cluster import NAMESPACE, Cluster
from tests.deploy.served import families, families_served
from tests.harness.places import DOCS

pytestmark = pytest.mark.timeout(1200)

Measured = Callable[[str], AbstractContextManager[None]]
_WORKERS = 2
_HUNGRY = """
import os, time
for _ in range(80):
    if not os.fork():
        taken = b"1" * (20 << 20)
        time.sleep(60)
time.sleep(60)
"""
"""Many processes, each smaller than the worker, take more memory than the container may have."""


def test_it_is_installed_and_says_once_that_it_is_ready(cluster: Cluster, measured: Measured) -> None:
    release = cluster.release
    with measured("install, topics and check by their hooks, until the pods are made"):
        release.install(cluster.values(), wait=False)
    with cluster.conversation("first") as talking:
        with measured("pod made until its first segment"):
            talking.wait_for_first_segment()
        cluster.wait(lambda: release.ready() == 1, "the worker is ready")
        assert talking.finish() > 0
    for pod in release.pods():
        lines = cluster.logs(pod)
        events = [one["event"] for one in lines]
        assert events.count("ready") == 1
        assert {one["level"] for one in lines[: events.index("ready")]} == {"info"}
        # A machine that is busy may let a request of librdkafka's take too long.
        assert [one for one in lines if one["level"] != "info" and one["event"] != "kafka_log"] == []
        assert cluster.restarts(pod) == 0


def test_its_pods_run_restricted_and_serve_what_dashboard_and_alerts_name(cluster: Cluster) -> None:
    for name, pod in cluster.release.pods().items():
        status = cluster.plane.kubectl("exec", name, "--namespace", NAMESPACE, "--", "cat", "/proc/1/status")
        assert "CapEff:\t0000000000000000" in status
        assert "Seccomp:\t2" in status
        assert families_served(9464, pod["status"]["podIP"]) == families()


def test_a_pod_that_is_not_restricted_is_refused(cluster: Cluster) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "root", "namespace": NAMESPACE}}
    spec = {"containers": [{"name": "root", "image": "localhost/caesura:test"}]}
    with pytest.raises(Failed, match="violates PodSecurity"):
        cluster.plane.apply([pod | {"spec": spec}])


def test_workers_come_and_go(cluster: Cluster, measured: Measured) -> None:
    with cluster.conversation("scaled") as talking:
        with measured("from two workers to four, until all are ready"):
            cluster.scale(4)
        talking.wait_for_what_is_said_now()
        with measured("from four workers to one"):
            cluster.scale(1)
        talking.wait_for_what_is_said_now()
        cluster.scale(4)
        talking.finish()


def test_a_new_version_is_rolled_out_and_rolled_back(cluster: Cluster, measured: Measured) -> None:
    release = cluster.release
    workers = {"replicas": 4}
    with cluster.conversation("rolled") as talking:
        talking.wait_for_first_segment()
        with measured("roll-out of four workers"):
            release.upgrade(cluster.values(), workers, {"image": {"tag": "next"}})
            cluster.wait(release.rolled_out, "the roll-out is over")
        assert set(release.images().values()) == {"next"}
        talking.wait_for_what_is_said_now()
        with measured("helm rollback of four workers"):
            release.roll_back()
            cluster.wait(release.rolled_out, "the roll-back is over")
        assert set(release.images().values()) == {"test"}
        talking.wait_for_what_is_said_now()
        talking.finish()


def test_a_node_is_drained(cluster: Cluster, measured: Measured) -> None:
    cluster.scale(_WORKERS)
    with cluster.conversation("drained") as talking:
        talking.wait_for_first_segment()
        for node in ("node-a", "node-b"):
            of_workers = (
                "--delete-emptydir-data",
                "--pod-selector=app.kubernetes.io/component=worker",
                "--timeout=300s",
            )
            with measured(f"drain of {node}"):
                cluster.plane.kubectl("drain", node, "--ignore-daemonsets", *of_workers)
            assert {pod["spec"]["nodeName"] for pod in cluster.release.pods().values()} == {
                "node-b" if node == "node-a" else "node-a"
            }
            cluster.plane.kubectl("uncordon", node)
            with measured(f"a word said after the drain of {node} is published"):
                talking.wait_for_what_is_said_now()
        talking.finish()


def test_a_worker_is_killed(cluster: Cluster, measured: Measured) -> None:
    pod = "speech-caesura-0"
    with cluster.conversation("killed") as talking:
        talking.wait_for_first_segment()
        before = cluster.restarts(pod)
        with measured("a worker is killed, until every session goes on"):
            cluster.kill(pod)
            talking.wait_for_what_is_said_now()
        cluster.wait(lambda: cluster.restarts(pod) > before, "it was started again")
        cluster.wait(lambda: cluster.release.ready() == _WORKERS, "it is ready again")
        talking.finish()


def test_a_worker_is_out_of_memory(cluster: Cluster, measured: Measured) -> None:
    pod = "speech-caesura-1"
    with cluster.conversation("hungry") as talking:
        talking.wait_for_first_segment()
        before = cluster.restarts(pod)
        cluster.offer_to_the_killer(pod)
        with measured("a worker is out of memory, until every session goes on"):
            with pytest.raises(Failed):
                cluster.plane.kubectl("exec", pod, "--namespace", NAMESPACE, "--", "python", "-c", _HUNGRY)
            talking.wait_for_what_is_said_now()
        cluster.wait(lambda: cluster.restarts(pod) > before, "it was started again")
        assert cluster.last_end(pod) == "OOMKilled"
        cluster.wait(lambda: cluster.release.ready() == _WORKERS, "it is ready again")
        talking.finish()


def test_a_kubelet_is_restarted(cluster: Cluster) -> None:
    release = cluster.release
    with cluster.conversation("unwatched") as talking:
        talking.wait_for_first_segment()
        before = {pod: (uid, cluster.restarts(pod)) for pod, uid in release.identities().items()}
        for node in ("node-a", "node-b"):
            cluster.plane.end(f"kubelet-{node}", signal.SIGKILL)
        time.sleep(5)
        talking.wait_for_what_is_said_now()
        for node in ("node-a", "node-b"):
            cluster.nodes.start_kubelet(node)
        cluster.wait(lambda: all(map(cluster.nodes.ready, ("node-a", "node-b"))), "the nodes are ready")
        talking.wait_for_what_is_said_now()
        assert {pod: (uid, cluster.restarts(pod)) for pod, uid in release.identities().items()} == before
        talking.finish()


def test_kafka_is_killed(cluster: Cluster, measured: Measured) -> None:
    with cluster.conversation("brokerless") as talking:
        talking.wait_for_first_segment()
        with measured("the only broker is killed, until every session goes on"):
            cluster.kill("kafka-0", data.NAMESPACE)
            talking.wait_for_what_is_said_now()
        talking.finish()


@pytest.mark.parametrize("volume_too", [False, True], ids=["killed", "with its volume"])
def test_redis_is_killed(cluster: Cluster, measured: Measured, volume_too: bool) -> None:
    lost = ", and its volume is lost," if volume_too else ""
    with cluster.conversation(f"memoryless-{volume_too:d}") as talking:
        talking.wait_for_first_segment()
        with measured(f"Redis is killed{lost} until every session goes on"):
            if volume_too:
                now = ("--grace-period=0", "--force")
                cluster.plane.kubectl("delete", "pod", "redis-0", "--namespace", data.NAMESPACE, *now)
            else:
                cluster.kill("redis-0", data.NAMESPACE)
            talking.wait_for_what_is_said_now()
        cluster.plane.kubectl("rollout", "status", "statefulset/redis", "--namespace", data.NAMESPACE, "--timeout=300s")
        talking.wait_for_what_is_said_now()
        talking.finish()


def test_no_worker_was_restarted_by_what_others_did(cluster: Cluster) -> None:
    """One was killed, one was out of memory: brokers and Redis that were away restart no pod."""
    assert sum(map(cluster.restarts, cluster.release.pods())) == 2


def test_the_commands_that_answer_most_questions(cluster: Cluster) -> None:
    """The block of docs/alerts.md, as it stands there; its second line reads the log of a worker that was killed."""
    page = (DOCS / "alerts.md").read_text()
    (block,) = re.findall(r"for the release `speech` in the namespace `asr`:\n\n((?:    .*\n)+)", page)
    logs, previous, *rest = [line.strip() for line in block.splitlines()]
    assert '"event": "claimed"' in cluster.shell(logs.replace("parked", "claimed"))
    assert '"event": "started"' in cluster.shell(previous)
    said = cluster.shell("\n".join(rest).replace(" &\n", " >&2 & trap 'kill $!' EXIT; sleep 5\n"))
    assert '"ready": true' in said
    assert "BAD" not in said


def test_it_is_uninstalled(cluster: Cluster) -> None:
    cluster.release.uninstall()
    cluster.wait(lambda: not cluster.release.pods(), "the pods are gone")
    assert cluster.release.left(more="") == set()
