"""The stores that the contract suite is run on, each as a source of several clients of one server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import redis

from caesura.worker.adapters.memory.session_store import MemoryRedis, MemorySessionStore
from caesura.worker.adapters.redis.session_store import RedisSessionStore
from caesura.worker.adapters.redis.settings import RedisSettings, RedisTopology
from caesura.worker.embedded.embedded_redis import EmbeddedRedis
from caesura.worker.ports.session_store import SessionStore
from tests.harness.parts.kafka_part import unique
from tests.harness.waiting import wait_until


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreServer:
    """``client`` connects one more worker to the same state."""

    client: Callable[[], SessionStore]


def in_memory() -> StoreServer:
    server = MemoryRedis()
    return StoreServer(client=lambda: MemorySessionStore(server))


def of_settings(settings: RedisSettings) -> StoreServer:
    deployment = unique("contract")
    return StoreServer(client=lambda: RedisSessionStore(settings, deployment=deployment, topic="asr.words"))


@contextmanager
def cluster_of_one() -> Iterator[RedisSettings]:
    """A real redis-server in cluster mode that holds all slots."""
    with EmbeddedRedis(arguments=("--cluster-enabled", "yes")) as server:
        take_all_slots(server.port)
        yield RedisSettings(addresses=(f"127.0.0.1:{server.port}",), topology=RedisTopology.CLUSTER)


def take_all_slots(port: int) -> None:
    """Make a node that is alone serve the whole cluster."""
    with redis.Redis(port=port) as client:
        client.execute_command("CLUSTER", "ADDSLOTSRANGE" if _newer(client) else "ADDSLOTS", *_slots(client))
        wait_until(lambda: b"cluster_state:ok" in client.execute_command("CLUSTER", "INFO"), every_s=0.02)


def _newer(client: redis.Redis) -> bool:
    return int(client.info("server")["redis_version"].split(".")[0]) >= 7


def _slots(client: redis.Redis) -> range | tuple[int, int]:
    return (0, 16_383) if _newer(client) else range(16_384)


@contextmanager
def under_sentinel(replicas: int = 0, *, down_after_ms: int = 5000) -> Iterator[tuple[RedisSettings, EmbeddedRedis]]:
    """A real redis-server as master, its replicas, and a real Sentinel that watches them; yields the master too.

    down_after_ms: ten times this is to exceed the 30 s for which a Sentinel that stood still for two seconds acts on
    nothing; where it does not, such a Sentinel never takes a replica for the master (docs/operations.md).
    """
    with ExitStack() as started:
        master = started.enter_context(EmbeddedRedis())
        for _ in range(replicas):
            started.enter_context(EmbeddedRedis(arguments=("--replicaof", "127.0.0.1", str(master.port))))
        config = (
            f"sentinel monitor sessions 127.0.0.1 {master.port} 1\n"
            f"sentinel down-after-milliseconds sessions {down_after_ms}\n"
            "sentinel failover-timeout sessions 3000\n"
        )
        sentinel = started.enter_context(EmbeddedRedis(sentinel=True, config=config))
        with redis.Redis(port=sentinel.port) as client:
            wait_until(lambda: client.sentinel_master("sessions")["num-slaves"] >= replicas, "no replicas")
        settings = RedisSettings(
            addresses=(f"127.0.0.1:{sentinel.port}",), topology=RedisTopology.SENTINEL, sentinel_service="sessions"
        )
        yield settings, master
