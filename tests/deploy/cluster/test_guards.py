"""What the API server itself enforces for a release: pod security, disruption budget, strict fields."""

from __future__ import annotations

from typing import Any

import pytest

from tests.deploy.cluster.control_plane import ControlPlane, Failed
from tests.deploy.cluster.release import Release
from tests.deploy.rendered import render

_EVERYTHING: dict[str, Any] = {
    "settings": {"worker": {"routes": ["de=translate.de", "fr=translate.fr:marked"]}},
    "autoscaling": {
        "enabled": True,
        "partitions": 12,
        "prometheusAddress": "http://prometheus.monitoring:9090",
        "authenticationName": "prometheus",
    },
    "monitoring": {
        "podMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
        "rules": {"enabled": True, "runbookUrl": "https://docs.example/alerts"},
        "dashboard": {"enabled": True},
    },
    "strimzi": {"cluster": "main", "topics": {"enabled": True}, "user": {"enabled": True}},
    "redisAcl": {"enabled": True},
    "secrets": {"redis.password": {"name": "redis-user", "key": "password"}},
    "tls": {"kafka": {"ca": {"secret": "ca"}, "client": {"secret": "user"}}, "redis": {"ca": {"configMap": "ca"}}},
    "networkPolicy": {
        "metricsFrom": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}],
        "kafkaTo": [{"namespaceSelector": {}}],
        "extraEgress": [{"ports": [{"port": 443}]}],
    },
}


def test_the_server_takes_every_object_with_every_field(cluster: ControlPlane, namespace: str) -> None:
    objects = render(_EVERYTHING)
    kinds = {one["kind"] for one in objects}
    assert kinds >= {"ScaledObject", "PodMonitor", "PrometheusRule", "KafkaTopic", "KafkaUser", "NetworkPolicy", "Job"}
    for one in objects:
        one["metadata"]["namespace"] = namespace
    said = cluster.apply(objects, "--server-side", "--dry-run=server", "--validate=strict")
    assert said.count("serverside-applied") == len(objects)


def test_the_namespace_refuses_a_pod_that_is_not_restricted(cluster: ControlPlane, namespace: str) -> None:
    release = Release(cluster, namespace)
    root = {"check": {"enabled": False}, "podSecurityContext": {"runAsNonRoot": False, "runAsUser": 0}}
    with pytest.raises(Failed):
        release.upgrade_or_install(root, within="15s")
    events = cluster.get("events", namespace=namespace)["items"]
    assert any("violates PodSecurity" in event["message"] for event in events)


def test_the_budget_refuses_a_second_disruption_but_not_of_a_broken_pod(cluster: ControlPlane, namespace: str) -> None:
    release = Release(cluster, namespace)
    values = {"minReadySeconds": 0, "replicas": 3, "check": {"enabled": False}}
    release.install(values)
    release.upgrade(values, {"image": {"tag": "broken"}, "updateFromOrdinal": 2}, wait=False)
    release.cluster.wait(lambda: release.images().get("speech-caesura-2") == "broken", "one pod is not ready")
    cluster.wait(lambda: release.disruptions_allowed() == 0, "the budget is spent")
    with pytest.raises(Failed) as refused:
        release.evict("speech-caesura-0")
    assert "disruption budget" in str(refused.value)
    release.evict("speech-caesura-2")


def test_the_budget_allows_one_eviction_while_all_pods_are_ready(cluster: ControlPlane, namespace: str) -> None:
    release = Release(cluster, namespace)
    release.install({"minReadySeconds": 0, "replicas": 3})
    cluster.wait(lambda: release.disruptions_allowed() == 1, "the budget allows one")
    before = set(release.identities().values())
    release.evict("speech-caesura-1")
    cluster.wait(lambda: len(set(release.identities().values()) - before) == 1, "it is replaced")


def test_pods_are_spread_over_zones_and_nodes(cluster: ControlPlane, namespace: str) -> None:
    release = Release(cluster, namespace)
    release.install({"minReadySeconds": 0, "replicas": 3})
    assert {pod["spec"]["nodeName"] for pod in release.pods().values()} == {"one", "two", "three"}


def test_no_pod_has_a_credential_of_the_cluster(cluster: ControlPlane, namespace: str) -> None:
    release = Release(cluster, namespace)
    release.install({"minReadySeconds": 0})
    for pod in release.pods().values():
        projected = [volume["projected"] for volume in pod["spec"]["volumes"] if "projected" in volume]
        assert not any("serviceAccountToken" in source for one in projected for source in one["sources"])
