"""A real Redis for the tests: REDIS_URL, else a redis-server found here, else one in Docker."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

import redis

from caesura.worker.embedded.embedded_redis import EmbeddedRedis, find_redis_server
from tests.harness.parts.lookup import NotFound, docker_answers
from tests.harness.places import CHART


class Control(Protocol):
    """A server of ours that a test may stop and start."""

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def signal(self, number: int) -> None: ...


class RedisServer:
    """A Redis that answers. Only one that we own may be stopped or emptied."""

    def __init__(self, url: str, control: Control | None, close: Callable[[], None]) -> None:
        self.url = url
        self._control = control
        self.close = close

    @property
    def owned(self) -> bool:
        """Whether stop, start, signal and flush may be used."""
        return self._control is not None

    @property
    def control(self) -> Control:
        if self._control is None:
            raise NotFound("this Redis is not ours to stop: unset REDIS_URL and have a redis-server on the PATH")
        return self._control

    def stop(self) -> None:
        """Kill the server; its data is gone."""
        self.control.stop()

    def start(self) -> None:
        """Start it again, empty, at the same address."""
        self.control.start()

    def signal(self, number: int) -> None:
        """Send SIGSTOP or SIGCONT: a server that is connected and silent."""
        self.control.signal(number)

    def flush(self) -> None:
        """FLUSHALL, on a server of ours."""
        assert self.owned
        with self.client() as client:
            client.flushall()

    def client(self) -> redis.Redis:
        """Return a plain client for a look inside; close it after use."""
        return redis.Redis.from_url(self.url)


def find_redis() -> RedisServer:
    """Find or start a Redis; NotFound says what was missing."""
    url = os.environ.get("REDIS_URL")
    if url:
        return RedisServer(url, None, lambda: None)
    if find_redis_server() is not None:
        server = EmbeddedRedis()
        server.start()
        return RedisServer(server.url, server, server.close)
    if docker_answers():
        return _in_docker()
    raise NotFound("no Redis: set REDIS_URL, or have a redis-server on the PATH, or a Docker engine")


def _in_docker() -> RedisServer:
    from testcontainers.redis import RedisContainer  # noqa: PLC0415  # optional, and slow to import

    container = RedisContainer("redis:7.2-alpine")
    container.with_command("redis-server --save '' --maxmemory-policy noeviction")
    container.start()
    url = f"redis://{container.get_container_host_ip()}:{container.get_exposed_port(6379)}/0"
    return RedisServer(url, None, container.stop)


def worker_rule(deployment: str) -> str:
    """Return the rule as the chart renders it; a test of the chart compares the two."""
    text = (CHART / "files" / "redis.acl").read_text(encoding="utf-8").strip()
    return text.replace('{{ "{" }}', "{").replace('{{ include "caesura.deployment" . }}', deployment)
