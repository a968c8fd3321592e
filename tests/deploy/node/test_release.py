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
from tests.deploy.node.cluster import NAMESPACE, PARTITIONS, Cluster
from tests.deploy.node.watching import Prometheus, start_keda, start_metrics_server
from tests.deploy.served import families, families_served
from tests.harness.places import DOCS

pytestmark = pytest.mark.timeout(1200)

Measured = Callable[[str], AbstractContextManager[None]]
_WORKERS = 2
_QUICKLY = {"scaleInStabilizationSeconds": 15, "scaleInPeriodSeconds": 15, "scaleOutPeriodSeconds": 15}
_SCALING = {"enabled": True, "minReplicas": 1, "maxReplicas": 3, "partitions": PARTITIONS} | _QUICKLY
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


def test_scaling_up_and_down_loses_no_word(cluster: Cluster, measured: Measured) -> None:
    with cluster.conversation("scaled") as talking:
        with measured("from two workers to four, until all are ready"):
            cluster.scale(4)
        talking.wait_for_what_is_said_now()
        with measured("from four workers to one"):
            cluster.scale(1)
        talking.wait_for_what_is_said_now()
        cluster.scale(4)
        talking.finish()


def test_prometheus_reads_the_pods_and_every_rule_is_computed(cluster: Cluster, prometheus: Prometheus) -> None:
    prometheus.watch(cluster.release.pods())
    with cluster.conversation("watched") as talking:
        cluster.wait(lambda: prometheus.value("caesura:workers:count") == 4, "all workers are scraped")
        cluster.wait(lambda: (prometheus.value("caesura:words:rate5m") or 0) > 0, "words are counted")
        cluster.wait(lambda: prometheus.value("caesura:partitions_held:count") == PARTITIONS, "all are held")
        talking.finish()
    rules = prometheus.rules()
    assert len([one for one in rules if one["type"] == "alerting"]) > 30
    assert [(one["name"], one.get("lastError")) for one in rules if one["health"] != "ok"] == []
    assert prometheus.firing() == set()


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


def test_the_commands_of_the_alerts_page_run_as_printed(cluster: Cluster) -> None:
    """The block of docs/alerts.md, as it stands there; its second line reads the log of a worker that was killed."""
    page = (DOCS / "alerts.md").read_text()
    (block,) = re.findall(r"for the release `speech` in the namespace `asr`:\n\n((?:    .*\n)+)", page)
    logs, previous, *rest = [line.strip() for line in block.splitlines()]
    assert '"event": "claimed"' in cluster.shell(logs.replace("parked", "claimed"))
    assert '"event": "started"' in cluster.shell(previous)
    said = cluster.shell("\n".join(rest).replace(" &\n", " >&2 & trap 'kill $!' EXIT; sleep 5\n"))
    assert '"ready": true' in said
    assert "BAD" not in said


def test_the_autoscaler_adds_workers_under_load_and_takes_them_away(cluster: Cluster, measured: Measured) -> None:
    """By the processor time that Kubernetes' own metrics server reads from the kubelets."""
    start_metrics_server(cluster.plane)
    release = cluster.release
    # With these words a worker takes some 125m of a core, without any less than a third of it.
    asked = {"resources": {"requests": {"cpu": "120m"}}}
    cluster.scale(1)
    with cluster.conversation("loaded", every_s=0.1) as talking:
        with measured("load that asks for more workers, until they are ready"):
            release.upgrade(cluster.values(), asked, {"replicas": 1, "autoscaling": _SCALING | {"by": "hpa"}})
            cluster.wait(lambda: release.ready() >= 2, "a worker was added")
        talking.wait_for_what_is_said_now()
        talking.finish()
    with cluster.conversation("quiet", every_s=10) as talking:
        with measured("the load has gone, until one worker is left"):
            cluster.wait(lambda: len(release.pods()) == 1, "one worker is left")
        talking.finish()
    release.upgrade(cluster.values())


def test_keda_adds_workers_while_words_wait_and_takes_them_away(
    cluster: Cluster, prometheus: Prometheus, measured: Measured
) -> None:
    """By the age of the oldest unread word; the processor's limit is its request, so that its use adds none."""
    start_keda(cluster.plane)
    release = cluster.release
    scaling = _SCALING | {"by": "keda", "cpuPercent": 100, "pollingSeconds": 5, "prometheusAddress": prometheus.address}
    slow = {"resources": {"requests": {"cpu": "150m"}, "limits": {"cpu": "150m"}}}

    def workers() -> int:
        prometheus.watch(release.pods())
        return int(release.stateful_set()["spec"]["replicas"])

    cluster.scale(1)
    release.upgrade(cluster.values(), slow, {"replicas": 1, "autoscaling": scaling})
    with cluster.conversation("waiting", every_s=0.03) as talking:
        with measured("words that wait, until KEDA's new worker is ready"):
            cluster.wait(lambda: workers() > 1 < release.ready(), "a worker was added")
        assert (prometheus.value("max(max_over_time(caesura_oldest_unread_age_seconds[5m]))") or 0) > 2
        talking.finish()
    with cluster.conversation("calm", every_s=10) as talking:
        # The chart's promise: a Prometheus that is away is no reason to change anything.
        prometheus.end()
        before = workers()
        cluster.wait(lambda: _condition(cluster, "Fallback") == "True", "KEDA takes the fallback")
        time.sleep(45)  # as long as the workers would be taken away in
        assert workers() == before > 1
        prometheus.start()
        with measured("no word waits, until KEDA has left one worker"):
            cluster.wait(lambda: workers() == len(release.pods()) == 1, "one worker is left")
        talking.finish()


def test_keda_is_paused_while_all_workers_are_stopped(cluster: Cluster) -> None:
    """By the commands of docs/operations.md."""
    page = (DOCS / "operations.md").read_text()
    (scale,) = re.findall(r"    (kubectl .* scale .* --replicas=)0\n", page)
    (annotate,) = re.findall(r"    (kubectl .* autoscaling\.keda\.sh/paused-replicas)=0\n", page)
    release = cluster.release
    with cluster.conversation("paused", every_s=5) as talking:
        talking.wait_for_first_segment()
        cluster.shell(f"{annotate}=0")
        cluster.wait(lambda: not release.pods(), "no worker is left")
        cluster.shell(f"{annotate}-\n{scale}1")
        cluster.wait(lambda: release.ready() == 1, "a worker is ready")
        talking.finish()
    assert _condition(cluster, "Paused") == "False"
    release.upgrade(cluster.values())


def _condition(cluster: Cluster, kind: str) -> str:
    """Return the status of a condition of the ScaledObject."""
    found = cluster.plane.get("scaledobject", cluster.release.full_name, NAMESPACE)["status"]["conditions"]
    return str(next(one["status"] for one in found if one["type"] == kind))


def test_where_no_worker_is_left_an_alert_says_so(cluster: Cluster, prometheus: Prometheus) -> None:
    prometheus.watch(cluster.release.pods())
    cluster.wait(lambda: prometheus.value("caesura_ready") is not None, "the workers are scraped")
    cluster.plane.kubectl("scale", "statefulset", cluster.release.full_name, "--replicas=0", "--namespace", NAMESPACE)
    cluster.wait(lambda: "CaesuraGone" in prometheus.firing(), "the alert fires")


def test_it_is_uninstalled(cluster: Cluster) -> None:
    cluster.release.uninstall()
    cluster.wait(lambda: not cluster.release.pods(), "the pods are gone")
    assert cluster.release.left(more="") == set()
