"""A redis-py client for each topology, with every automatic retry of redis-py turned off.

redis-py retries by default: three times from version 6 on, on connection errors and time-outs, and a cluster client
also by asking for the slots anew. A write that is sent twice would refuse itself and look like a loss, so no client
here retries. Redirections (MOVED, ASK) are followed: the server that sends one has done nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast

import redis
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.retry import Retry
from redis.sentinel import Sentinel

from caesura.worker.adapters.redis.settings import RedisSettings, RedisTopology, split_address


class RedisClient(Protocol):
    """What of redis-py the store uses, the same for every topology."""

    def execute_command(self, *arguments: bytes | str | int) -> object:
        """Send one command and return its answer as redis-py parses it; redis-py's errors."""
        ...

    def ping(self, **target: str) -> object:
        """Send PING; to a cluster's nodes as ``target_nodes`` says."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


def no_retry() -> Retry:
    """Return redis-py's word for one attempt."""
    return Retry(NoBackoff(), 0)


def make_client(settings: RedisSettings) -> RedisClient:
    """Return a client. A cluster's asks for the slots at once and may raise redis-py's errors; the others do not."""
    match settings.topology:
        case RedisTopology.CLUSTER:
            return _cluster(settings)
        case RedisTopology.SENTINEL:
            return _sentinel_master(settings)
        case RedisTopology.STANDALONE:
            where: dict[str, Any] = {"unix_socket_path": settings.socket_path}
            if settings.socket_path is None:
                host, port = split_address(settings.addresses[0])
                where = {"host": host, "port": port}
            made = redis.Redis(
                **where, db=settings.database, retry=no_retry(), **_credentials(settings), **_connection(settings)
            )
            return cast("RedisClient", made)


def _cluster(settings: RedisSettings) -> RedisClient:
    nodes = [_node(address) for address in settings.addresses]
    made = RedisCluster(startup_nodes=nodes, retry=no_retry(), **_credentials(settings), **_connection(settings))
    return cast("RedisClient", made)


def _node(address: str) -> ClusterNode:
    host, port = split_address(address)
    return ClusterNode(host, port)  # type: ignore[no-untyped-call]  # as the sentinels': redis-py has no types for it


def _sentinel_master(settings: RedisSettings) -> RedisClient:
    sentinel = Sentinel(  # type: ignore[no-untyped-call]  # redis-py has no types for it
        [split_address(address) for address in settings.addresses],
        sentinel_kwargs={
            **_connection(settings),
            "retry": no_retry(),
            "username": settings.sentinel_username,
            "password": settings.sentinel_password,
        },
    )
    made = sentinel.master_for(  # type: ignore[no-untyped-call]  # nor for this
        settings.sentinel_service,
        db=settings.database,
        retry=no_retry(),
        **_credentials(settings),
        **_connection(settings),
    )
    return cast("RedisClient", made)


def _credentials(settings: RedisSettings) -> Mapping[str, Any]:
    return {"username": settings.username, "password": settings.password}


def _connection(settings: RedisSettings) -> Mapping[str, Any]:
    options: dict[str, Any] = {
        "socket_timeout": settings.timeout_s,
        "socket_connect_timeout": settings.connect_timeout_s,
        "decode_responses": False,
        # RESP3 brings pushes and maintenance notifications, which the store has no use for.
        "protocol": 2,
    }
    if settings.socket_path is None:
        options["socket_keepalive"] = True
    if settings.tls:
        options |= {
            "ssl": True,
            "ssl_ca_certs": settings.tls_ca_file,
            "ssl_certfile": settings.tls_certificate_file,
            "ssl_keyfile": settings.tls_key_file,
            "ssl_password": settings.tls_key_password,
            "ssl_check_hostname": settings.tls_check_hostname,
            "ssl_cert_reqs": "required",
        }
    return options


def ping(client: RedisClient, settings: RedisSettings) -> None:
    """Ask for a sign of life, every primary of a cluster; a replica that is away loses nobody anything."""
    if settings.topology is RedisTopology.CLUSTER:
        client.ping(target_nodes="primaries")
    else:
        client.ping()
