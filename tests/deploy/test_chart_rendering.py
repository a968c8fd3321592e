"""The chart as helm renders it: what every installation has, and what values change."""

from __future__ import annotations

import json
import re
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
from caesura.worker.settings.tree import SettingSources, load_settings, open_settings
from deploy.values_schema import schema
from tests.deploy.rendered import NEEDED, Objects, Refused, render, settings_of
from tests.harness.command import CAESURA
from tests.harness.deploy_tools import tool
from tests.harness.parts.redis_part import worker_rule
from tests.harness.places import CHART, ROOT

_SCALED = {"autoscaling": {"enabled": True, "partitions": 12, "prometheusAddress": "http://prometheus:9090"}}


def pod(objects: Objects) -> dict[str, Any]:
    found: dict[str, Any] = objects.of("StatefulSet")["spec"]["template"]["spec"]
    return found


def variables(objects: Objects) -> dict[str, str]:
    return settings_of(objects.of("StatefulSet"))


def variable(objects: Objects, name: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = pod(objects)["containers"][0]["env"]
    return next(one for one in found if one["name"] == name)


def why(values: dict[str, Any]) -> str:
    with pytest.raises(Refused) as refused:
        render(values)
    return str(refused.value)


def test_the_settings_that_are_rendered_are_settings_that_the_worker_takes() -> None:
    objects = render(
        {
            "settings": {
                "worker": {"routes": ["de=translate.de:marked"], "commit_interval_ms": 250, "drain_deadline_s": 7.5},
                "decoding": {"emission": "settled", "idle_after_ms": 604_800_000},
                "bounds": {"flush_after_ms": {"least": 300, "most": 9000}, "punctuation_may_be_off": False},
                "kafka": {"extra": {"client.rack": "a"}},
                "redis": {"addresses": ["a:7000", "b:7000"], "topology": "cluster", "tls": True},
            }
        }
    )
    settings = load_settings(SettingSources(environ=variables(objects)))
    assert settings.worker.deployment == "speech"
    assert settings.worker.http_host == "0.0.0.0"  # noqa: S104  # inside a pod
    assert [str(route) for route in settings.worker.routes] == ["de=translate.de:marked"]
    assert settings.worker.commit_interval_ms == 250
    assert settings.worker.drain_deadline_s == 7.5
    assert settings.decoding.idle_after_ms == 604_800_000
    assert settings.bounds.flush_after_ms.least == 300
    assert not settings.bounds.punctuation_may_be_off
    assert settings.kafka.extra == {"client.rack": "a"}
    assert settings.redis.addresses == ("a:7000", "b:7000")
    assert settings.redis.tls


def test_routes_may_be_tables_too() -> None:
    route = {"target": "de", "topic": "translate.de", "rendering": "fluent", "keep_fillers": True}
    settings = load_settings(SettingSources(environ=variables(render({"settings": {"worker": {"routes": [route]}}}))))
    assert settings.worker.routes[0].keep_fillers


def test_pod_index_sets_the_ordinal_and_release_name_the_deployment() -> None:
    objects = render(release="blue")
    assert variable(objects, "CAESURA_WORKER_ORDINAL")["valueFrom"] == {
        "fieldRef": {"fieldPath": "metadata.labels['apps.kubernetes.io/pod-index']"}
    }
    assert variables(objects)["CAESURA_WORKER_DEPLOYMENT"] == "blue"


def test_all_pods_start_at_once_and_each_may_drain() -> None:
    objects = render({"settings": {"worker": {"drain_deadline_s": 42.5}}})
    assert objects.of("StatefulSet")["spec"]["podManagementPolicy"] == "Parallel"
    assert pod(objects)["terminationGracePeriodSeconds"] > 42.5


def test_no_variable_comes_into_the_pod_by_the_name_of_a_service() -> None:
    # The worker refuses CAESURA_... variables that it does not know, and service links would make some.
    assert pod(render())["enableServiceLinks"] is False


def test_live_and_ready_are_asked_on_paths_of_their_own() -> None:
    container = pod(render())["containers"][0]
    assert container["livenessProbe"]["httpGet"]["path"] == "/live"
    assert container["startupProbe"]["httpGet"]["path"] == "/started"
    assert container["readinessProbe"]["httpGet"]["path"] == "/ready"
    assert {port["name"] for port in container["ports"]} == {"metrics"}


@pytest.mark.parametrize("seconds", [10, 11, 120])
def test_a_worker_may_take_as_long_to_start_as_the_value_says_and_little_more(seconds: int) -> None:
    probe = pod(render({"probes": {"startupSeconds": seconds}}))["containers"][0]["startupProbe"]
    asked_last_s = (probe["failureThreshold"] - 1) * probe["periodSeconds"]  # the first time at once
    assert seconds <= asked_last_s < seconds + probe["periodSeconds"]


@pytest.mark.parametrize("kind", ["StatefulSet", "Job"])
def test_a_pod_has_no_token_no_privilege_and_no_file_to_write_but_scratch(kind: str) -> None:
    name = "-check" if kind == "Job" else ""
    spec = render().of(kind, name)["spec"]["template"]["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    security = spec["containers"][0]["securityContext"]
    assert security["readOnlyRootFilesystem"] is True
    assert security["allowPrivilegeEscalation"] is False
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert [mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]] == ["/tmp"]


def test_a_new_setting_rolls_the_pods_and_an_unchanged_one_does_not() -> None:
    assert pod(render()) == pod(render({"replicas": 5}))
    assert pod(render()) != pod(render({"settings": {"worker": {"commit_interval_ms": 50}}}))


def test_a_former_revisions_pods_keep_the_settings_that_they_were_started_with() -> None:
    # An object that all revisions share would change under a canary's neighbours, whose version may not know a setting.
    objects = render({"settings": {"worker": {"commit_interval_ms": 50}}})
    assert objects.all("ConfigMap") == []
    for kind, name in (("StatefulSet", ""), ("Job", "-check")):
        (container,) = objects.of(kind, name)["spec"]["template"]["spec"]["containers"]
        assert "envFrom" not in container
        assert {"name": "CAESURA_WORKER_COMMIT_INTERVAL_MS", "value": "50"} in container["env"]


def test_a_setting_with_a_dollar_comes_to_the_worker_as_it_was_given() -> None:
    phrases = ["a$(HOME)", "b$$c", "$d"]
    objects = render({"settings": {"worker": {"kept_phrases": phrases}}})
    raw = variable(objects, "CAESURA_WORKER_KEPT_PHRASES")["value"]
    assert raw.count("$$") == sum(phrase.count("$") for phrase in phrases), "Kubernetes would read $(HOME)"
    assert load_settings(SettingSources(environ=variables(objects))).worker.kept_phrases == tuple(phrases)


HOSTILE = (
    'a"b', "a'b", "a: b", "- a", "{{ .Values }}", "{a: b}", "[a", "a # b", "a\nkind: Secret", "&a", "*a",
    "!!python/none", "a\\b", "\x07\x1b]0;t\x07", "\u2028", "%{a}", "null", "0x10", "|", ">", "a\n---\nkind: Pod",
)  # fmt: skip


def test_a_hostile_value_stays_a_value() -> None:
    objects = render(
        {
            "settings": {"worker": {"kept_phrases": list(HOSTILE), "tentative_topic": "a\n---\nkind: Pod\n\"}'"}},
            "podAnnotations": {f"a.example/{place}": value for place, value in enumerate(HOSTILE)},
            "secrets": {"kafka.sasl_password": {"name": 'a"}\nkind: Pod', "key": "k: 'v'"}},
        }
    )
    assert [one["kind"] for one in objects] == [one["kind"] for one in render()]
    assert json.loads(variables(objects)["CAESURA_WORKER_KEPT_PHRASES"]) == list(HOSTILE)
    assert variables(objects)["CAESURA_WORKER_TENTATIVE_TOPIC"] == "a\n---\nkind: Pod\n\"}'"
    assert variable(objects, "CAESURA_KAFKA_SASL_PASSWORD")["valueFrom"]["secretKeyRef"] == {
        "name": 'a"}\nkind: Pod',
        "key": "k: 'v'",
    }
    annotations = objects.of("StatefulSet")["spec"]["template"]["metadata"]["annotations"]
    assert [annotations[f"a.example/{place}"] for place in range(len(HOSTILE))] == list(HOSTILE)


def test_a_comma_inside_a_list_item_does_not_split_it() -> None:
    fillers = ["well, you know", "uh", "[so]", 'he said "um"']
    objects = render({"settings": {"worker": {"own_fillers": fillers}}})
    assert load_settings(SettingSources(environ=variables(objects))).worker.own_fillers == tuple(fillers)


def test_secrets_come_by_reference_into_worker_and_check_alike() -> None:
    objects = render({"secrets": {"kafka.sasl_password": {"name": "kafka-user", "key": "password"}}})
    wanted = {
        "name": "CAESURA_KAFKA_SASL_PASSWORD",
        "valueFrom": {"secretKeyRef": {"name": "kafka-user", "key": "password"}},
    }
    assert variable(objects, "CAESURA_KAFKA_SASL_PASSWORD") == wanted
    assert wanted in objects.of("Job", "-check")["spec"]["template"]["spec"]["containers"][0]["env"]


def test_every_secret_setting_can_be_given_by_reference_and_by_nothing_else() -> None:
    references = schema()["properties"]["secrets"]["properties"]
    for leaf in open_settings():
        if leaf.secret:
            assert leaf.path in references
            refusal = why({"settings": {leaf.section: {leaf.name: "hunter2"}}})
            assert f"secrets: {{{leaf.path}:" in refusal
            assert "hunter2" not in refusal


def test_tls_files_are_mounted_where_the_settings_say() -> None:
    tls = {"ca": {"secret": "cluster-ca"}, "client": {"secret": "kafka-user", "certificate": "user.crt"}}
    objects = render({"tls": {"kafka": tls}, "settings": {"kafka": {"security_protocol": "SSL"}}})
    settings = load_settings(SettingSources(environ=variables(objects)))
    assert settings.kafka.ssl_ca_file == "/etc/caesura/tls/kafka/ca.crt"
    assert settings.kafka.ssl_certificate_file == "/etc/caesura/tls/kafka/client.crt"
    assert settings.kafka.ssl_key_file == "/etc/caesura/tls/kafka/client.key"
    volume = next(one for one in pod(objects)["volumes"] if one["name"] == "tls-kafka")
    items = [item for source in volume["projected"]["sources"] for item in source["secret"]["items"]]
    assert {item["path"]: item["key"] for item in items} == {
        "ca.crt": "ca.crt",
        "client.crt": "user.crt",
        "client.key": "tls.key",
    }


def test_the_policy_allows_only_dns_kafka_and_redis_egress() -> None:
    policy = render({"networkPolicy": {"kafkaPorts": [9094]}}).of("NetworkPolicy")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    ports = [[port["port"] for port in rule["ports"]] for rule in policy["egress"]]
    assert ports == [[53, 53], [9092, 9093, 9094], [6379]]
    assert [[port["port"] for port in rule["ports"]] for rule in policy["ingress"]] == [[9464]]


@pytest.mark.parametrize(
    ("brokers", "redis", "ports"),
    [
        ("kafka", "redis:6380", [[9092], [6380]]),
        ("kafka-1,kafka-2:9094", "redis-1", [[9092, 9094], [6379]]),
        ("SASL_SSL://kafka-1:9093", "10.0.0.1:7000", [[9093], [7000]]),
        ("[fd00::1]:9095,[fd00::2]", "[::1]:7001", [[9095, 9092], [7001]]),
        ("fd00::19", "redis:6379", [[9092], [6379]]),
        ("kafka:9092", "unix:/run/redis/redis.sock", [[9092]]),
        ("kafka:9092", "unix:/run/redis:6379", [[9092]]),
    ],
)
def test_the_policy_opens_the_port_of_every_form_of_an_address_and_never_all(
    brokers: str, redis: str, ports: list[list[int]]
) -> None:
    values = {"settings": {"kafka": {"bootstrap_servers": brokers}, "redis": {"addresses": [redis]}}}
    objects = render(values)
    for policy in (objects.of("NetworkPolicy"), objects.of("NetworkPolicy", "-check")):
        dns, *rules = policy["spec"]["egress"]
        assert dns["ports"]
        assert [[port["port"] for port in rule["ports"]] for rule in rules] == ports


def test_the_check_runs_before_install_and_upgrade_with_the_same_settings() -> None:
    objects = render({"settings": {"worker": {"input_topic": "words"}}})
    job = objects.of("Job", "-check")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    container = job["spec"]["template"]["spec"]["containers"][0]
    assert container["args"] == ["check"]
    assert settings_of(job) == variables(objects)


def test_two_releases_in_one_namespace_share_no_name() -> None:
    def names(release: str) -> set[tuple[str, str]]:
        everything = {
            **_SCALED,
            "monitoring": {part: {"enabled": True} for part in ("podMonitor", "rules", "dashboard")},
            "redisAcl": {"enabled": True},
        }
        return {(one["kind"], one["metadata"]["name"]) for one in render(everything, release=release)}

    assert names("blue") & names("green") == set()


def test_the_schema_in_the_chart_is_current() -> None:

    assert json.loads((CHART / "values.schema.json").read_text()) == schema()


def test_helm_lint_strict_passes(tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(NEEDED))
    lint = [str(tool("helm")), "lint", "--strict", "--kube-version", "1.36.3", "--values", str(file), str(CHART)]
    done = subprocess.run(lint, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout
    assert "[WARNING]" not in done.stdout


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


def test_a_service_monitor_selects_the_metrics_service() -> None:
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
def test_contradicting_chart_options_are_refused(values: dict[str, object], told: str) -> None:
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


def test_keda_scales_by_the_age_of_the_oldest_word_up_to_the_partitions() -> None:
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


def test_an_operators_user_may_do_what_the_runbook_does_and_no_more() -> None:
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


def test_strimzis_user_may_use_topics_group_and_ordinals_and_no_more() -> None:
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


def test_the_check_names_the_tentative_topic_that_may_not_be_written() -> None:
    worker = RuntimeSettings(tentative_topic="asr.tentative")
    findings = denied({"asr.tentative": (False, True)}, reads=worker.read_topics, writes=worker.output_topics)
    assert [finding.subject for finding in findings] == ["topic asr.tentative"]
    assert "" not in RuntimeSettings().output_topics


def test_the_acl_in_the_chart_is_the_one_that_is_tried_on_a_real_redis() -> None:
    rendered = render({"redisAcl": {"enabled": True}}).of("ConfigMap", "-redis-acl")["data"]["users.acl"]
    assert rendered.strip() == f"user speech on {worker_rule('speech')}"


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
def test_invalid_values_are_refused_with_a_remedy(values: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refused) as refused:
        render(values)
    assert reason in str(refused.value)
    assert "nil pointer" not in str(refused.value)


def test_one_refusal_names_every_missing_value() -> None:
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
def test_a_release_with_an_impossible_name_is_refused_at_once(release: str) -> None:
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
