"""The ACLs that a test gives the worker's user of a real Kafka: the chart's, all of them or all but one."""

from __future__ import annotations

from typing import Any

from confluent_kafka.admin import AclBinding, AclBindingFilter, AclOperation, AclPermissionType
from confluent_kafka.admin import ResourcePatternType as Pattern
from confluent_kafka.admin import ResourceType as Kind

from tests.harness.parts.kafka_acls import Acl, worker_acls
from tests.harness.real_world import RealWorld
from tests.harness.waiting import wait_until

__all__ = ["PATIENCE_S", "PRINCIPAL", "WORKER_USER", "allow", "allow_only"]

WORKER_USER = "caesura"
PRINCIPAL = f"User:{WORKER_USER}"
_KINDS = {"topic": Kind.TOPIC, "group": Kind.GROUP, "cluster": Kind.BROKER, "transactionalId": Kind.TRANSACTIONAL_ID}
_OPERATIONS = {
    "Read": AclOperation.READ,
    "Write": AclOperation.WRITE,
    "Describe": AclOperation.DESCRIBE,
    "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS,
}
PATIENCE_S = 20.0


def names_of(acl: Acl, world: RealWorld) -> list[str]:
    """Return what an ACL's name stands for in this test's deployment."""
    return {
        "input topic": [world.words_topic],
        "claims": [world.claims_topic],
        "ledger": [f"{world.deployment}.ledger"],
        "segments, routes, dead letters": [world.segments_topic, world.german_topic, world.dead_topic],
        "<deployment>": [world.deployment],
        "<deployment>-": [f"{world.deployment}-"],
        "": ["kafka-cluster"],
    }[acl.name]


def allow(world: RealWorld, *, but: tuple[str, str, str] | None = None) -> None:
    """Give the user the chart's ACLs, but for one: kind, name and operation; and wait until the broker knows."""
    bindings = [
        AclBinding(
            _KINDS[acl.kind],
            name,
            Pattern.PREFIXED if acl.pattern == "prefix" else Pattern.LITERAL,
            PRINCIPAL,
            "*",
            _OPERATIONS[operation],
            AclPermissionType.ALLOW,
        )
        for acl in worker_acls()
        for name in names_of(acl, world)
        for operation in acl.operations
        if (acl.kind, acl.name, operation) != but
    ]
    allow_only(world, bindings)


def allow_only(world: RealWorld, bindings: list[AclBinding]) -> None:
    admin = world.kafka.admin
    anything: Any = None
    of_user = (Kind.ANY, anything, Pattern.ANY, PRINCIPAL, anything, AclOperation.ANY, AclPermissionType.ANY)
    every = AclBindingFilter(*of_user)
    admin.delete_acls([every])[every].result(PATIENCE_S)
    for future in admin.create_acls(bindings).values():
        future.result(PATIENCE_S)
    wait_until(
        lambda: set(admin.describe_acls(every).result(PATIENCE_S)) == set(bindings),
        "the broker does not take the ACLs",
        within_s=PATIENCE_S,
    )
