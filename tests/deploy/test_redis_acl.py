"""The ACL rule that the chart gives out lets a worker do its work on a real Redis, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from redis import Redis
from redis.exceptions import NoPermissionError

from caesura.schemas.checkpoint import CheckpointId
from caesura.worker.adapters.redis.client import RedisClient
from caesura.worker.adapters.redis.session_store import RedisSessionStore
from caesura.worker.adapters.redis.settings import RedisSettings
from caesura.worker.checks.findings import FindingLevel
from caesura.worker.checks.redis import check_redis
from caesura.worker.ports.session_store import PreparedSessions, StoreWrite
from tests.harness.parts.redis_part import RedisServer, worker_rule

_USER, _PASSWORD = "caesura-acl-test", "only-a-test-knows"


@pytest.fixture
def settings(redis_server: RedisServer, deployment: str) -> Iterator[RedisSettings]:
    admin: RedisClient = redis_server.client()
    admin.execute_command("ACL", "SETUSER", _USER, "reset", "on", f">{_PASSWORD}", *worker_rule(deployment).split())
    base = RedisSettings.from_url(redis_server.url)
    try:
        yield RedisSettings(
            addresses=base.addresses, database=base.database, tls=base.tls, username=_USER, password=_PASSWORD
        )
    finally:
        admin.execute_command("ACL", "DELUSER", _USER)
        admin.close()


@pytest.fixture
def store(settings: RedisSettings, deployment: str) -> Iterator[RedisSessionStore]:
    made = RedisSessionStore(settings, deployment=deployment, topic="words")
    yield made
    made.close()


def test_a_worker_can_write_and_load(store: RedisSessionStore) -> None:
    store.ping()
    first, second = CheckpointId(1, 1, "a"), CheckpointId(1, 2, "a")
    store.prepare(0, "abc", {"ann": b"1"})
    full = PreparedSessions(name="abc", sessions=1)
    assert store.write(0, StoreWrite(id=first, prepared=full, manifest=b"m", put={"ben": b"2"}))
    assert store.write(0, StoreWrite(id=second, follows=[first], manifest=b"n", put={}, drop=("ben",)))
    assert store.head(0).manifest == b"n"
    assert dict(store.load(0)) == {"ann": b"1"}


def test_the_check_reports_no_missing_permission(settings: RedisSettings, deployment: str) -> None:
    bad = [finding for finding in check_redis(settings, deployment=deployment) if finding.verdict is FindingLevel.BAD]
    assert [finding.subject for finding in bad if finding.subject in ("answer", "permissions")] == []


@pytest.mark.parametrize(
    "command",
    [
        ("HGETALL", "caesura:{another:words:0}:sessions"),
        ("EVAL", "return redis.call('HSET', KEYS[1], 'a', '1')", 1, "caesura:{another:words:0}:sessions"),
        ("FLUSHALL",),
        ("KEYS", "*"),
        ("CONFIG", "SET", "maxmemory-policy", "allkeys-lru"),
        ("ACL", "LIST"),
    ],
    ids=lambda command: str(command[0]),
)
def test_the_user_cannot_touch_keys_outside_its_deployment(
    settings: RedisSettings, command: tuple[str | int, ...]
) -> None:
    client: RedisClient = Redis(
        host=settings.addresses[0].rpartition(":")[0],
        port=int(settings.addresses[0].rpartition(":")[2]),
        username=_USER,
        password=_PASSWORD,
    )
    with pytest.raises(NoPermissionError):
        client.execute_command(*command)
    client.close()
