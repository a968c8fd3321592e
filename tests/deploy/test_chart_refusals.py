"""Values that cannot work are refused before anything changes, with the way out."""

from __future__ import annotations

from typing import Any

import pytest

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
    "a reference that is no secret": ({"secrets": {"kafka.linger_ms": {"name": "a", "key": "b"}}}, "not allowed"),
}


@pytest.mark.parametrize(("values", "reason"), _BAD.values(), ids=_BAD.keys())
def test_it_is_refused_and_the_reason_says_what_to_do(values: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refused) as refused:
        render(values)
    assert reason in str(refused.value)


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
