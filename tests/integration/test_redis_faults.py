"""What the store does when a real Redis is silent, away, new, full, or wants a password."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Iterator

import pytest
import redis
from confluent_kafka import Producer

from caesura.schemas.checkpoint import CheckpointId
from caesura.worker.adapters.redis.session_store import RedisSessionStore, partition_key
from caesura.worker.adapters.redis.settings import RedisSettings, RedisTopology
from caesura.worker.checks.findings import FindingLevel
from caesura.worker.checks.redis import check_redis
from caesura.worker.embedded.embedded_redis import EmbeddedRedis, find_redis_server
from caesura.worker.errors import StoreError
from caesura.worker.ports.reasons import ClaimWaitReason
from caesura.worker.ports.session_store import PreparedSessions, StoreWrite
from tests.harness.heard import Rebuilds
from tests.harness.parts.kafka_part import Kafka, unique
from tests.harness.parts.lookup import missing
from tests.harness.parts.redis_part import RedisServer
from tests.harness.real_world import UNHURRIED, RealWorld
from tests.harness.session_stores import cluster_of_one, under_sentinel
from tests.harness.speech import event
from tests.harness.waiting import retried, wait_until

pytestmark = pytest.mark.redis

CANARY = "zwieselhausen"
NONCE = "0123456789abcdef"
WITH_A_PAUSE_S = 90
"""Enough for a fail-over whose Sentinel stood still for two seconds and then does nothing for thirty."""


@pytest.fixture(scope="module")
def ours() -> Iterator[EmbeddedRedis]:
    """A redis-server that may be stopped and mistreated."""
    if find_redis_server() is None:
        missing("no redis-server on this machine to mistreat")
    with EmbeddedRedis() as server:
        yield server


def a_store(server: EmbeddedRedis, *, timeout_s: float = 0.3) -> RedisSessionStore:
    settings = RedisSettings(addresses=(f"127.0.0.1:{server.port}",), timeout_s=timeout_s)
    return RedisSessionStore(settings, deployment=unique("faults"), topic="asr.words")


def full_write(put: dict[str, bytes] | None = None) -> StoreWrite:
    none = PreparedSessions(name="none", sessions=0)
    return StoreWrite(prepared=none, id=CheckpointId(1, 1, NONCE), manifest=b"m", put=put or {})


def next_write(n: int, put: dict[str, bytes]) -> StoreWrite:
    follows = [CheckpointId(1, n - 1, NONCE)]
    return StoreWrite(follows=follows, id=CheckpointId(1, n, NONCE), manifest=b"m", put=put)


def test_a_silent_redis_is_a_store_error_and_the_write_may_land_later_once(ours: EmbeddedRedis) -> None:
    store = a_store(ours)
    store.write(0, full_write())
    # A script that the server does not know yet would not land: it asks for the whole of it first.
    store.write(0, next_write(2, {}))
    ours.signal(signal.SIGSTOP)
    with pytest.raises(StoreError, match=r"writing partition 0 at \S+: no answer in time"):
        store.write(0, next_write(3, {"a": b"1"}))
    ours.signal(signal.SIGCONT)
    wait_until(lambda: dict(store.load(0)), every_s=0.01)
    assert store.write(0, next_write(3, {"a": b"2"})) is False
    assert dict(store.load(0)) == {"a": b"1"}
    store.close()


def test_a_redis_that_is_away_is_a_store_error_and_serves_again_when_it_is_back(ours: EmbeddedRedis) -> None:
    store = a_store(ours)
    store.write(0, full_write())
    ours.stop()
    with pytest.raises(StoreError, match="sign of life"):
        store.ping()
    ours.start()
    assert store.head(0).id is None
    store.close()


def test_a_cluster_that_is_away_at_first_is_a_store_error_then_serves() -> None:
    if find_redis_server() is None:
        missing("no redis-server on this machine to start a cluster")
    settings = RedisSettings(addresses=("127.0.0.1:1",), topology=RedisTopology.CLUSTER)
    with pytest.raises(StoreError):
        RedisSessionStore(settings, deployment="away", topic="asr.words").head(0)
    with cluster_of_one() as there:
        store = RedisSessionStore(there, deployment="away", topic="asr.words")
        assert store.head(0).id is None
        store.close()


def test_a_redis_that_forgot_the_scripts_is_given_them_again(ours: EmbeddedRedis) -> None:
    store = a_store(ours)
    store.write(0, full_write())
    with redis.Redis(port=ours.port) as client:
        client.script_flush()
    assert store.write(0, full_write()) is True
    store.close()


@pytest.mark.parametrize("write", [full_write({"a": CANARY.encode()}), next_write(2, {"a": CANARY.encode()})])
def test_a_full_redis_refuses_the_whole_write_and_says_so_without_quoting_it(
    ours: EmbeddedRedis, write: StoreWrite
) -> None:
    store = a_store(ours)
    store.write(0, full_write())
    with redis.Redis(port=ours.port) as client:
        client.config_set("maxmemory", "1")
        try:
            with pytest.raises(StoreError, match="OOM") as raised:
                store.write(0, write)
        finally:
            client.config_set("maxmemory", "0")
    assert CANARY not in str(raised.value)
    assert dict(store.load(0)) == {}
    assert store.head(0).id == b"1.1." + NONCE.encode()
    store.close()


def test_a_key_that_is_not_ours_is_a_store_error(ours: EmbeddedRedis) -> None:
    store = RedisSessionStore(RedisSettings.from_url(ours.url), deployment="taken", topic="asr.words")
    with redis.Redis(port=ours.port) as client:
        client.set(partition_key("taken", "asr.words", 0), CANARY)
    with pytest.raises(StoreError) as raised:
        store.head(0)
    assert CANARY not in str(raised.value)
    store.close()


def test_a_check_of_a_bare_redis_doubts_only_that_it_keeps_nothing(ours: EmbeddedRedis) -> None:
    findings = check_redis(RedisSettings.from_url(ours.url), deployment="checked")
    assert [found.subject for found in findings if found.verdict is not FindingLevel.GOOD] == [
        "persistence and replicas"
    ]
    with redis.Redis(port=ours.port) as client:
        assert client.keys("caesura:{checked:*") == []


def test_a_check_refuses_eviction(ours: EmbeddedRedis) -> None:
    with redis.Redis(port=ours.port) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        findings = check_redis(RedisSettings.from_url(ours.url), deployment="checked")
        client.config_set("maxmemory-policy", "noeviction")
    assert {found.subject for found in findings if found.verdict is FindingLevel.BAD} == {"maxmemory-policy"}


def test_a_check_names_the_commands_that_the_user_lacks(ours: EmbeddedRedis) -> None:
    with redis.Redis(port=ours.port) as client:
        client.acl_setuser("narrow", enabled=True, passwords="+secret", keys="caesura:*", commands=["+@all", "-hdel"])
    settings = RedisSettings(addresses=(f"127.0.0.1:{ours.port}",), username="narrow", password="secret")
    bad = [found.reason for found in check_redis(settings, deployment="checked") if found.verdict is FindingLevel.BAD]
    assert len(bad) == 1
    assert "needs HDEL on the keys" in bad[0]


def test_a_check_with_a_wrong_password_says_so_and_does_not_show_it(ours: EmbeddedRedis) -> None:
    settings = RedisSettings(addresses=(f"127.0.0.1:{ours.port}",), username="nobody", password="hunter2")
    (found,) = check_redis(settings, deployment="checked")
    assert found.verdict is FindingLevel.BAD
    assert "WRONGPASS" in found.reason
    assert "hunter2" not in found.reason


def test_a_check_looks_at_every_node_of_a_cluster() -> None:
    if find_redis_server() is None:
        missing("no redis-server on this machine to start a cluster")
    with cluster_of_one() as settings:
        subjects = [found.subject for found in check_redis(settings, deployment="checked")]
    assert f"version of {settings.addresses[0]}" in subjects


@pytest.mark.parametrize(
    ("down_after_ms", "verdict"), [(500, FindingLevel.WARNING), (3000, FindingLevel.WARNING), (5000, FindingLevel.GOOD)]
)
def test_a_check_knows_a_down_after_time_with_which_no_fail_over_may_come(
    down_after_ms: int, verdict: FindingLevel
) -> None:
    if find_redis_server() is None:
        missing("no redis-server on this machine to start a Sentinel")
    with under_sentinel(down_after_ms=down_after_ms) as (settings, _):
        (found,) = [found for found in check_redis(settings, deployment="checked") if found.subject == "fail-over"]
    assert found.verdict is verdict
    assert f"down-after-milliseconds {down_after_ms}" in found.reason


def test_a_check_says_that_the_sentinels_know_no_such_master() -> None:
    if find_redis_server() is None:
        missing("no redis-server on this machine to start a Sentinel")
    with under_sentinel() as (settings, _):
        other = dataclasses.replace(settings, sentinel_service="another")
        (found,) = check_redis(other, deployment="checked")
    assert found.verdict is FindingLevel.BAD
    assert "no Sentinel that answers knows a master of this name" in found.reason


def test_a_replica_refuses_writes_and_says_that_it_is_one(ours: EmbeddedRedis) -> None:
    store = a_store(ours)
    with redis.Redis(port=ours.port) as client:
        client.replicaof("127.0.0.1", "1")
        with pytest.raises(StoreError, match="READONLY"):
            store.write(0, full_write())
        client.replicaof("NO", "ONE")
    assert store.write(0, full_write())
    store.close()


def test_after_a_fail_over_the_same_store_goes_on_at_the_new_master() -> None:
    if find_redis_server() is None:
        missing("no redis-server on this machine to fail over")
    with under_sentinel(replicas=1) as (settings, master):
        store = RedisSessionStore(settings, deployment="moved", topic="asr.words")
        assert store.write(0, full_write({"a": b"1"}))
        with redis.Redis(port=master.port) as client:
            assert client.wait(1, 60_000) == 1
        master.stop()
        with pytest.raises(StoreError):
            store.head(0)
        assert retried(lambda: store.head(0), despite=StoreError, within_s=WITH_A_PAUSE_S).manifest == b"m"
        assert dict(store.load(0)) == {"a": b"1"}
        store.close()


def _world(kafka: Kafka, redis: RedisServer, deployment: str, *, partitions: int = 2) -> RealWorld:
    return RealWorld(kafka, redis.url, deployment, partitions=partitions, rules=UNHURRIED)


def _ends(world: RealWorld) -> int:
    return sum(one.session_end for one in world.segments())


def test_a_rebuild_waits_for_a_commit_marker_of_the_ledger_that_is_held_back(
    kafka: Kafka, redis_server: RedisServer, deployment: str
) -> None:
    world = _world(kafka, redis_server, deployment, partitions=1)
    heard = Rebuilds()
    worker = world.worker(observer=heard, rebuild_stall_s=0.5)
    world.send(event("ann", 0, "one", "two", utterance_end=True))
    worker.turn_until(lambda: len(world.segments()) == 1)
    holder = Producer(
        {
            "bootstrap.servers": kafka.bootstrap,
            "transactional.id": f"{deployment}-holder",
            "transaction.timeout.ms": 60000,
        }
    )
    holder.init_transactions(10.0)
    holder.begin_transaction()
    holder.produce(f"{deployment}.ledger", key=b"nobody", value=b"held back", partition=0)
    holder.flush(10.0)
    redis_server.flush()
    worker.worker.assignment.claim_again(0, ClaimWaitReason.SAVE_REFUSED)
    world.send(event("ann", 1, "three", session_end=True))
    worker.turn_for(4.0)
    assert heard.summaries == []
    assert len(world.segments()) == 1
    holder.abort_transaction(10.0)
    worker.turn_until(lambda: _ends(world) == 1)
    worker.worker.drain()
    assert [one.ledger_records for one in heard.summaries] == [1]
    assert [[word.text for word in one.words] for one in world.segments()] == [["one", "two"], ["three"]]
