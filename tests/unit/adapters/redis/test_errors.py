"""Every exception of redis-py is mapped, and none brings foreign text along."""

from __future__ import annotations

import inspect
import socket
from collections.abc import Iterator
from typing import Any

import pytest
import redis
import redis.asyncio
import redis.cluster
import redis.sentinel
from hypothesis import given
from hypothesis import strategies as st
from redis import exceptions
from redis.cluster import RedisCluster

from caesura.worker.adapters.redis.client import make_client, no_retry
from caesura.worker.adapters.redis.errors import FOREIGN, OUR_FAULT, code_of, store_error, storing
from caesura.worker.adapters.redis.session_store import RedisSessionStore
from caesura.worker.adapters.redis.settings import RedisSettings, RedisTopology, split_address
from caesura.worker.errors import FatalError, StoreError

CANARY = "zwieselhausen"


def foreign_exceptions() -> Iterator[type[Exception]]:
    seen: set[type[Exception]] = set()
    for module in (redis, exceptions, redis.cluster, redis.sentinel, redis.connection, redis.client):
        for _, found in inspect.getmembers(module, inspect.isclass):
            if issubclass(found, Exception) and found.__module__.startswith("redis.") and found not in seen:
                seen.add(found)
                yield found


def made(kind: type[Exception]) -> Exception:
    """Make one without its constructor, whose arguments differ from kind to kind."""
    error = kind.__new__(kind)
    error.args = (f"ERR unknown command, with args beginning with: '{CANARY}'",)
    return error


def test_every_exception_of_the_client_is_mapped_and_loses_its_text() -> None:
    for kind in foreign_exceptions():
        with pytest.raises((StoreError, FatalError)) as raised, storing("writing partition 3"):
            raise made(kind)
        assert CANARY not in str(raised.value), kind
        assert raised.value.__suppress_context__, kind
        assert str(raised.value).startswith("writing partition 3: "), kind


@pytest.mark.parametrize("error", [ConnectionResetError(), TimeoutError(), BrokenPipeError(), OSError("no route")])
def test_faults_of_the_socket_are_the_stores(error: OSError) -> None:
    with pytest.raises(StoreError), storing("loading partition 3"):
        raise error


def test_mistakes_of_our_own_are_fatal_and_nothing_else_is() -> None:
    for kind in foreign_exceptions():
        assert isinstance(store_error(made(kind), "doing"), FatalError) is issubclass(kind, OUR_FAULT)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (exceptions.ReadOnlyError("You can't write against a read only replica."), "READONLY"),
        (exceptions.OutOfMemoryError("command not allowed when used memory > 'maxmemory'."), "OOM"),
        (exceptions.NoPermissionError("this user has no permissions"), "NOPERM"),
        (exceptions.ResponseError("The user executing the script can't run this command or subcommand"), "NOPERM"),
        (
            exceptions.ResponseError(
                "ACL failure in script: User a has no permissions to run the 'hdel' command script: f7e9, on @user:1."
            ),
            "NOPERM",
        ),
        (exceptions.ResponseError("MISCONF Redis is configured to save RDB snapshots"), "MISCONF"),
        (exceptions.ResponseError("WRONGTYPE Operation against a key"), "WRONGTYPE"),
        (exceptions.AuthenticationError("invalid username-password pair"), "WRONGPASS"),
        (exceptions.ResponseError(f"{CANARY.upper()} is no code of ours"), ""),
        (exceptions.ConnectionError("Connection refused"), ""),
    ],
)
def test_the_servers_code_is_kept_and_explained(error: Exception, code: str) -> None:
    assert code_of(error) == code
    assert CANARY.upper() not in str(store_error(error, "doing"))


def test_where_nothing_listens_it_is_said() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        client = redis.Redis(port=unused.getsockname()[1])
        with client, pytest.raises(StoreError, match="connection refused: nothing listens there"), storing("asking"):
            client.ping()


def test_a_store_without_a_server_names_its_address() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        store = RedisSessionStore(RedisSettings(addresses=(address,)), deployment="blue", topic="words")
        with pytest.raises(StoreError, match=f"reading partition 3 at {address}: connection refused"):
            store.head(3)
        store.close()


def test_our_own_exceptions_pass_unmapped() -> None:
    with pytest.raises(KeyError), storing("doing"):
        raise KeyError("ours")


@given(st.text())
def test_no_text_of_the_server_can_appear_in_the_message(text: str) -> None:
    message = str(store_error(exceptions.ResponseError(f"ERR {CANARY}{text}"), "doing"))
    assert message == "doing: ResponseError"


def test_the_mapped_root_classes_cover_every_client_exception() -> None:
    assert all(issubclass(kind, FOREIGN) for kind in foreign_exceptions())


SECRET = "hunter2-hunter2"
ANYWHERE = {"tls": True, "username": "worker", "password": SECRET, "tls_ca_file": "/etc/ca.pem"}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://cache:6380/2", RedisSettings(addresses=("cache:6380",), database=2)),
        ("redis://cache", RedisSettings(addresses=("cache:6379",))),
        ("redis://[::1]:7000", RedisSettings(addresses=("[::1]:7000",))),
        (
            "rediss://worker:p%40ss@cache",
            RedisSettings(addresses=("cache:6379",), tls=True, username="worker", password="p@ss"),
        ),
        ("redis://:only@cache", RedisSettings(addresses=("cache:6379",), password="only")),
        ("unix:///run/redis.sock", RedisSettings(addresses=("unix:/run/redis.sock",))),
    ],
)
def test_an_address_as_a_url_says_the_same(url: str, expected: RedisSettings) -> None:
    assert RedisSettings.from_url(url) == expected


@pytest.mark.parametrize("url", ["http://cache", "cache:6379", "redis://", ""])
def test_another_kind_of_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="begins with"):
        RedisSettings.from_url(url)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"topology": RedisTopology.SENTINEL}, "sentinel_service is needed"),
        ({"sentinel_service": "mymaster"}, "sentinel_service is needed"),
        ({"sentinel_password": SECRET}, "sentinel_password are given, but topology is not sentinel"),
        ({"topology": RedisTopology.CLUSTER, "sentinel_username": "u"}, "topology is not sentinel"),
        ({"topology": RedisTopology.CLUSTER, "database": 1}, "no database but 0"),
        ({"tls": True, "tls_certificate_file": "c.pem"}, "go together"),
        ({"tls_ca_file": "ca.pem"}, "tls is off"),
        ({"username": "worker"}, "needs a password"),
        ({"addresses": ("a:1", "b:1")}, "one address"),
        ({"addresses": ("unix:/run/redis.sock",), "tls": True}, "unix socket"),
        ({"addresses": ("a:b",)}, "host:port"),
        ({"addresses": ("a:70000",)}, "host:port"),
        ({"addresses": (":6379",)}, "host:port"),
    ],
)
def test_contradictions_are_refused_with_their_reason(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        RedisSettings(**given)


def test_an_ipv6_address_is_taken_out_of_its_brackets() -> None:
    assert split_address("[fe80::1]:6379") == ("fe80::1", 6379)


def test_no_password_is_ever_shown() -> None:
    sentinel = {"topology": RedisTopology.SENTINEL, "sentinel_service": "mymaster", "sentinel_password": SECRET}
    settings = RedisSettings(**{**ANYWHERE, **sentinel, "tls_key_password": SECRET})  # type: ignore[arg-type]
    assert SECRET not in repr(settings)


@pytest.mark.parametrize("topology", [RedisTopology.STANDALONE, RedisTopology.SENTINEL])
def test_no_client_retries_and_all_have_time_outs_and_check_the_servers_name(topology: RedisTopology) -> None:
    service = "mymaster" if topology is RedisTopology.SENTINEL else ""
    client: Any = make_client(RedisSettings(topology=topology, sentinel_service=service, **ANYWHERE))  # type: ignore[arg-type]
    options = client.connection_pool.connection_kwargs
    assert options["retry"].get_retries() == 0
    assert not options.get("retry_on_timeout")
    assert not options.get("retry_on_error")
    assert (options["socket_timeout"], options["socket_connect_timeout"]) == (2.0, 1.0)
    assert (options["ssl_cert_reqs"], options["ssl_check_hostname"]) == ("required", True)
    assert options["ssl_ca_certs"] == "/etc/ca.pem"
    client.close()


def test_a_cluster_client_does_not_retry() -> None:
    """Its constructor asks for the slots, so its own reading of ``retry`` is looked at instead."""
    cluster = RedisCluster.__new__(RedisCluster)
    cluster.retry = no_retry()
    assert cluster.retry.get_retries() == 0
