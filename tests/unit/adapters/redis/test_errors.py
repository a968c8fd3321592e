"""Every exception of redis-py is mapped, and none brings foreign text along."""

from __future__ import annotations

import inspect
import socket
from collections.abc import Iterator

import pytest
import redis
import redis.asyncio
import redis.cluster
import redis.sentinel
from hypothesis import given
from hypothesis import strategies as st
from redis import exceptions

from caesura.worker.adapters.redis.errors import FOREIGN, OUR_FAULT, code_of, store_error, storing
from caesura.worker.adapters.redis.session_store import connect
from caesura.worker.adapters.redis.settings import RedisSettings
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


def test_a_store_that_nobody_serves_says_where_it_looked() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        store = connect(RedisSettings(addresses=(address,)), deployment="blue", topic="words")
        with pytest.raises(StoreError, match=f"reading partition 3 at {address}: connection refused"):
            store.head(3)
        store.close()


def test_what_is_not_foreign_passes_through() -> None:
    with pytest.raises(KeyError), storing("doing"):
        raise KeyError("ours")


@given(st.text())
def test_no_text_of_the_server_can_appear_in_the_message(text: str) -> None:
    message = str(store_error(exceptions.ResponseError(f"ERR {CANARY}{text}"), "doing"))
    assert message == "doing: ResponseError"


def test_the_roots_are_all_that_is_needed() -> None:
    assert all(issubclass(kind, FOREIGN) for kind in foreign_exceptions())
