"""Install, upgrade, roll-back and uninstall on a real control plane, for a matrix of values."""

from __future__ import annotations

from typing import Any

import pytest

from tests.deploy.cluster.control_plane import ControlPlane, Failed
from tests.deploy.cluster.release import Release

_SCALED = {"autoscaling": {"enabled": True, "partitions": 12, "prometheusAddress": "http://prometheus.monitoring:9090"}}
_WATCHED = {"monitoring": {part: {"enabled": True} for part in ("podMonitor", "rules", "dashboard")}}
_STRIMZI = {
    "settings": {"worker": {"routes": ["de=translate.de"]}},
    "strimzi": {"cluster": "main", "topics": {"enabled": True}, "user": {"enabled": True}},
}
_SECURED = {
    "settings": {"kafka": {"security_protocol": "SASL_SSL", "sasl_mechanism": "SCRAM-SHA-512"}, "redis": {"tls": True}},
    "secrets": {
        "kafka.sasl_username": {"name": "kafka-user", "key": "username"},
        "kafka.sasl_password": {"name": "kafka-user", "key": "password"},
        "redis.password": {"name": "redis-user", "key": "password"},
    },
    "tls": {"kafka": {"ca": {"secret": "kafka-ca"}}, "redis": {"ca": {"configMap": "redis-ca"}}},
}
_TWO_A_NODE = {"topologyKey": "kubernetes.io/hostname", "maxSkew": 2, "whenUnsatisfiable": "DoNotSchedule"}
_MATRIX: dict[str, dict[str, Any]] = {
    "the least": {},
    "one worker, bare": {
        "replicas": 1,
        "podDisruptionBudget": {"enabled": False},
        "networkPolicy": {"enabled": False},
        "serviceAccount": {"create": False},
        "check": {"enabled": False},
        "topologySpread": [],
    },
    "TLS and secrets": _SECURED,
    "scaled and watched": _SCALED | _WATCHED,
    "with Strimzi and an ACL": _STRIMZI | {"redisAcl": {"enabled": True}},
    "static members": {"staticMembership": True, "firstOrdinal": 5},
    "placed": {
        "nodeSelector": {"kubernetes.io/hostname": "two"},
        "tolerations": [{"key": "speech", "operator": "Exists"}],
        "topologySpread": [_TWO_A_NODE],
        "priorityClassName": "system-cluster-critical",
        "extraVolumes": [{"name": "models", "emptyDir": {}}],
        "extraVolumeMounts": [{"name": "models", "mountPath": "/models"}],
        "extraEnv": [{"name": "TZ", "value": "UTC"}],
    },
}
_QUICK = {"minReadySeconds": 0}


@pytest.fixture
def release(cluster: ControlPlane, namespace: str) -> Release:
    return Release(cluster, namespace)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("values", _MATRIX.values(), ids=_MATRIX.keys())
def test_a_release_installs_upgrades_rolls_back_and_uninstalls(release: Release, values: dict[str, Any]) -> None:
    faster = {"settings": {"worker": {"commit_interval_ms": 50}}}
    release.install(_QUICK, values)
    before = release.identities()
    assert before
    release.upgrade(_QUICK, values, faster)
    after = release.identities()
    assert after.keys() == before.keys()
    assert all(after[name] != before[name] for name in before), "a new setting replaces every pod"
    release.roll_back()
    assert all("CAESURA_WORKER_COMMIT_INTERVAL_MS" not in names for names in release.variables().values())
    assert release.notes()
    release.uninstall()
    release.cluster.wait(lambda: not release.pods(), "the pods are gone")
    left = {name for name in release.left() if not name.startswith("KafkaTopic/")}
    assert left == set()


def test_topics_stay_when_the_release_goes(release: Release) -> None:
    release.install(_QUICK, _STRIMZI)
    topics = {name for name in release.left() if name.startswith("KafkaTopic/")}
    assert len(topics) == 6
    release.uninstall()
    assert release.left() >= topics


def test_every_pod_has_the_ordinal_that_its_transactional_id_is_made_of(release: Release) -> None:
    release.install(_QUICK, {"replicas": 3, "firstOrdinal": 7})
    index = "apps.kubernetes.io/pod-index"
    assert {name: pod["metadata"]["labels"][index] for name, pod in release.pods().items()} == {
        "speech-caesura-7": "7",
        "speech-caesura-8": "8",
        "speech-caesura-9": "9",
    }


def test_an_unchanged_pod_template_rolls_no_pod(release: Release) -> None:
    release.install(_QUICK)
    before = release.identities()
    release.upgrade(_QUICK, {"podDisruptionBudget": {"enabled": False}})
    assert release.identities() == before


def test_a_check_that_fails_stops_the_roll_out_before_anything_changed(release: Release) -> None:
    release.install(_QUICK)
    before, generation = release.identities(), release.stateful_set()["metadata"]["generation"]
    with pytest.raises(Failed):
        release.upgrade(_QUICK, {"image": {"tag": "broken"}})
    assert release.identities() == before
    assert release.stateful_set()["metadata"]["generation"] == generation
    assert "Job/speech-caesura-check" in release.left(), "its log can still be read"
    release.upgrade(_QUICK, {"image": {"tag": "fixed"}})
    assert set(release.images().values()) == {"fixed"}


def test_a_first_install_whose_check_fails_starts_no_worker(release: Release) -> None:
    with pytest.raises(Failed):
        release.install(_QUICK, {"image": {"tag": "broken"}})
    assert release.pods() == {}


def test_a_version_that_is_never_ready_stops_at_one_pod(release: Release) -> None:
    unchecked = {"check": {"enabled": False}, "replicas": 3}
    release.install(_QUICK, unchecked)
    release.upgrade(_QUICK, unchecked, {"image": {"tag": "broken"}}, wait=False)
    release.cluster.wait(lambda: "broken" in release.images().values(), "the first pod is replaced")
    assert sorted(release.images().values()) == ["0.1.0", "0.1.0", "broken"]
    release.roll_back()
    release.cluster.wait(lambda: set(release.images().values()) == {"0.1.0"}, "all pods are back")


def test_beside_a_canary_a_restarted_pod_keeps_its_versions_settings(release: Release) -> None:
    release.install(_QUICK, {"replicas": 2})
    newer = {"image": {"tag": "next"}, "updateFromOrdinal": 1, "settings": {"kafka": {"fetch_min_bytes": 1000}}}
    release.upgrade(_QUICK, {"replicas": 2}, newer, wait=False)
    release.cluster.wait(lambda: release.images().get("speech-caesura-1") == "next", "the canary runs")
    before = release.identities()["speech-caesura-0"]
    release.cluster.kubectl("delete", "pod", "speech-caesura-0", "--namespace", release.namespace)
    release.cluster.wait(lambda: release.identities().get("speech-caesura-0", before) != before, "it is there again")
    assert release.images() == {"speech-caesura-0": "0.1.0", "speech-caesura-1": "next"}
    has = {name: "CAESURA_KAFKA_FETCH_MIN_BYTES" in names for name, names in release.variables().items()}
    assert has == {"speech-caesura-0": False, "speech-caesura-1": True}


def test_turning_the_scaler_on_stops_no_worker(release: Release) -> None:
    release.install(_QUICK, {"replicas": 4})
    before = release.identities()
    release.upgrade(_QUICK, {"replicas": 4}, _SCALED, wait=False)
    assert release.stateful_set()["spec"]["replicas"] == 4
    assert release.identities() == before


def test_a_canary_takes_the_last_pods_alone(release: Release) -> None:
    release.install(_QUICK, {"replicas": 3})
    release.upgrade(_QUICK, {"replicas": 3, "updateFromOrdinal": 2, "image": {"tag": "next"}}, wait=False)
    release.cluster.wait(lambda: release.images().get("speech-caesura-2") == "next", "the canary runs")
    assert release.images() == {"speech-caesura-0": "0.1.0", "speech-caesura-1": "0.1.0", "speech-caesura-2": "next"}
    assert "A canary" in release.notes()


def test_an_upgrade_leaves_the_number_of_workers_to_the_scaler(release: Release) -> None:
    release.install(_QUICK, _SCALED)
    release.cluster.kubectl("scale", "statefulset", release.full_name, "--replicas=4", "--namespace", release.namespace)
    release.upgrade(_QUICK, _SCALED, {"settings": {"worker": {"commit_interval_ms": 50}}})
    assert release.stateful_set()["spec"]["replicas"] == 4


def test_blue_and_green_live_side_by_side_and_one_goes_without_the_other(cluster: ControlPlane, namespace: str) -> None:
    blue, green = Release(cluster, namespace, "blue"), Release(cluster, namespace, "green")
    blue.install(_QUICK, {"redisAcl": {"enabled": True}})
    green.install(_QUICK, {"redisAcl": {"enabled": True}})
    before = {name: uid for name, uid in green.identities().items() if name.startswith("green")}
    blue.uninstall()
    cluster.wait(lambda: not any(name.startswith("blue") for name in blue.pods()), "blue is gone")
    assert {name: uid for name, uid in green.identities().items() if name.startswith("green")} == before
