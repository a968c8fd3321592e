"""The ACL rule of the worker's Redis user: one rule, on the page as in the chart, enough, and no command too many."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import redis

from caesura.schemas.checkpoint import CheckpointId
from caesura.worker.adapters.redis.session_store import RedisSessionStore
from caesura.worker.adapters.redis.settings import RedisSettings, RedisTopology
from caesura.worker.checks.findings import Finding, FindingLevel
from caesura.worker.checks.redis import check_redis
from caesura.worker.embedded.embedded_redis import EmbeddedRedis
from caesura.worker.errors import StoreError
from caesura.worker.ports.session_store import PreparedSessions, StoreWrite
from tests.harness.parts.certificates import Certificates
from tests.harness.parts.kafka_part import unique
from tests.harness.parts.redis_part import worker_rule
from tests.harness.parts.secured_parts import secured_redis
from tests.harness.places import ROOT
from tests.harness.session_stores import cluster_of_one

pytestmark = pytest.mark.redis

USER, PASSWORD = "caesura", "redis-canary-4714"
DEPLOYMENT = "speech"


@contextmanager
def another_database() -> Iterator[RedisSettings]:
    with EmbeddedRedis() as server:
        yield RedisSettings(addresses=(f"127.0.0.1:{server.port}",), database=3)


NEEDED_BY = {"+select": "alone", "+command": "cluster", "+cluster|slots": "cluster"}
"""Where a command is needed that not everybody needs."""
COMMANDS = [part for part in worker_rule(DEPLOYMENT).split() if part.startswith("+")]


def use(settings: RedisSettings, deployment: str) -> None:
    """Do everything that a worker does to its partition. StoreError where it may not."""
    store = RedisSessionStore(settings, deployment=deployment, topic="words")
    try:
        store.ping()
        first, second = CheckpointId(1, 1, "a"), CheckpointId(1, 2, "a")
        store.prepare(0, "abc", {"ann": b"1"})
        full = PreparedSessions(name="abc", sessions=1)
        assert store.write(0, StoreWrite(id=first, prepared=full, manifest=b"m", put={"ben": b"2"}))
        assert store.write(0, StoreWrite(id=second, follows=[first], manifest=b"n", put={}, drop=("ben",)))
        assert store.head(0).manifest == b"n"
        assert dict(store.load(0)) == {"ann": b"1"}
    finally:
        store.close()


def doubts(settings: RedisSettings, deployment: str) -> list[Finding]:
    """Return what the check says of the user that is not good."""
    about = ("answer", "permissions", "server")
    found = check_redis(settings, deployment=deployment)
    return [one for one in found if one.subject in about and one.verdict is not FindingLevel.GOOD]


def test_the_page_has_the_charts_rule() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    assert f"    ACL SETUSER caesura reset on >PASSWORD {worker_rule('<deployment>')}\n" in page


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, RedisSettings]]:
    with another_database() as alone, cluster_of_one() as cluster:
        yield {"alone": alone, "cluster": cluster}


@pytest.mark.parametrize("left_out", [None, *COMMANDS])
def test_the_rule_is_enough_and_holds_no_unneeded_command(
    servers: dict[str, RedisSettings], left_out: str | None
) -> None:
    settings = servers[NEEDED_BY.get(left_out or "", "cluster")]
    rule = [part for part in worker_rule(DEPLOYMENT).split() if part != left_out]
    with redis.Redis(port=int(settings.addresses[0].rpartition(":")[2])) as admin:
        admin.flushall()
        admin.script_flush()  # a script that is known needs no EVAL
        admin.execute_command("ACL", "SETUSER", USER, "reset", "on", f">{PASSWORD}", *rule)
    user = dataclasses.replace(settings, username=USER, password=PASSWORD)
    if left_out is None:
        use(user, DEPLOYMENT)
        assert doubts(user, DEPLOYMENT) == []
        return
    assert doubts(user, DEPLOYMENT) != [], "the check says that something is missing"
    if left_out != "+info":  # the check's alone
        with pytest.raises(StoreError):
            use(user, DEPLOYMENT)


def test_the_user_works_on_a_tls_cluster_within_its_own_keys(certificates: Certificates) -> None:
    deployment = unique("secure")
    with secured_redis(certificates, user=USER, password=PASSWORD, deployment=deployment, cluster=True) as secured:
        settings = RedisSettings(
            addresses=(secured.address,),
            topology=RedisTopology.CLUSTER,
            tls=True,
            tls_ca_file=str(certificates.ca),
            username=USER,
            password=PASSWORD,
        )
        use(settings, deployment)
        assert doubts(settings, deployment) == []
        with pytest.raises(StoreError, match="NOPERM"):
            use(settings, "somebody-else")
