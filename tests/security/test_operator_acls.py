"""The ACLs of the operator's user, as the chart gives them, are enough for the runbook's commands on a real broker."""

from __future__ import annotations

import subprocess

import pytest
from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType
from confluent_kafka.admin import ResourcePatternType as Pattern
from confluent_kafka.admin import ResourceType as Kind

from tests.deploy.rendered import render
from tests.harness.command import CAESURA, outside
from tests.harness.parts.certificates import Certificates
from tests.harness.parts.redis_part import RedisServer
from tests.harness.places import ROOT
from tests.harness.real_world import RealWorld
from tests.harness.speech import speech
from tests.security.kafka_user import PRINCIPAL, WORKER_USER, allow, allow_only
from tests.security.secured_parts import SecuredKafka

pytestmark = [pytest.mark.kafka, pytest.mark.redis, pytest.mark.timeout(300)]
USER, PASSWORD = WORKER_USER, "kafka-canary-4715"
_KINDS = {"topic": Kind.TOPIC, "group": Kind.GROUP}
_OPERATIONS = {
    "Read": AclOperation.READ,
    "Write": AclOperation.WRITE,
    "Create": AclOperation.CREATE,
    "Describe": AclOperation.DESCRIBE,
    "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS,
}


@pytest.fixture
def world(guarded: SecuredKafka, redis_server: RedisServer, deployment: str) -> RealWorld:
    return RealWorld(guarded.plain, redis_server.url, deployment, partitions=2)


def names(world: RealWorld) -> dict[str, str]:
    return {
        "deployment": world.deployment,
        "input_topic": world.words_topic,
        "segment_topic": world.segments_topic,
        "dead_letter_topic": world.dead_topic,
        "tentative_topic": f"{world.deployment}.tentative",
    }


def allow_operator(world: RealWorld) -> None:
    strimzi = {"cluster": "main", "operatorUser": {"enabled": True}}
    user = render({"settings": {"worker": names(world)}, "strimzi": strimzi}).of("KafkaUser", "-operator")
    allow_only(
        world,
        [
            AclBinding(
                _KINDS[acl["resource"]["type"]],
                acl["resource"]["name"],
                Pattern.LITERAL,
                PRINCIPAL,
                "*",
                _OPERATIONS[operation],
                AclPermissionType.ALLOW,
            )
            for acl in user["spec"]["authorization"]["acls"]
            for operation in acl["operations"]
        ],
    )


def test_with_these_alone_the_runbooks_commands_run_and_with_the_workers_they_do_not(
    world: RealWorld, guarded: SecuredKafka, certificates: Certificates
) -> None:
    world.send_bytes(b"ann", b"no event", partition=world.partition_of("ann"))
    world.send(*speech("ann", 8))
    worker = world.worker()
    worker.turn_until(lambda: worker.caught_up and len(world.records(world.dead_topic)) == 1, timeout_s=60)
    worker.leave()
    kafka = guarded.settings(certificates.ca)
    environ = outside() | {f"CAESURA_WORKER_{name.upper()}": value for name, value in names(world).items()}
    for name in (
        "bootstrap_servers", "security_protocol", "sasl_mechanism", "sasl_username", "sasl_password", "ssl_ca_file",
    ):  # fmt: skip
        environ[f"CAESURA_KAFKA_{name.upper()}"] = getattr(kafka, name)
    address = world.redis_url.removeprefix("redis://").partition("/")[0]
    environ["CAESURA_REDIS_ADDRESSES"] = address
    commands = {
        "dead-letters list": "",
        "dead-letters replay --all": "",
        "replay - --speed 0": '{"session": "bob", "words": ["so"], "session_end": true}\n',
        "tail --from-start --no-follow": "",
        "unpark 1": "",
    }

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*CAESURA, *command.split()], cwd=ROOT, env=environ, input=commands.get(command), capture_output=True,
            text=True, check=False, timeout=60,
        )  # fmt: skip

    allow_operator(world)
    assert f"{world.deployment}.tentative: made" in run("topics create --partitions 2").stdout
    for command in commands:
        done = run(command)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    allow(world)
    refused = {command for command in commands if run(command).returncode}
    assert refused >= {"dead-letters list", "dead-letters replay --all", "replay - --speed 0"}, refused
    assert "tail --from-start --no-follow" in refused
