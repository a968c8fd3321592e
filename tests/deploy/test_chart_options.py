"""The chart's options: what KEDA, the Prometheus operator, Strimzi and Redis are given."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from caesura.worker.adapters.kafka.topics import FoundTopic
from caesura.worker.checks.findings import FindingLevel
from caesura.worker.checks.kafka import denied
from caesura.worker.checks.topic_plan import judge, retention_of, wanted_topics
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.settings.tree import SettingSources, load_settings
from tests.deploy.rendered import Objects, Refused, render, settings_of
from tests.harness.command import CAESURA
from tests.harness.parts.redis_acl import worker_rule
from tests.harness.places import CHART, ROOT

_SCALED = {"autoscaling": {"enabled": True, "partitions": 12, "prometheusAddress": "http://prometheus:9090"}}


def test_the_check_waits_for_upgrades_where_the_release_itself_makes_the_topics() -> None:
    objects = render({"strimzi": {"cluster": "main", "topics": {"enabled": True}}})
    job = objects.of("Job", "-check")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-upgrade"
    assert job["spec"]["template"]["spec"]["containers"][0]["args"] == ["check", "--topics-follow"]


def test_topics_are_made_before_the_check_looks_for_them() -> None:
    objects = render({"topics": {"create": True, "partitions": 24, "replicas": 3}})
    job, check = objects.of("Job", "-topics"), objects.of("Job", "-check")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["args"] == [
        *("topics", "create", "--partitions", "24", "--retention-days", "7", "--replication", "3"),
    ]
    weights = [int(one["metadata"]["annotations"]["helm.sh/hook-weight"]) for one in (job, check)]
    assert weights[0] < weights[1]
    assert settings_of(job) == settings_of(check)
    for kind in ("ServiceAccount", "NetworkPolicy"):
        of_job = objects.of(kind, "-topics")
        assert int(of_job["metadata"]["annotations"]["helm.sh/hook-weight"]) < weights[0]
    command = [*CAESURA, *container["args"]]
    done = subprocess.run(command, cwd=ROOT, env={}, capture_output=True, text=True, check=False, timeout=60)
    assert "CAESURA_KAFKA_BOOTSTRAP_SERVERS" in done.stderr, "the command takes what the chart gives it"


def test_without_keda_a_plain_scaler_scales_on_cpu_and_as_carefully() -> None:
    plain = render({"autoscaling": {"enabled": True, "by": "hpa", "partitions": 12}})
    assert plain.all("ScaledObject") == []
    scaler = plain.of("HorizontalPodAutoscaler")["spec"]
    assert (scaler["minReplicas"], scaler["maxReplicas"]) == (2, 4)
    assert scaler["metrics"][0]["resource"]["target"] == {"type": "Utilization", "averageUtilization": 70}
    keda = render(_SCALED).of("ScaledObject")["spec"]["advanced"]["horizontalPodAutoscalerConfig"]
    assert scaler["behavior"] == keda["behavior"]


def test_figures_are_read_by_the_service_where_an_operator_knows_no_pods() -> None:
    objects = render({"monitoring": {"serviceMonitor": {"enabled": True}}})
    monitor = objects.of("ServiceMonitor")["spec"]
    service = objects.of("Service")
    assert monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert monitor["endpoints"][0]["port"] in [port["name"] for port in service["spec"]["ports"]]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (
            {"autoscaling": {"enabled": True, "by": "hpa", "partitions": 12, "prometheusAddress": "http://p:9090"}},
            "autoscaling.prometheusAddress",
        ),
        ({"monitoring": {"podMonitor": {"enabled": True}, "serviceMonitor": {"enabled": True}}}, "read twice"),
        ({"topics": {"create": True}, "strimzi": {"cluster": "main", "topics": {"enabled": True}}}, "topics.create"),
        ({"topics": {"create": True}, "autoscaling": {"enabled": True, "partitions": 8}}, "differs from topics"),
    ],
)
def test_options_that_stand_in_one_anothers_way_are_refused(values: dict[str, object], told: str) -> None:
    with pytest.raises(Refused, match=told):
        render(values)


@pytest.mark.parametrize("example", sorted((CHART / "examples").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_example_renders_to_settings_that_the_worker_takes(example: Path) -> None:
    given = yaml.safe_load(example.read_text(encoding="utf-8"))
    objects = render({"image": {"repository": "registry.example/caesura"}} | given, least=False)
    environ = settings_of(objects.of("StatefulSet"))
    for variable in objects.of("StatefulSet")["spec"]["template"]["spec"]["containers"][0].get("env", []):
        if "valueFrom" in variable and "secretKeyRef" in variable["valueFrom"]:
            environ[variable["name"]] = "from a secret"
    load_settings(SettingSources(environ=environ))
    assert objects.of("StatefulSet")


def test_keda_scales_by_the_age_of_the_oldest_word_and_adds_no_worker_without_a_partition() -> None:
    objects = render(_SCALED)
    scaled = objects.of("ScaledObject")["spec"]
    assert scaled["scaleTargetRef"]["kind"] == "StatefulSet"
    assert scaled["maxReplicaCount"] <= 12
    behavior = scaled["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    assert behavior["scaleDown"]["policies"] == [{"type": "Pods", "value": 1, "periodSeconds": 300}]
    assert [trigger["type"] for trigger in scaled["triggers"]] == ["cpu", "prometheus"]
    query = scaled["triggers"][1]["metadata"]["query"]
    assert query.startswith('max(caesura_oldest_unread_age_seconds{namespace="asr", pod=~"speech-caesura-[0-9]+"}')


def test_alerts_in_the_cluster_name_their_page() -> None:
    rules = {"enabled": True, "runbookUrl": "https://docs.example/alerts"}
    groups = render({"monitoring": {"rules": rules}}).of("PrometheusRule")["spec"]["groups"]
    alerts = [rule for group in groups for rule in group["rules"] if "alert" in rule]
    assert alerts
    for alert in alerts:
        assert alert["annotations"]["runbook_url"] == f"https://docs.example/alerts#{alert['alert'].lower()}"


def found_topics(objects: Objects) -> dict[str, FoundTopic]:
    found = (
        FoundTopic(
            name=one["spec"]["topicName"],
            partitions=one["spec"]["partitions"],
            replication=one["spec"]["replicas"],
            options={name: str(value) for name, value in one["spec"]["config"].items()},
        )
        for one in objects.all("KafkaTopic")
    )
    return {topic.name: topic for topic in found}


def test_strimzi_makes_every_topic_as_the_check_wants_it() -> None:
    values = {
        "settings": {
            "worker": {"routes": ["de=translate.de", "fr=translate.fr:marked"], "tentative_topic": "asr.tentative"}
        },
        "strimzi": {"cluster": "main", "topics": {"enabled": True, "partitions": 24}},
    }
    objects = render(values)
    settings = load_settings(SettingSources(environ=settings_of(objects.of("StatefulSet")))).worker
    found = found_topics(objects)
    retention_ms = retention_of(found[settings.input_topic], otherwise_ms=-1)
    for wanted in wanted_topics(settings, partitions=24, retention_ms=retention_ms):
        if wanted.name == settings.tentative_topic:
            assert found[wanted.name].options["retention.ms"] == wanted.options["retention.ms"], "stale within minutes"
        assert [finding.verdict for finding in judge(wanted, found.pop(wanted.name))] == [FindingLevel.GOOD]
    assert found == {}, "and none that nobody asked for"


def _allowed(user: dict[str, Any]) -> dict[tuple[str, str], set[str]]:
    acls = user["spec"]["authorization"]["acls"]
    return {(acl["resource"]["type"], acl["resource"].get("name", "")): set(acl["operations"]) for acl in acls}


def test_an_operators_user_may_do_what_the_runbooks_commands_do_and_commit_nothing_as_a_worker() -> None:
    values = {
        "settings": {"worker": {"routes": ["de=translate.de"], "tentative_topic": "asr.tentative"}},
        "strimzi": {"cluster": "main", "operatorUser": {"enabled": True, "authentication": "scram-sha-512"}},
    }
    user = render(values).of("KafkaUser", "-operator")
    assert user["spec"]["authentication"] == {"type": "scram-sha-512"}
    allowed = _allowed(user)
    for topic in ("asr.words", "asr.words.dead", "asr.segments", "translate.de", "asr.tentative", "speech.ledger"):
        assert "Read" in allowed["topic", topic], "dead-letters, tail and view read them"
    written = {name for (kind, name), operations in allowed.items() if "Write" in operations and kind == "topic"}
    assert written == {"asr.words", "speech.ledger"}, "replays, and a tombstone"
    assert not any(kind == "transactionalId" for kind, _ in allowed)
    assert ("KafkaUser", "speech-caesura-operator") not in {
        (one["kind"], one["metadata"]["name"]) for one in render({"strimzi": {"cluster": "main"}})
    }


def test_strimzis_user_may_use_every_topic_the_group_and_every_ordinal_and_no_more() -> None:
    values = {
        "settings": {"worker": {"routes": ["de=translate.de"], "tentative_topic": "asr.tentative"}},
        "strimzi": {"cluster": "main", "user": {"enabled": True}},
    }
    objects = render(values)
    allowed = _allowed(objects.of("KafkaUser"))
    worker = load_settings(SettingSources(environ=settings_of(objects.of("StatefulSet")))).worker
    assert {name for (kind, name), may in allowed.items() if kind == "topic" and "Write" in may} == worker.output_topics
    assert {name for (kind, name), may in allowed.items() if kind == "topic" and "Read" in may} == worker.read_topics
    assert allowed["topic", "asr.words"] == {"Read", "Describe", "DescribeConfigs"}
    assert allowed["topic", "speech.ledger"] >= {"Read", "Write"}
    for topic in ("asr.segments", "asr.words.dead", "translate.de", "asr.tentative"):
        assert "Write" in allowed["topic", topic]
        assert "Read" not in allowed["topic", topic]
    assert "Read" in allowed["group", "speech"]
    assert "Write" in allowed["transactionalId", "speech-"]


def test_the_check_names_the_topic_of_unfrozen_words_where_it_may_not_be_written() -> None:
    worker = RuntimeSettings(tentative_topic="asr.tentative")
    findings = denied({"asr.tentative": (False, True)}, reads=worker.read_topics, writes=worker.output_topics)
    assert [finding.subject for finding in findings] == ["topic asr.tentative"]
    assert "" not in RuntimeSettings().output_topics


def test_the_acl_in_the_chart_is_the_one_that_is_tried_on_a_real_redis() -> None:
    rendered = render({"redisAcl": {"enabled": True}}).of("ConfigMap", "-redis-acl")["data"]["users.acl"]
    assert rendered.strip() == f"user speech on {worker_rule('speech')}"
