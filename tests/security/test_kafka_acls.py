"""The ACLs of the worker's Kafka user: one list, on the page as in the chart, enough, and what is lacking is named."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import pytest
from confluent_kafka.admin import AclBinding, AclBindingFilter, AclOperation, AclPermissionType
from confluent_kafka.admin import ResourcePatternType as Pattern
from confluent_kafka.admin import ResourceType as Kind

from caesura.worker.adapters.kafka.log_reader import KafkaLogReader
from caesura.worker.adapters.kafka.peer_transactions import KafkaPeerTransactions
from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.topics import KafkaTopics, WantedTopic
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.app import refuse_denied
from caesura.worker.checks import kafka as kafka_check
from caesura.worker.checks.findings import FindingLevel
from caesura.worker.errors import BrokerError, FatalError
from caesura.worker.ports.observer import ReadinessReported
from caesura.worker.settings.tree import Settings
from tests.harness.heard import Heard
from tests.harness.parts.kafka_broker import Acl, worker_acls
from tests.harness.parts.redis_part import RedisServer
from tests.harness.parts.secured_parts import SecuredKafka
from tests.harness.pipeline import build
from tests.harness.places import ROOT
from tests.harness.real_world import RealWorld
from tests.harness.speech import check_every_word_once, speech
from tests.harness.waiting import comes, retried, wait_until

USER = "worker"
PRINCIPAL = f"User:{USER}"
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


pytestmark = [pytest.mark.kafka, pytest.mark.redis, pytest.mark.timeout(300)]


@pytest.fixture
def settings(guarded_kafka: SecuredKafka, deployment: str) -> KafkaSettings:
    guarded_kafka.add_user(USER)
    kafka = guarded_kafka.settings(USER)
    return dataclasses.replace(kafka, group_id=deployment, client_id=f"{deployment}-0", request_timeout_ms=5_000)


@pytest.fixture
def world(
    guarded_kafka: SecuredKafka, redis_server: RedisServer, deployment: str, settings: KafkaSettings
) -> RealWorld:
    changes = {
        name: getattr(settings, name)
        for name in (
            "bootstrap_servers", "security_protocol", "sasl_mechanism", "sasl_username", "sasl_password", "ssl_ca_file",
        )
    }  # fmt: skip
    patient: dict[str, object] = {"claim_timeout_s": 5.0}  # on a busy machine TLS and SCRAM take their time
    return RealWorld(
        guarded_kafka.plain, redis_server.url, deployment, partitions=2, changes=patient, kafka_changes=changes
    )


def test_the_page_has_the_charts_list() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    rows = [acl.row for acl in worker_acls()]
    assert len(rows) == 7
    assert "| resource | name | operations |\n|---|---|---|\n" + "\n".join(rows) + "\n\n" in page


def test_the_listed_acls_suffice_for_a_rebuild(
    world: RealWorld, redis_server: RedisServer, settings: KafkaSettings
) -> None:
    allow(world)
    events = speech("ann", 48)
    half = len(events) // 2
    worker = world.worker()
    world.send(*events[:half])
    world.send_bytes(b"ann", b"no event", partition=world.partition_of("ann"))
    worker.turn_until(lambda: worker.caught_up, timeout_s=60)
    redis_server.flush()
    world.send(*events[half:])
    worker.turn_until(lambda: worker.caught_up, timeout_s=60)
    check_every_word_once(events, world.segments())
    assert len(world.records(world.dead_topic)) == 1
    peers = KafkaPeerTransactions(settings, world.words_topic)
    assert peers.committed_offsets(5.0)
    peers.end(f"{world.deployment}-7", 10.0)


def test_the_listed_acls_suffice_for_the_check(world: RealWorld, settings: KafkaSettings) -> None:
    allow(world)
    admin = KafkaTopics(settings)
    assert [one.reason for one in kafka_check.check_brokers(admin, settings) if "unknown" in one.reason] == []
    assert set(admin.find([world.words_topic, world.segments_topic])) == {world.words_topic, world.segments_topic}


def test_a_user_who_may_make_a_topic_but_not_see_it_is_told_so(world: RealWorld, settings: KafkaSettings) -> None:
    unseen = WantedTopic(name=f"{world.deployment}.unseen", purpose="made blindly", partitions=1)
    allowed = AclBinding(
        Kind.TOPIC, unseen.name, Pattern.LITERAL, PRINCIPAL, "*", AclOperation.CREATE, AclPermissionType.ALLOW
    )
    allow_only(world, [allowed])
    admin = KafkaTopics(settings)
    with pytest.raises(BrokerError, match=rf"{unseen.name} is made, but .* does not tell of it"):
        admin.create(unseen, replication=1, options={})
    with pytest.raises(FatalError, match="TOPIC_ALREADY_EXISTS"):
        admin.create(unseen, replication=1, options={})


@pytest.mark.parametrize("name", ["segments, routes, dead letters", "ledger"])
def test_a_write_that_is_denied_under_way_ends_the_worker_and_blames_no_record(
    world: RealWorld, settings: KafkaSettings, name: str
) -> None:
    allow(world)
    events = speech("ann", 48)
    half = len(events) // 2
    whole = Settings(kafka=settings, worker=world.pipeline().settings())
    worker = world.worker()
    world.send(*events[:half])
    worker.turn_until(lambda: worker.caught_up, timeout_s=60)
    allow(world, but=("topic", name, "Write"))
    world.send(*events[half:])
    for _ in range(2):  # the one that was at work, and one that was told to start at the same moment
        with pytest.raises(FatalError, match="TOPIC_AUTHORIZATION_FAILED"):
            worker.turn_for(60)
        worker.leave()
        worker = world.worker()
    worker.leave()
    with pytest.raises(FatalError, match=r"topic .*: this user may not write to it"):
        refuse_denied(whole)
    allow(world)
    refuse_denied(whole)
    worker = world.worker()
    worker.turn_until(lambda: worker.caught_up, timeout_s=60)
    check_every_word_once(events, world.segments())
    assert world.records(world.dead_topic) == []


def test_a_worker_that_cannot_ask_starts_and_waits(world: RealWorld) -> None:
    world.kafka_changes |= {"bootstrap_servers": "127.0.0.1:9", "request_timeout_ms": 1_000}
    away = world.pipeline().kafka_settings()
    with pytest.raises(BrokerError):
        KafkaTopics(away).forbidden([world.words_topic])
    refuse_denied(Settings(kafka=away, worker=world.pipeline().settings()))
    told = Heard(ReadinessReported)
    _, worker = build(world.pipeline(commit_timeout_s=1.0), told)
    worker.run(lambda: len(told.events) == 3)
    waits = ("starting", "start: BrokerError, awaits the transaction coordinator")
    assert [one.reasons for one in told.events[:3]] == [waits] * 3


def test_a_claim_that_is_denied_its_witness_ends_the_worker_and_names_the_topic(
    world: RealWorld, settings: KafkaSettings
) -> None:
    del settings
    allow(world, but=("topic", "claims", "Read"))
    worker = world.worker()
    with pytest.raises(FatalError, match=r"\.claims: .*TOPIC_AUTHORIZATION_FAILED"):
        worker.turn_for(60)
    worker.leave()
    allow(world)
    worker = world.worker()
    events = speech("ann", 12)
    world.send(*events)
    worker.turn_until(lambda: worker.caught_up and bool(world.segments()), timeout_s=60)
    worker.leave()


def reading(world: RealWorld, settings: KafkaSettings) -> None:
    world.send(*speech("ann", 4))
    with closing(KafkaWordSource(settings, world.words_topic, world.claims_topic)) as source:
        source.subscribe(_Everything(source))
        comes(lambda: False, within_s=PATIENCE_S, every_s=0.0, meanwhile=lambda: source.poll(10, 0.2))


def rebuilding(world: RealWorld, settings: KafkaSettings) -> None:
    with closing(KafkaLogReader(settings)) as reader:
        list(reader.read(f"{world.deployment}.ledger", 0, 0, 1, 5.0))


def new_publisher(world: RealWorld, settings: KafkaSettings) -> KafkaPublisher:
    outputs = (world.segments_topic, world.german_topic, world.dead_topic, f"{world.deployment}.ledger")
    return KafkaPublisher(settings, f"{world.deployment}-0", world.words_topic, outputs=outputs)


def starting(world: RealWorld, settings: KafkaSettings) -> None:
    with closing(new_publisher(world, settings)) as publisher:
        retried(lambda: publisher.init_transactions(5.0), despite=BrokerError, within_s=PATIENCE_S, every_s=0.5)


def looking_at_topics(world: RealWorld, settings: KafkaSettings) -> None:
    KafkaTopics(settings).find([world.words_topic])


class _Everything:
    """A listener that has every partition read from its beginning."""

    def __init__(self, source: KafkaWordSource) -> None:
        self._source = source

    def on_assigned(self, partitions: Sequence[int]) -> None:
        for partition in partitions:
            self._source.seek(partition, 0)
        self._source.resume(partitions)

    def on_revoked(self, partitions: Sequence[int]) -> None: ...

    def on_lost(self, partitions: Sequence[int]) -> None: ...


@pytest.mark.parametrize(
    ("missing", "doing", "named"),
    [
        (("topic", "input topic", "Read"), reading, r"\.words.*TOPIC_AUTHORIZATION_FAILED"),
        (("group", "<deployment>", "Read"), reading, "GROUP_AUTHORIZATION_FAILED"),
        (("topic", "ledger", "Read"), rebuilding, r"\.ledger.*TOPIC_AUTHORIZATION_FAILED"),
        (("transactionalId", "<deployment>-", "Write"), starting, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
        (("topic", "input topic", "DescribeConfigs"), looking_at_topics, r"\.words.*TOPIC_AUTHORIZATION_FAILED"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else "",
)
def test_a_missing_acl_is_named(
    world: RealWorld,
    settings: KafkaSettings,
    missing: tuple[str, str, str],
    doing: Callable[[RealWorld, KafkaSettings], None],
    named: str,
) -> None:
    allow(world, but=missing)
    with pytest.raises(FatalError, match=named):
        doing(world, dataclasses.replace(settings, session_timeout_ms=6_000, heartbeat_interval_ms=1_000))


def denied(world: RealWorld, settings: KafkaSettings) -> list[str]:
    """Return what the check says of topics that may not be read or written to."""
    worker = world.pipeline().settings()
    reads, writes = worker.read_topics, worker.output_topics
    found = kafka_check.denied(KafkaTopics(settings).forbidden(sorted(reads | writes)), reads=reads, writes=writes)
    return [f"{one.subject}: {one.reason}" for one in found]


@pytest.mark.parametrize(
    ("name", "operation", "told"),
    [
        ("input topic", "Read", ["words: this user may not read it"]),
        ("claims", "Read", ["claims: this user may not read it"]),
        ("ledger", "Read", ["ledger: this user may not read it"]),
        ("ledger", "Write", ["ledger: this user may not write to it"]),
        (
            "segments, routes, dead letters",
            "Write",
            [f"{topic}: this user may not write to it" for topic in ("segments", "dead", "de")],
        ),
    ],
)
def test_the_check_names_each_topic_that_may_not_be_read_or_written_to(
    world: RealWorld, settings: KafkaSettings, name: str, operation: str, told: list[str]
) -> None:
    allow(world)
    assert denied(world, settings) == []
    allow(world, but=("topic", name, operation))
    wanted = [f"topic {world.deployment}.{one} (docs/security.md)" for one in told]
    assert sorted(denied(world, settings)) == sorted(wanted)


def test_without_the_brokers_settings_the_check_says_that_they_are_unknown(
    world: RealWorld, settings: KafkaSettings
) -> None:
    allow(world, but=("cluster", "", "DescribeConfigs"))
    warnings = [
        one for one in kafka_check.check_brokers(KafkaTopics(settings), settings) if one.verdict is FindingLevel.WARNING
    ]
    assert ["CLUSTER_AUTHORIZATION_FAILED" in one.reason for one in warnings] == [True]
