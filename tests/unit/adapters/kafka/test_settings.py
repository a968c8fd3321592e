"""Kafka settings: contradictions are refused, guarantees cannot be overridden, librdkafka takes the rest."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from caesura.worker.adapters.kafka.reserved_options import RESERVED_OPTIONS
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import FatalError

PASSWORD = "a password that nobody may read"

GOOD: dict[str, dict[str, Any]] = {
    "plain text": {},
    "addresses of every form": {"bootstrap_servers": "a,b.example:9092, [::1]:9092,,plaintext://10.0.0.1:9092,:9092,"},
    "KIP-848": {"group_protocol": "consumer"},
    "static member": {"group_instance_id": "worker-0"},
    "SCRAM over TLS": {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_username": "caesura",
        "sasl_password": PASSWORD,
    },
    "PLAIN": {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_username": "caesura",
        "sasl_password": PASSWORD,
    },
    "OAUTHBEARER": {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "OAUTHBEARER",
        "oauth_token_endpoint": "https://127.0.0.1:1/token",
        "oauth_client_id": "caesura",
        "oauth_client_secret": PASSWORD,
    },
    "short transactions": {"transaction_timeout_ms": 1_000, "request_timeout_ms": 30_000},
    "further options": {"extra": {"statistics.interval.ms": 0, "socket.keepalive.enable": True}},
}

_WITH_PASSWORD = {"sasl_mechanism": "PLAIN", "sasl_username": "caesura", "sasl_password": PASSWORD}

CONTRADICTIONS: list[tuple[dict[str, Any], list[str]]] = [
    ({"bootstrap_servers": "  "}, ["bootstrap_servers is empty"]),
    ({"bootstrap_servers": " , "}, ["bootstrap_servers is empty"]),
    ({"bootstrap_servers": "kafka://a:9092"}, ["an address is host:port, and 'kafka://a:9092' is not"]),
    ({"bootstrap_servers": "a:9092, b:port"}, ["an address is host:port, and 'b:port' is not"]),
    ({"security_protocol": "SASL_SSL"}, ["sasl_mechanism"]),
    ({"sasl_mechanism": "PLAIN", "sasl_username": "u", "sasl_password": "p"}, ["sasl_mechanism"]),
    ({"sasl_password": "p"}, ["sasl_username and sasl_password are given but security_protocol does not use SASL"]),
    ({"security_protocol": "SSL", "sasl_username": "u"}, ["security_protocol does not use SASL"]),
    ({"security_protocol": "SASL_SSL", "sasl_mechanism": "SCRAM-SHA-256"}, ["sasl_username and sasl_password"]),
    ({"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER"}, ["oauth_token_endpoint"]),
    *(
        (
            {"security_protocol": "SASL_SSL", **given, name: "x"},
            [f"{name} is given but sasl_mechanism is not OAUTHBEARER"],
        )
        for given in ({"security_protocol": "PLAINTEXT"}, _WITH_PASSWORD)
        for name in ("oauth_token_endpoint", "oauth_client_id", "oauth_client_secret", "oauth_scope")
    ),
    *(
        (
            {**GOOD["OAUTHBEARER"], name: PASSWORD},
            [f"{name} is given but sasl_mechanism is OAUTHBEARER: it shows oauth_client_id and oauth_client_secret"],
        )
        for name in ("sasl_username", "sasl_password")
    ),
    ({"security_protocol": "SSL", "ssl_certificate_file": "cert.pem"}, ["ssl_key_file"]),
    ({"ssl_ca_file": "ca.pem"}, ["does not use TLS"]),
    ({"group_protocol": "consumer", "group_instance_id": "worker-0"}, ["classic group_protocol"]),
    ({"heartbeat_interval_ms": 5_000, "session_timeout_ms": 6_000}, ["a third of session_timeout_ms"]),
    ({"bootstrap_servers": "", "security_protocol": "SASL_SSL"}, ["bootstrap_servers", "sasl_mechanism"]),
    (
        {"fetch_min_bytes": 65_537, "partition_fetch_max_bytes": 65_536},
        ["is more than partition_fetch_max_bytes"],
    ),
]


def some_settings(**given: Any) -> KafkaSettings:  # noqa: ANN401 (each field has a type of its own)
    return KafkaSettings(**{"bootstrap_servers": "127.0.0.1:1", **given})


@pytest.mark.parametrize("name", GOOD)
def test_librdkafka_takes_the_options_of_every_client(name: str) -> None:
    settings = some_settings(**GOOD[name])
    quiet: dict[str, Any] = {"log_level": 0}
    Consumer(settings.consumer_options() | quiet).close()
    producer = Producer(settings.producer_options("worker-0") | quiet)
    producer.purge()
    producer.close()
    admin_options: dict[str, Any] = settings.client_options() | quiet
    AdminClient(admin_options)


@pytest.mark.parametrize(("given", "reasons"), CONTRADICTIONS)
def test_a_contradiction_is_refused_with_its_reasons(given: dict[str, Any], reasons: list[str]) -> None:
    with pytest.raises(FatalError) as refused:
        some_settings(**given)
    assert all(reason in str(refused.value) for reason in reasons)


def test_an_option_that_a_guarantee_rests_on_cannot_be_set() -> None:
    for option, why in RESERVED_OPTIONS.items():
        with pytest.raises(FatalError) as refused:
            some_settings(extra={option: "anything"})
        assert option in str(refused.value)
        assert why in str(refused.value)


def test_an_option_that_a_setting_sets_is_refused_with_that_setting() -> None:
    named = [why.removeprefix("it is set by ") for why in RESERVED_OPTIONS.values() if why.startswith("it is set by ")]
    assert RESERVED_OPTIONS["fetch.min.bytes"] == "it is set by kafka.fetch_min_bytes"
    known = {f"kafka.{field.name}" for field in fields(KafkaSettings)} | {"worker.deployment"}
    assert set(named) - {"worker.deployment and worker.ordinal"} <= known


@pytest.mark.parametrize("name", GOOD)
def test_every_option_that_is_set_for_the_worker_is_out_of_reach(name: str) -> None:
    settings = some_settings(**{**GOOD[name], "extra": {}})
    fixed = {*settings.consumer_options(), *settings.producer_options("worker-0")}
    without_a_promise = {"logger", "log.connection.close", "delivery.report.only.error"}
    tuning = {"fetch.queue.backoff.ms", "retry.backoff.ms", "topic.metadata.refresh.interval.ms"}
    assert fixed - without_a_promise - tuning <= set(RESERVED_OPTIONS)


def test_an_option_that_no_guarantee_rests_on_may_be_set() -> None:
    settings = some_settings(extra={"fetch.queue.backoff.ms": 1, "retry.backoff.ms": 50, "sasl.kerberos.keytab": "x"})
    assert settings.consumer_options()["fetch.queue.backoff.ms"] == 1
    assert settings.producer_options("worker-0")["retry.backoff.ms"] == 50
    assert settings.client_options()["sasl.kerberos.keytab"] == "x"


def test_a_reader_does_not_wait_for_more_than_the_end_of_a_log() -> None:
    settings = some_settings(fetch_min_bytes=4096)
    assert settings.consumer_options()["fetch.min.bytes"] == 4096
    assert "fetch.min.bytes" not in settings.reader_options()


def test_the_new_protocol_leaves_the_session_to_the_broker() -> None:
    options = some_settings(group_protocol="consumer").consumer_options()
    assert not {"session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy"} & set(options)


def test_the_commit_protocol_has_the_options_that_it_rests_on() -> None:
    consumer = some_settings().consumer_options()
    assert consumer["isolation.level"] == "read_committed"
    assert consumer["auto.offset.reset"] == "error"
    assert consumer["enable.auto.commit"] is False
    assert consumer["enable.partition.eof"] is True
    assert consumer["partition.assignment.strategy"] == "cooperative-sticky"
    producer = some_settings().producer_options("worker-0")
    assert (producer["enable.idempotence"], producer["acks"]) == (True, "all")


@pytest.mark.parametrize("name", ["PLAIN", "SCRAM over TLS", "OAUTHBEARER"])
def test_no_secret_is_shown(name: str) -> None:
    assert PASSWORD not in repr(some_settings(**GOOD[name]))


def test_a_request_ends_before_its_transaction_does() -> None:
    options = some_settings(**GOOD["short transactions"]).producer_options("worker-0")
    assert options["socket.timeout.ms"] == 1_000
