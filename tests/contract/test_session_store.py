"""What every session store promises, shown on the twin and on a real Redis: alone, as a cluster, under Sentinel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict, Unpack

import pytest

from schemas.checkpoint import CheckpointId
from tests.harness.parts.lookup import missing
from tests.harness.session_stores import StoreServer, cluster_of_one, in_memory, of_settings, under_sentinel
from worker.adapters.redis.settings import RedisSettings
from worker.embedded.embedded_redis import find_redis_server
from worker.ports.session_store import SessionStore, StoreWrite

NONCE = "0123456789abcdef"
PARTITION = 7


class Parts(TypedDict, total=False):
    follows: CheckpointId | None
    manifest: bytes
    put: Mapping[str, bytes]
    drop: Sequence[str]


def checkpoint(token: int, n: int = 1) -> CheckpointId:
    return CheckpointId(token, n, NONCE)


def a_write(of: CheckpointId, **parts: Unpack[Parts]) -> StoreWrite:
    return StoreWrite(
        token=of.token,
        follows=parts.get("follows"),
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


def test_a_first_claim_gets_the_token_after_the_committed_one_and_no_manifest(store: SessionStore) -> None:
    claimed = store.claim(PARTITION, above=41)
    assert (claimed.token, claimed.manifest) == (42, None)


def test_every_claim_gets_a_larger_token_than_all_before(store: SessionStore, other: SessionStore) -> None:
    tokens = [store.claim(PARTITION, 0).token, other.claim(PARTITION, 0).token, store.claim(PARTITION, 9).token]
    assert [*tokens, other.claim(PARTITION, 3).token] == [1, 2, 10, 11]


def test_tokens_stay_exact_where_they_are_large(store: SessionStore) -> None:
    assert store.claim(PARTITION, above=2**52).token == 2**52 + 1
    assert store.claim(PARTITION, above=0).token == 2**52 + 2


def test_partitions_have_nothing_in_common(store: SessionStore) -> None:
    first = checkpoint(store.claim(PARTITION, 0).token)
    store.write(PARTITION, a_write(first, put={"a": b"1"}))
    assert store.claim(PARTITION + 1, 0).token == 1
    assert list(store.load(PARTITION + 1)) == []


def test_what_was_written_is_loaded_byte_for_byte_and_the_manifest_comes_with_the_next_claim(
    store: SessionStore, other: SessionStore
) -> None:
    put = {"a": bytes(range(256)), "größe 会话": b"", "s:t": b"\r\n$5\r\n", "t": b"x", "i": b"y", "m": b"z"}
    first = checkpoint(store.claim(PARTITION, 0).token)
    assert store.write(PARTITION, a_write(first, manifest=b"\x00\xff", put=put))
    assert sessions(other) == put
    assert other.claim(PARTITION, 0).manifest == b"\x00\xff"


def test_a_write_puts_and_drops_and_leaves_the_rest(store: SessionStore) -> None:
    first = checkpoint(store.claim(PARTITION, 0).token)
    second = checkpoint(first.token, 2)
    store.write(PARTITION, a_write(first, put={"a": b"1", "b": b"1", "c": b"1"}))
    assert store.write(PARTITION, a_write(second, follows=first, put={"b": b"2"}, drop=["c", "never there"]))
    assert sessions(store) == {"a": b"1", "b": b"2"}


def test_a_former_owner_writes_nothing_at_all(store: SessionStore, other: SessionStore) -> None:
    first = checkpoint(store.claim(PARTITION, 0).token)
    store.write(PARTITION, a_write(first, put={"a": b"1"}))
    other.claim(PARTITION, 0)
    late = a_write(checkpoint(first.token, 2), follows=first, manifest=b"late", put={"a": b"2"}, drop=["a"])
    assert store.write(PARTITION, late) is False
    assert sessions(other) == {"a": b"1"}
    assert other.claim(PARTITION, 0).manifest == b"manifest"


@pytest.mark.parametrize("follows", [None, checkpoint(1, 2), CheckpointId(1, 1, "f" * 16)], ids=["none", "n", "nonce"])
def test_a_write_that_does_not_follow_the_stored_manifest_is_refused(
    store: SessionStore, follows: CheckpointId | None
) -> None:
    first = checkpoint(store.claim(PARTITION, 0).token)
    store.write(PARTITION, a_write(first, put={"a": b"1"}))
    assert store.write(PARTITION, a_write(checkpoint(1, 3), follows=follows, put={"a": b"2"})) is False
    assert sessions(store) == {"a": b"1"}


def test_a_write_that_follows_something_is_refused_where_nothing_is_stored(store: SessionStore) -> None:
    token = store.claim(PARTITION, 0).token
    assert store.write(PARTITION, a_write(checkpoint(token, 2), follows=checkpoint(token))) is False
    assert sessions(store) == {}


def test_a_write_without_any_claim_is_refused(store: SessionStore) -> None:
    assert store.write(PARTITION, a_write(checkpoint(1), put={"a": b"1"})) is False
    assert sessions(store) == {}


def test_the_same_write_sent_twice_is_refused_the_second_time(store: SessionStore) -> None:
    first = a_write(checkpoint(store.claim(PARTITION, 0).token), put={"a": b"1"})
    assert store.write(PARTITION, first) is True
    assert store.write(PARTITION, first) is False


def test_a_claim_keeps_manifest_and_sessions_and_the_new_owner_goes_on_from_them(
    store: SessionStore, other: SessionStore
) -> None:
    first = checkpoint(store.claim(PARTITION, 0).token)
    store.write(PARTITION, a_write(first, put={"a": b"1"}))
    second = checkpoint(other.claim(PARTITION, 0).token)
    assert other.write(PARTITION, a_write(second, follows=first, put={"b": b"2"}))
    assert sessions(store) == {"a": b"1", "b": b"2"}


def test_ten_thousand_sessions_go_in_one_write_and_out_in_another(store: SessionStore) -> None:
    many = {f"session-{number}": bytes(str(number), "ascii") * 40 for number in range(10_000)}
    first = checkpoint(store.claim(PARTITION, 0).token)
    assert store.write(PARTITION, a_write(first, put=many))
    assert sessions(store) == many
    assert store.write(PARTITION, a_write(checkpoint(first.token, 2), follows=first, drop=list(many)[1:]))
    assert sessions(store) == {"session-0": many["session-0"]}


def test_an_operators_release_is_heard_once_and_disturbs_no_session(store: SessionStore, other: SessionStore) -> None:
    first = checkpoint(store.claim(PARTITION, 0).token)
    store.write(PARTITION, a_write(first, put={"a": b"1"}))
    assert store.take_release(PARTITION) is False
    other.release(PARTITION)
    assert (store.take_release(PARTITION), store.take_release(PARTITION)) == (True, False)
    assert sessions(store) == {"a": b"1"}
    assert store.write(PARTITION, a_write(checkpoint(first.token, 2), follows=first))


def test_a_sign_of_life_is_given(store: SessionStore) -> None:
    store.ping()
