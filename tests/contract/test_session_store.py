"""What every session store promises, shown on the twin and on a real Redis: alone, as a cluster, under Sentinel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict, Unpack

import pytest

from caesura.schemas.checkpoint import CheckpointId
from caesura.worker.adapters.redis.settings import RedisSettings
from caesura.worker.embedded.embedded_redis import find_redis_server
from caesura.worker.ports.session_store import PreparedSessions, SessionStore, StoredHead, StoreWrite
from tests.harness.parts.lookup import missing
from tests.harness.session_stores import StoreServer, cluster_of_one, in_memory, of_settings, under_sentinel

NONCE = "0123456789abcdef"
PARTITION = 7


class Parts(TypedDict, total=False):
    follows: Sequence[CheckpointId]
    prepared: PreparedSessions
    manifest: bytes
    put: Mapping[str, bytes]
    drop: Sequence[str]


def checkpoint(n: int, token: int = 1) -> CheckpointId:
    return CheckpointId(token, n, NONCE)


def a_write(of: CheckpointId, **parts: Unpack[Parts]) -> StoreWrite:
    """Make a write; one that follows nothing is a full one."""
    prepared = None if "follows" in parts else parts.get("prepared", PreparedSessions(name="none", sessions=0))
    return StoreWrite(
        follows=parts.get("follows", ()),
        prepared=prepared,
        id=of,
        manifest=parts.get("manifest", b"manifest"),
        put=parts.get("put", {}),
        drop=parts.get("drop", ()),
    )


def sessions(store: SessionStore) -> dict[str, bytes]:
    loaded = list(store.load(PARTITION))
    assert len(loaded) == len(dict(loaded)), "a session was yielded twice"
    return dict(loaded)


@pytest.fixture(
    scope="module",
    params=["twin", *(pytest.param(kind, marks=pytest.mark.redis) for kind in ("standalone", "cluster", "sentinel"))],
)
def real(request: pytest.FixtureRequest) -> Iterator[RedisSettings | None]:
    """The settings of a real Redis; None stands for the twin."""
    if request.param == "twin":
        yield None
    elif request.param == "standalone":
        yield RedisSettings.from_url(request.getfixturevalue("redis_of_the_run").url)
    elif find_redis_server() is None:
        missing("no redis-server on this machine to start a cluster and a Sentinel of our own")
    elif request.param == "cluster":
        with cluster_of_one() as settings:
            yield settings
    else:
        with under_sentinel() as (settings, _):
            yield settings


@pytest.fixture
def server(real: RedisSettings | None) -> StoreServer:
    return in_memory() if real is None else of_settings(real)


@pytest.fixture
def store(server: StoreServer) -> Iterator[SessionStore]:
    client = server.client()
    yield client
    client.close()


@pytest.fixture
def other(server: StoreServer) -> Iterator[SessionStore]:
    client = server.client()
    yield client
    client.close()


def test_an_unwritten_partition_reads_as_empty(store: SessionStore) -> None:
    assert store.head(PARTITION) == StoredHead(manifest=None, id=None)
    assert sessions(store) == {}


def test_a_write_to_one_partition_does_not_show_in_another(store: SessionStore) -> None:
    store.write(PARTITION, a_write(checkpoint(1), put={"a": b"1"}))
    assert store.head(PARTITION + 1) == StoredHead(manifest=None, id=None)
    assert list(store.load(PARTITION + 1)) == []


def test_what_was_written_is_read_byte_for_byte(store: SessionStore, other: SessionStore) -> None:
    put = {"a": bytes(range(256)), "größe 会话": b"", "s:t": b"\r\n$5\r\n", "t": b"x", "i": b"y", "m": b"z"}
    assert store.write(PARTITION, a_write(checkpoint(1), manifest=b"\x00\xff", put=put))
    assert sessions(other) == put
    assert other.head(PARTITION) == StoredHead(manifest=b"\x00\xff", id=str(checkpoint(1)).encode())


def test_a_write_puts_and_drops_and_leaves_the_rest(store: SessionStore) -> None:
    first, second = checkpoint(1), checkpoint(2)
    store.write(PARTITION, a_write(first, put={"a": b"1", "b": b"1", "c": b"1"}))
    assert store.write(PARTITION, a_write(second, follows=[first], put={"b": b"2"}, drop=["c", "never there"]))
    assert sessions(store) == {"a": b"1", "b": b"2"}
    assert store.head(PARTITION).id == str(second).encode()


@pytest.mark.parametrize(
    "follows",
    [[], [checkpoint(2)], [CheckpointId(1, 1, "f" * 16)], [checkpoint(2), checkpoint(3)]],
    ids=["none", "n", "nonce", "several"],
)
def test_a_write_that_does_not_follow_what_is_stored_is_refused(
    store: SessionStore, follows: Sequence[CheckpointId]
) -> None:
    store.write(PARTITION, a_write(checkpoint(1), put={"a": b"1"}))
    late = a_write(checkpoint(4), follows=follows, manifest=b"late", put={"a": b"2"}, drop=["a"])
    assert store.write(PARTITION, late) is False
    assert sessions(store) == {"a": b"1"}
    assert store.head(PARTITION) == StoredHead(manifest=b"manifest", id=str(checkpoint(1)).encode())


@pytest.mark.parametrize("stored", [1, 9, 16])
def test_a_write_may_follow_any_of_several_ids(store: SessionStore, stored: int) -> None:
    store.write(PARTITION, a_write(checkpoint(stored), put={"a": b"1"}))
    follows = [checkpoint(n) for n in range(1, 17)]
    assert store.write(PARTITION, a_write(checkpoint(17), follows=follows, put={"b": b"2"}))
    assert sessions(store) == {"a": b"1", "b": b"2"}


def test_a_write_that_follows_something_is_refused_where_nothing_is_stored(store: SessionStore) -> None:
    assert store.write(PARTITION, a_write(checkpoint(2), follows=[checkpoint(1)], put={"a": b"1"})) is False
    assert sessions(store) == {}


def test_the_same_write_sent_twice_is_refused_the_second_time(store: SessionStore) -> None:
    store.write(PARTITION, a_write(checkpoint(1)))
    second = a_write(checkpoint(2), follows=[checkpoint(1)], put={"a": b"1"})
    assert store.write(PARTITION, second) is True
    assert store.write(PARTITION, second) is False


def test_a_full_write_takes_the_place_of_whatever_is_stored(store: SessionStore, other: SessionStore) -> None:
    store.write(PARTITION, a_write(checkpoint(1), put={"a": b"1", "b": b"1"}))
    assert other.write(PARTITION, a_write(checkpoint(5), put={"c": b"5"}))
    assert sessions(store) == {"c": b"5"}
    assert store.write(PARTITION, a_write(checkpoint(2), follows=[checkpoint(1)])) is False


def test_what_is_prepared_shows_nowhere_until_its_last_piece_is_written(store: SessionStore) -> None:
    store.write(PARTITION, a_write(checkpoint(1), put={"old": b"1"}))
    store.prepare(PARTITION, "abc", {"a": b"1", "b": b"1"})
    store.prepare(PARTITION, "abc", {"c": b"1"})
    assert sessions(store) == {"old": b"1"}
    assert store.write(PARTITION, a_write(checkpoint(2), follows=[checkpoint(1)], put={"old": b"2"}))
    last = a_write(
        checkpoint(3), prepared=PreparedSessions(name="abc", sessions=3), put={"b": b"3", "d": b"3"}, drop=["c"]
    )
    assert store.write(PARTITION, last)
    assert sessions(store) == {"a": b"1", "b": b"3", "d": b"3"}
    assert store.head(PARTITION).id == str(checkpoint(3)).encode()


@pytest.mark.parametrize(
    "prepared", [PreparedSessions(name="abc", sessions=3), PreparedSessions(name="abd", sessions=2)]
)
def test_a_full_write_of_which_a_piece_is_missing_is_refused(store: SessionStore, prepared: PreparedSessions) -> None:
    store.write(PARTITION, a_write(checkpoint(1), put={"old": b"1"}))
    store.prepare(PARTITION, "abc", {"a": b"1", "b": b"1"})
    assert store.write(PARTITION, a_write(checkpoint(2), prepared=prepared)) is False
    assert sessions(store) == {"old": b"1"}


def test_a_piece_that_lands_after_its_full_write_changes_nothing(store: SessionStore, other: SessionStore) -> None:
    store.prepare(PARTITION, "abc", {"a": b"1"})
    assert store.write(PARTITION, a_write(checkpoint(1), prepared=PreparedSessions(name="abc", sessions=1)))
    other.prepare(PARTITION, "abc", {"a": b"late"})
    assert sessions(store) == {"a": b"1"}


def test_another_client_goes_on_from_what_is_stored(store: SessionStore, other: SessionStore) -> None:
    store.write(PARTITION, a_write(checkpoint(1), put={"a": b"1"}))
    assert other.write(PARTITION, a_write(checkpoint(1, token=2), follows=[checkpoint(1)], put={"b": b"2"}))
    assert sessions(store) == {"a": b"1", "b": b"2"}


def test_ten_thousand_sessions_go_in_one_write_and_out_in_another(store: SessionStore) -> None:
    many = {f"session-{number}": bytes(str(number), "ascii") * 40 for number in range(10_000)}
    assert store.write(PARTITION, a_write(checkpoint(1), put=many))
    assert sessions(store) == many
    assert store.write(PARTITION, a_write(checkpoint(2), follows=[checkpoint(1)], drop=list(many)[1:]))
    assert sessions(store) == {"session-0": many["session-0"]}
    store.prepare(PARTITION, "many", many)
    assert store.write(
        PARTITION, a_write(checkpoint(3), prepared=PreparedSessions(name="many", sessions=10_000), put=many)
    )
    assert sessions(store) == many


def test_a_reachable_store_answers_a_ping(store: SessionStore) -> None:
    store.ping()
