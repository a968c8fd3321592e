"""Values that cannot work are refused before anything changes, with the way out."""

from __future__ import annotations

import re
from typing import Any

import pytest

from caesura.worker.runtime.settings.settings import RuntimeSettings
from tests.deploy.rendered import Refused, render

_BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no image": ({"image": {"repository": ""}}, "image.repository: say where you pushed the image"),
    "no brokers": ({"settings": {"kafka": {"bootstrap_servers": ""}}}, "say where Kafka is"),
    "no Redis": ({"settings": {"redis": {"addresses": []}}}, "say where Redis is"),
    "a misspelt setting": ({"settings": {"worker": {"comit_interval_ms": 5}}}, "'comit_interval_ms' not allowed"),
    "a setting out of bounds": ({"settings": {"worker": {"commit_interval_ms": 1}}}, "commit_interval_ms"),
    "an emission that there is not": ({"settings": {"decoding": {"emission": "words"}}}, "emission"),
    "a misspelt value": ({"replica": 3}, "'replica' not allowed"),
    "an ordinal for all": ({"settings": {"worker": {"ordinal": 1}}}, "firstOrdinal says where they begin"),
    "one instance id for all": ({"settings": {"kafka": {"group_instance_id": "a"}}}, "set staticMembership"),
    "no port for the probes": ({"settings": {"worker": {"http_port": 0}}}, "the probes need it"),
    "no CPU limit": ({"resources": {"limits": {"cpu": None}}}, "the engine takes its threads from it"),
    "killed while draining": ({"terminationGracePeriodSeconds": 20}, "must be above worker.drain_deadline_s"),
    "static and scaled": (
        {"staticMembership": True, "autoscaling": {"enabled": True, "partitions": 6}},
        "not with autoscaling",
    ),
    "static under KIP-848": (
        {"staticMembership": True, "settings": {"kafka": {"group_protocol": "consumer"}}},
        "needs the classic group_protocol",
    ),
    "scaled beyond the partitions": (
        {"autoscaling": {"enabled": True, "partitions": 3, "maxReplicas": 4}},
        "4 workers for 3 partitions",
    ),
    "scaled without knowing the partitions": ({"autoscaling": {"enabled": True}}, "say how many partitions"),
    "topics of no cluster": ({"strimzi": {"topics": {"enabled": True}}}, "say the name of the Kafka resource"),
    "topics that nobody can write": (
        {"strimzi": {"cluster": "main", "topics": {"enabled": True, "replicas": 1}}},
        "is above replicas",
    ),
    "a setting as a variable": (
        {"extraEnv": [{"name": "CAESURA_WORKER_ORDINAL", "value": "1"}]},
        "CAESURA_WORKER_ORDINAL is a setting; it goes under settings or secrets",
    ),
    "a setting twice": (
        {
            "settings": {"kafka": {"sasl_username": "speech"}},
            "secrets": {"kafka.sasl_username": {"name": "kafka-user", "key": "username"}},
        },
        "it is given under settings too",
    ),
    "more for the engine than there is": (
        {"settings": {"worker": {"engine_memory_mib": 1200}}},
        "1536 MiB are less than settings.worker.engine_memory_mib (1200 MiB) and about 512 MiB",
    ),
    "the engine's default in too little": ({"resources": {"limits": {"memory": "0.9Gi"}}}, "921 MiB are less than"),
    "the same in bytes": ({"resources": {"limits": {"memory": 1_000_000_000}}}, "953 MiB are less than"),
    "a budget that lets nobody go": ({"podDisruptionBudget": {"maxUnavailable": "0%"}}, "maxUnavailable"),
    "a budget of none": ({"podDisruptionBudget": {"maxUnavailable": 0}}, "maxUnavailable"),
    "an address that no probe reaches": (
        {"settings": {"worker": {"http_host": "127.0.0.1"}}},
        "settings.worker.http_host: nothing outside the pod reaches 127.0.0.1",
    ),
    "the same by name": ({"settings": {"worker": {"http_host": "localhost"}}}, "nothing outside the pod reaches"),
    "the same by IPv6": ({"settings": {"worker": {"http_host": "::1"}}}, "nothing outside the pod reaches"),
    "a name that no object may have": ({"fullnameOverride": "My_Name"}, "fullnameOverride"),
    "a part of a name that none may have": ({"nameOverride": "a b"}, "nameOverride"),
    "a tag that no image has": ({"image": {"tag": "-next"}}, "/image/tag"),
    "a label's value that none may have": ({"podLabels": {"team": "speech to text"}}, "/podLabels/team"),
    "a label's name that none may have": ({"podLabels": {"the team": "speech"}}, "/podLabels"),
    "a label that the chart sets": (
        {"podLabels": {"app.kubernetes.io/name": "other"}},
        "app.kubernetes.io/name is the chart's own",
    ),
    "no settings at all": ({"settings": None}, "settings.kafka.bootstrap_servers: say where Kafka is"),
    "no settings of Kafka": ({"settings": {"kafka": None}}, "settings.kafka.bootstrap_servers: say where Kafka is"),
    "no settings of Redis": ({"settings": {"redis": None}}, "settings.redis.addresses: say where Redis is"),
    "a group of values taken away": ({"autoscaling": None}, "autoscaling"),
    "a group within a group taken away": ({"tls": {"kafka": None}}, "kafka"),
    "a number taken away": ({"replicas": None}, "replicas"),
    "an operator's user of no cluster": ({"strimzi": {"operatorUser": {"enabled": True}}}, "the name of the Kafka"),
    "a reference that is no secret": ({"secrets": {"kafka.linger_ms": {"name": "a", "key": "b"}}}, "not allowed"),
}


@pytest.mark.parametrize(("values", "reason"), _BAD.values(), ids=_BAD.keys())
def test_it_is_refused_and_the_reason_says_what_to_do(values: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refused) as refused:
        render(values)
    assert reason in str(refused.value)
    assert "nil pointer" not in str(refused.value)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(Refused) as refused:
        render({}, least=False)
    for wanted in ("image.repository", "settings.kafka.bootstrap_servers", "settings.redis.addresses"):
        assert wanted in str(refused.value)


def test_a_release_whose_name_cannot_be_a_deployment_is_told_to_name_one() -> None:
    long = "a-release-with-a-name-that-is-longer-than-thirty-two"
    with pytest.raises(Refused) as refused:
        render(release=long)
    assert "settings.worker.deployment: set it" in str(refused.value)
    assert render({"settings": {"worker": {"deployment": "short"}}}, release=long)


@pytest.mark.parametrize("release", ["speech.v2", "1speech"])
def test_a_release_that_no_object_can_be_named_after_is_told_before_half_of_it_is_there(release: str) -> None:
    with pytest.raises(Refused) as refused:
        render({"settings": {"worker": {"deployment": "speech"}}}, release=release)
    assert f'the release\'s name "{release}": objects cannot be named after it' in str(refused.value)
    assert render({"settings": {"worker": {"deployment": "speech"}}, "fullnameOverride": "speech"}, release=release)


@pytest.mark.parametrize("tag", ["a" * 62 + "-b", "_next_", "1.0-"])
def test_a_label_made_of_any_images_tag_is_one(tag: str) -> None:
    for one in render({"image": {"tag": tag}}):
        label = one["metadata"]["labels"]["app.kubernetes.io/version"]
        assert re.fullmatch("[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?", label)


@pytest.mark.parametrize("limit", ["1024Mi", "1Gi", "1074M", 1_074_000_000, "1.5Gi"])
def test_the_engines_memory_may_be_all_that_the_process_leaves(limit: str | int) -> None:
    assert RuntimeSettings().engine_memory_mib + 512 == 1024
    assert render({"resources": {"limits": {"memory": limit}}})
