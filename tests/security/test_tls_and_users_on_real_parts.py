"""The worker over TLS with SCRAM and an ACL user of its own, on a real Kafka and a real Redis."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.adapters.redis.session_store import RedisSessionStore
from caesura.worker.adapters.redis.settings import RedisSettings
from caesura.worker.errors import BrokerError, FatalError, StoreError
from tests.harness.command import CAESURA, started
from tests.harness.parts.certificates import Certificates
from tests.harness.parts.kafka_part import unique
from tests.harness.parts.secured_parts import PASSWORD as KAFKA_PASSWORD
from tests.harness.parts.secured_parts import USER, SecuredKafka, SecuredRedis, secured_redis
from tests.harness.real_world import RealWorld
from tests.harness.speech import check_every_word_once, speech

pytestmark = [pytest.mark.kafka, pytest.mark.redis]

REDIS_PASSWORD = "redis-canary-4712"


@pytest.fixture(scope="module")
def deployment_of_the_module() -> str:
    return unique("secure")


@pytest.fixture(scope="module")
def redis_behind_tls(certificates: Certificates, deployment_of_the_module: str) -> Iterator[SecuredRedis]:
    with secured_redis(
        certificates, user=USER, password=REDIS_PASSWORD, deployment=deployment_of_the_module
    ) as secured:
        yield secured


def _redis_settings(secured: SecuredRedis, ca: Path, *, password: str = REDIS_PASSWORD) -> RedisSettings:
    return RedisSettings(addresses=(secured.address,), tls=True, tls_ca_file=str(ca), username=USER, password=password)


def _command(kafka: KafkaSettings, redis_settings: RedisSettings, deployment: str, *command: str) -> list[str]:
    shown = (
        "bootstrap_servers",
        "security_protocol",
        "sasl_mechanism",
        "sasl_username",
        "sasl_password",
        "ssl_ca_file",
    )
    settings = {
        **{f"kafka.{name}": getattr(kafka, name) for name in shown},
        "redis.addresses": redis_settings.addresses[0],
        "redis.tls": "true",
        "redis.tls_ca_file": redis_settings.tls_ca_file,
        "redis.username": USER,
        "redis.password": redis_settings.password,
        "worker.deployment": deployment,
        "worker.input_topic": f"{deployment}.words",
        "worker.segment_topic": f"{deployment}.segments",
        "worker.dead_letter_topic": f"{deployment}.dead",
        "worker.http_port": "0",
    }
    flags = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    return [*CAESURA, *command, *flags]


def test_the_command_publishes_over_tls_as_users_of_its_own_and_names_no_secret(
    guarded_kafka: SecuredKafka,
    redis_behind_tls: SecuredRedis,
    certificates: Certificates,
    deployment_of_the_module: str,
) -> None:
    deployment = deployment_of_the_module
    world = RealWorld(guarded_kafka.plain, redis_behind_tls.plain_url, deployment, partitions=2)
    events = speech("ann", 24)
    world.send(*events)
    kafka = guarded_kafka.settings()
    store = _redis_settings(redis_behind_tls, certificates.ca)
    checked = subprocess.run(_command(kafka, store, deployment, "check"), capture_output=True, timeout=120, check=False)
    command = _command(kafka, store, deployment, "worker")
    with started(*command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as worker:
        segments = world.wait_for(lambda found: any(one.session_end for one in found), timeout_s=120.0)
        worker.terminate()
        logged, _ = worker.communicate(timeout=60)
    check_every_word_once(events, segments)
    assert b"sasl_password" in checked.stdout
    for secret in (KAFKA_PASSWORD.encode(), REDIS_PASSWORD.encode()):
        assert secret not in checked.stdout + checked.stderr + logged.encode()


def test_the_acl_user_can_touch_no_other_deployments_keys_and_no_other_command(
    redis_behind_tls: SecuredRedis, certificates: Certificates, deployment_of_the_module: str
) -> None:
    settings = _redis_settings(redis_behind_tls, certificates.ca)
    own = RedisSessionStore(settings, deployment=deployment_of_the_module, topic="words")
    assert own.head(0).id is None
    other = RedisSessionStore(settings, deployment="somebody-else", topic="words")
    with pytest.raises(StoreError):
        other.head(0)
    host, port = redis_behind_tls.address.split(":")
    with redis.Redis(
        host=host, port=int(port), ssl=True, ssl_ca_certs=str(certificates.ca), username=USER, password=REDIS_PASSWORD
    ) as client:
        for command in (("FLUSHALL",), ("KEYS", "*"), ("CONFIG", "GET", "*"), ("ACL", "LIST")):
            with pytest.raises(redis.exceptions.NoPermissionError):
                client.execute_command(*command)
    own.close()


@pytest.mark.parametrize("wrong", ["password", "authority"])
def test_a_wrong_password_or_unknown_server_is_refused_without_secrets(
    redis_behind_tls: SecuredRedis, guarded_kafka: SecuredKafka, certificates: Certificates, wrong: str
) -> None:
    ca = certificates.stranger_ca if wrong == "authority" else certificates.ca
    password = "canary-wrong-4713" if wrong == "password" else REDIS_PASSWORD
    with pytest.raises(StoreError) as refused:
        RedisSessionStore(
            _redis_settings(redis_behind_tls, ca, password=password), deployment="any", topic="words"
        ).ping()
    kafka = guarded_kafka.settings(password=password if wrong == "password" else KAFKA_PASSWORD, authority=ca)
    with pytest.raises((BrokerError, FatalError)) as unanswered:
        KafkaWordSource(dataclasses.replace(kafka, request_timeout_ms=2_000), "any", "other").partition_count(5.0)
    for error in (refused.value, unanswered.value):
        assert "canary" not in str(error)
        assert "canary" not in repr(error)


def test_settings_never_show_a_secret(guarded_kafka: SecuredKafka) -> None:
    store = RedisSettings(username=USER, password=REDIS_PASSWORD)
    assert "canary" not in repr(guarded_kafka.settings()) + repr(store)
