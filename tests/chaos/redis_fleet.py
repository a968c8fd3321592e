"""What a Redis under chaos can be made to do, whatever its form, and its plainest form: a primary and a replica."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from typing import Protocol

import redis

from caesura.worker.embedded.embedded_redis import EmbeddedRedis
from tests.chaos.spoiling import spoil
from tests.harness.damages import Damage
from tests.harness.parts.proxy import Link, Proxy
from tests.harness.waiting import comes

__all__ = ["RedisFleet", "RedisPair"]

_LINKED_WITHIN_S = 10.0


class RedisFleet(Protocol):
    """Redis servers behind links. Every call blocks until it is over; between calls all servers run."""

    @property
    def topology(self) -> str:
        """How workers must see it: ``standalone`` or ``cluster``."""
        ...

    @property
    def addresses(self) -> list[str]: ...

    @property
    def links(self) -> Sequence[Link]: ...

    def kill(self, away_s: float) -> None:
        """Kill a primary and bring it back, empty."""
        ...

    def fail_over(self, stale_s: float) -> None:
        """Kill a primary and have its replica serve; first stop the replication for so long."""
        ...

    def pause(self, pause_s: float) -> None:
        """Stop a primary for a while: it is connected and silent."""
        ...

    def flush(self) -> None:
        """FLUSHALL on a primary."""
        ...

    def flush_all(self) -> None:
        """FLUSHALL on every primary."""
        ...

    def spoil(self, damage: Damage) -> None:
        """Spoil every partition's hash on a primary."""
        ...

    def close(self) -> None: ...


class RedisPair:
    """A primary and its replica behind one link, which a fail-over moves: as a managed Redis with one address does."""

    topology = "standalone"

    def __init__(self, proxy: Proxy) -> None:
        self._primary, self._replica = EmbeddedRedis(), EmbeddedRedis()
        self._primary.start()
        self._replica.start()
        self._link = proxy.link(self._primary.port)
        self._follow()

    @property
    def addresses(self) -> list[str]:
        return [f"127.0.0.1:{self._link.port}"]

    @property
    def links(self) -> Sequence[Link]:
        return [self._link]

    def kill(self, away_s: float) -> None:
        self._primary.stop()
        time.sleep(away_s)
        self._primary.start()

    def fail_over(self, stale_s: float) -> None:
        if stale_s:
            self._promote()
            time.sleep(stale_s)
        self._primary.stop()
        if not stale_s:
            self._promote()
        self._primary, self._replica = self._replica, self._primary
        self._link.target = self._primary.port
        self._link.cut()
        self._replica.start()
        self._follow()

    def pause(self, pause_s: float) -> None:
        self._primary.signal(signal.SIGSTOP)
        try:
            time.sleep(pause_s)
        finally:
            self._primary.signal(signal.SIGCONT)

    def flush(self) -> None:
        with redis.Redis(port=self._primary.port) as client:
            client.flushall()

    def flush_all(self) -> None:
        self.flush()

    def spoil(self, damage: Damage) -> None:
        with redis.Redis(port=self._primary.port) as client:
            spoil(client, damage)

    def close(self) -> None:
        self._primary.close()
        self._replica.close()

    def _promote(self) -> None:
        with redis.Redis(port=self._replica.port) as client:
            client.replicaof("NO", "ONE")

    def _follow(self) -> None:
        """Make a replica of the other server, and wait until it has copied what is there."""
        with redis.Redis(port=self._replica.port) as client:
            client.replicaof("127.0.0.1", str(self._primary.port))
            comes(
                lambda: client.info("replication")["master_link_status"] == "up",
                within_s=_LINKED_WITHIN_S,
                every_s=0.05,
            )
