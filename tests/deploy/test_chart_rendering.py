"""The chart as helm renders it: what every installation has, and what values change."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from caesura.worker.settings.tree import SettingSources, load_settings, open_settings
from deploy.values_schema import schema
from tests.deploy.rendered import NEEDED, Objects, Refused, render, settings_of
from tests.harness.deploy_tools import tool
from tests.harness.places import CHART

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


def test_the_ordinal_is_the_pods_place_and_the_deployment_is_the_release() -> None:
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


def test_a_comma_within_an_item_of_a_list_parts_nothing() -> None:
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


def test_out_go_dns_kafka_and_redis_and_nothing_else() -> None:
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


def test_helm_itself_has_nothing_to_say(tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(NEEDED))
    lint = [str(tool("helm")), "lint", "--strict", "--kube-version", "1.36.3", "--values", str(file), str(CHART)]
    done = subprocess.run(lint, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout
    assert "[WARNING]" not in done.stdout
