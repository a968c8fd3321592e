"""Kafka and Redis in pods of their own, at addresses of the cluster that stay theirs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.harness.parts.kafka_broker import new_cluster_id
from tests.harness.parts.redis_part import worker_rule

NAMESPACE = "data"
REDIS_USER, REDIS_PASSWORD = "speech", "only-this-test-knows"
_KAFKA_IP, _REDIS_IP = "10.96.0.50", "10.96.0.60"
BOOTSTRAP, REDIS = f"{_KAFKA_IP}:9092", f"{_REDIS_IP}:6379"
_KAFKA_UID, _REDIS_UID = 10002, 10003
_PROPERTIES = f"""
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:9093
controller.listener.names=CONTROLLER
listeners=CLIENTS://:9092,BROKERS://127.0.0.1:9094,CONTROLLER://127.0.0.1:9093
advertised.listeners=CLIENTS://{_KAFKA_IP}:9092,BROKERS://127.0.0.1:9094
listener.security.protocol.map=CLIENTS:PLAINTEXT,BROKERS:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=BROKERS
log.dirs=/data/log
auto.create.topics.enable=false
group.initial.rebalance.delay.ms=0
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
transaction.abort.timed.out.transaction.cleanup.interval.ms=1000
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
log.cleaner.dedupe.buffer.size=16777216
"""


def namespace(name: str) -> dict[str, Any]:
    """Return a namespace under the strictest pod security level."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def objects(folder: Path, deployment: str) -> list[dict[str, Any]]:
    """Return all objects. folder: Kafka's volume, on both nodes; Redis' volume goes with its pod."""
    folder.mkdir()
    os.chown(folder, _KAFKA_UID, _KAFKA_UID)
    log = {"name": "data", "persistentVolumeClaim": {"claimName": "kafka"}}
    config = {"name": "config", "configMap": {"name": "kafka"}}
    mounts = [{"name": "data", "mountPath": "/data"}, {"name": "config", "mountPath": "/config"}]
    scratch = ({"name": "scratch", "emptyDir": {}}, {"name": "scratch", "mountPath": "/tmp"})
    broker = _container("kafka", ["kafka.Kafka", "/config/server.properties"], [*mounts, scratch[1]])
    broker["readinessProbe"] = {"tcpSocket": {"port": 9092}, "periodSeconds": 2}
    format_ = ["kafka.tools.StorageTool", "format", "--ignore-formatted"]
    format_ += ["--cluster-id", new_cluster_id(), "--config", "/config/server.properties"]
    formatting = _container("kafka", format_, [*mounts, scratch[1]]) | {"name": "format"}
    rule = worker_rule(deployment).split()
    command = ["--dir", "/data", "--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction"]
    command += ["--protected-mode", "no", "--user", "default", "off"]
    command += ["--user", REDIS_USER, "on", f">{REDIS_PASSWORD}", *rule]
    store = _container("redis", command, [{"name": "data", "mountPath": "/data"}])
    store["readinessProbe"] = {"tcpSocket": {"port": 6379}, "periodSeconds": 1}
    store["resources"] = {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"cpu": "1", "memory": "256Mi"}}
    return [
        _volume(folder),
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "kafka", "namespace": NAMESPACE},
            "spec": _CLAIM | {"volumeName": "kafka", "resources": {"requests": {"storage": "1Gi"}}},
        },
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "kafka", "namespace": NAMESPACE},
            "data": {"server.properties": _PROPERTIES},
        },
        _service("kafka", _KAFKA_IP, 9092),
        _service("redis", _REDIS_IP, 6379),
        _stateful_set("kafka", _KAFKA_UID, broker, [log, config, scratch[0]], [formatting]),
        _stateful_set("redis", _REDIS_UID, store, [{"name": "data", "emptyDir": {}}], []),
    ]


_CLAIM = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}


def _volume(folder: Path) -> dict[str, Any]:
    of = {"capacity": {"storage": "1Gi"}, "hostPath": {"path": str(folder)}, "persistentVolumeReclaimPolicy": "Retain"}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "kafka"}, "spec": _CLAIM | of}


def _service(name: str, address: str, port: int) -> dict[str, Any]:
    spec = {"clusterIP": address, "selector": {"app": name}, "ports": [{"port": port}]}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": spec,
    }


def _container(name: str, arguments: Sequence[str], mounts: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    return {
        "name": name,
        "image": f"localhost/caesura-{name}:test",
        "imagePullPolicy": "Never",
        "args": list(arguments),
        "resources": {"requests": {"cpu": "100m", "memory": "512Mi"}, "limits": {"cpu": "2", "memory": "1Gi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": list(mounts),
    }


def _stateful_set(
    name: str, user: int, container: dict[str, Any], volumes: Sequence[dict[str, Any]], first: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    pod = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 20,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": user,
            "runAsGroup": user,
            "fsGroup": user,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "initContainers": list(first),
        "containers": [container],
        "volumes": list(volumes),
    }
    spec = {
        "serviceName": name,
        "replicas": 1,
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": pod},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": spec,
    }
