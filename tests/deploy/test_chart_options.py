"""The chart's options: what KEDA, the Prometheus operator, Strimzi and Redis are given."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.deploy.rendered import Objects, Refused, render
from tests.harness.command import CAESURA
from tests.harness.parts.redis_acl import worker_rule
from tests.harness.places import CHART, ROOT
from worker.adapters.kafka.topics import FoundTopic
from worker.checks.findings import FindingLevel
from worker.checks.topic_plan import judge, retention_of, wanted_topics
from worker.settings.tree import SettingSources, load_settings

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
    for kind in ("ConfigMap", "ServiceAccount", "NetworkPolicy"):
        of_job, of_check = objects.of(kind, "-topics"), objects.of(kind, "-check")
        assert int(of_job["metadata"]["annotations"]["helm.sh/hook-weight"]) < weights[0]
        assert of_job.get("data") == of_check.get("data")
    command = [*CAESURA, *container["args"]]
    done = subprocess.run(command, cwd=ROOT, env={}, capture_output=True, text=True, check=False, timeout=60)
    assert "CAESURA_KAFKA_BOOTSTRAP_SERVERS" in done.stderr, "the command takes what the chart gives it"


def test_without_keda_a_plain_scaler_scales_on_cpu_and_as_carefully() -> None:
    plain = render({"autoscaling": {"enabled": True, "by": "hpa", "partitions": 12}})
    assert "replicas" not in plain.of("StatefulSet")["spec"]
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
    environ = dict(objects.of("ConfigMap")["data"])
    for variable in objects.of("StatefulSet")["spec"]["template"]["spec"]["containers"][0].get("env", []):
        if "valueFrom" in variable and "secretKeyRef" in variable["valueFrom"]:
            environ[variable["name"]] = "from a secret"
    load_settings(SettingSources(environ=environ))
    assert objects.of("StatefulSet")


def test_the_scaler_owns_the_number_of_workers() -> None:
    objects = render(_SCALED)
    assert "replicas" not in objects.of("StatefulSet")["spec"]
    scaled = objects.of("ScaledObject")["spec"]
    assert scaled["scaleTargetRef"]["kind"] == "StatefulSet"
    assert scaled["maxReplicaCount"] <= 12
    behavior = scaled["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    assert behavior["scaleDown"]["policies"] == [{"type": "Pods", "value": 1, "periodSeconds": 300}]
    assert [trigger["type"] for trigger in scaled["triggers"]] == ["cpu", "prometheus"]
    query = scaled["triggers"][1]["metadata"]["query"]
    assert query == ('max(caesura_oldest_unread_age_seconds{namespace="asr", pod=~"speech-caesura-[0-9]+"})')


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
        "settings": {"worker": {"routes": ["de=translate.de", "fr=translate.fr:marked"]}},
        "strimzi": {"cluster": "main", "topics": {"enabled": True, "partitions": 24}},
    }
    objects = render(values)
    settings = load_settings(SettingSources(environ=objects.of("ConfigMap")["data"])).worker
    found = found_topics(objects)
    retention_ms = retention_of(found[settings.input_topic], otherwise_ms=-1)
    for wanted in wanted_topics(settings, partitions=24, retention_ms=retention_ms):
        assert [finding.verdict for finding in judge(wanted, found.pop(wanted.name))] == [FindingLevel.GOOD]
    assert found == {}, "and none that nobody asked for"


def test_strimzis_user_may_use_every_topic_the_group_and_every_ordinal_and_no_more() -> None:
    values = {
        "settings": {"worker": {"routes": ["de=translate.de"]}},
        "strimzi": {"cluster": "main", "user": {"enabled": True}},
    }
    acls = render(values).of("KafkaUser")["spec"]["authorization"]["acls"]
    allowed = {(acl["resource"]["type"], acl["resource"].get("name", "")): set(acl["operations"]) for acl in acls}
    assert allowed["topic", "asr.words"] == {"Read", "Describe", "DescribeConfigs"}
    assert allowed["topic", "speech.ledger"] >= {"Read", "Write"}
    for topic in ("asr.segments", "asr.words.dead", "translate.de"):
        assert "Write" in allowed["topic", topic]
        assert "Read" not in allowed["topic", topic]
    assert "Read" in allowed["group", "speech"]
    assert "Write" in allowed["transactionalId", "speech-"]


def test_the_acl_in_the_chart_is_the_one_that_is_tried_on_a_real_redis() -> None:
    rendered = render({"redisAcl": {"enabled": True}}).of("ConfigMap", "-redis-acl")["data"]["users.acl"]
    assert rendered.strip() == f"user speech on {worker_rule('speech')}"
