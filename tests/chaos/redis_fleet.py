"""What a Redis under chaos can be made to do, whatever its form, and its plainest form: a primary and a replica."""

from __future__ import annotations

import contextlib
import random
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import cast

import msgspec
import redis
from typing_extensions import override

from caesura.worker.embedded.embedded_redis import EmbeddedRedis
from tests.harness.damages import Damage
from tests.harness.parts.proxy import Link, Proxy
from tests.harness.waiting import comes


def spoil(client: redis.Redis, damage: Damage) -> None:
    """Do a damage to every partition's hash on this server, whatever its owner writes meanwhile.

    What is written back are the fields that the damage changes, so a save that comes in between is mixed with it.
    """
    for key in client.scan_iter(match="caesura:*:sessions"):
        stored = cast("dict[bytes, bytes]", client.hgetall(key))
        before = {name.decode(errors="surrogateescape"): value for name, value in stored.items()}
        after = dict(before)
        with contextlib.suppress(LookupError, ValueError, msgspec.DecodeError):  # there is no such field to spoil
            damage(after)
        put = {_name(name): value for name, value in after.items() if before.get(name) != value}
        gone = [_name(name) for name in before.keys() - after.keys()]
        with client.pipeline(transaction=True) as both:
            if put:
                both.hset(key, items=[part for pair in put.items() for part in pair])
            if gone:
                both.hdel(key, *gone)
            both.execute()


def _name(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


_LINKED_WITHIN_S = 10.0


class RedisFleet(ABC):
    """Redis servers behind links. Every call blocks until it is over; between calls all servers run."""

    topology: str
    """How workers must see it: ``standalone`` or ``cluster``."""

    def __init__(self, nodes: Sequence[EmbeddedRedis], links: Sequence[Link], drawn: random.Random) -> None:
        self._nodes = nodes
        self._drawn = drawn
        self.links = links

    @property
    def addresses(self) -> list[str]:
        return [f"127.0.0.1:{link.port}" for link in self.links]

    def kill(self, away_s: float) -> None:
        """Kill a primary and bring it back, empty."""
        node = self._a_primary()
        node.stop()
        time.sleep(away_s)
        node.start()
        self._await_health()

    @abstractmethod
    def fail_over(self, stale_s: float) -> None:
        """Kill a primary and have its replica serve; first stop the replication for so long."""

    def pause(self, pause_s: float) -> None:
        """Stop a primary for a while: it is connected and silent."""
        node = self._a_primary()
        node.signal(signal.SIGSTOP)
        try:
            time.sleep(pause_s)
        finally:
            node.signal(signal.SIGCONT)
        self._await_health()

    def flush(self) -> None:
        """FLUSHALL on a primary."""
        with _client(self._a_primary()) as client:
            client.flushall()

    def flush_all(self) -> None:
        """FLUSHALL on every primary."""
        for node in self._primaries():
            with _client(node) as client:
                client.flushall()

    def spoil(self, damage: Damage) -> None:
        """Spoil every partition's hash on a primary."""
        with _client(self._a_primary()) as client:
            spoil(client, damage)

    def close(self) -> None:
        for node in self._nodes:
            node.close()

    def _a_primary(self) -> EmbeddedRedis:
        return self._drawn.choice(self._primaries())

    @abstractmethod
    def _primaries(self) -> list[EmbeddedRedis]: ...

    @abstractmethod
    def _await_health(self) -> None:
        """Wait until everything is served, and every replica follows."""


class RedisPair(RedisFleet):
    """A primary and its replica behind one link, which a fail-over moves: as a managed Redis with one address does."""

    topology = "standalone"

    def __init__(self, proxy: Proxy, drawn: random.Random) -> None:
        self._primary, self._replica = EmbeddedRedis(), EmbeddedRedis()
        self._primary.start()
        self._replica.start()
        self._link = proxy.link(self._primary.port)
        super().__init__([self._primary, self._replica], [self._link], drawn)
        self._follow()

    @override
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

    @override
    def _primaries(self) -> list[EmbeddedRedis]:
        return [self._primary]

    @override
    def _await_health(self) -> None:
        """Wait for nothing: a primary is back once it has started."""

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


_NODES = 6
_SLOTS = 16_384
_WITHIN_S = 30.0
_NODE_TIME_OUT_MS = 1000


class RedisRing(RedisFleet):
    """The cluster. Which node is a primary, the nodes know best: it is asked each time."""

    topology = "cluster"

    def __init__(self, proxy: Proxy, drawn: random.Random) -> None:
        links = [proxy.link(0) for _ in range(_NODES)]
        super().__init__([EmbeddedRedis(arguments=_arguments(link)) for link in links], links, drawn)
        try:
            for node, link in zip(self._nodes, self.links, strict=True):
                link.target = node.port
                node.start()
            self._join()
        except BaseException:
            self.close()
            raise

    @override
    def fail_over(self, stale_s: float) -> None:
        """Have a replica take over, in good order or, where it is to be stale, by force with the primary dead."""
        node = self._a_primary()
        if not stale_s:
            with _client(self._replica_of(node)) as client:
                client.execute_command("CLUSTER", "FAILOVER")
        else:
            replica = self._replica_of(node)
            replica.signal(signal.SIGSTOP)
            with _client(node) as client:  # or it reads from its socket, when it goes on, all that it missed
                client.execute_command("CLIENT", "KILL", "TYPE", "replica")
            time.sleep(stale_s)
            node.stop()
            replica.signal(signal.SIGCONT)
            time.sleep(_NODE_TIME_OUT_MS / 1000 * 3)
            node.start()
        self._await_health()

    @override
    def _primaries(self) -> list[EmbeddedRedis]:
        return [node for node in self._nodes if _replication(node)["role"] == "master"]

    def _join(self) -> None:
        share = _SLOTS // 3 + 1
        for i, node in enumerate(self._nodes[:3]):
            with _client(node) as client:
                client.execute_command("CLUSTER", "ADDSLOTS", *range(i * share, min((i + 1) * share, _SLOTS)))
        self._await(self._met)
        for i, node in enumerate(self._nodes[3:]):
            with _client(self._nodes[i]) as client:
                name = client.execute_command("CLUSTER", "MYID")
            with _client(node) as client:
                client.execute_command("CLUSTER", "REPLICATE", name)
        self._await_health()

    def _met(self) -> bool:
        """Whether every node knows every other; those that do not are introduced once more.

        A node forgets an introduction that nobody answered within its time-out, a second, and on a busy machine some
        are not.
        """
        first, *rest = self._nodes
        strangers = [node for node in rest if not _said(node, "cluster_known_nodes:6")]
        for node in strangers:
            with _client(node) as client:
                client.execute_command("CLUSTER", "MEET", "127.0.0.1", first.port, first.port + 10_000)
        if strangers:
            time.sleep(_NODE_TIME_OUT_MS / 1000)
        return not strangers and _said(first, "cluster_known_nodes:6")

    @override
    def _await_health(self) -> None:
        """Wait until every slot is served and every replica follows."""
        self._await(lambda: all(_said(node, "cluster_state:ok") for node in self._nodes) and self._replicated())

    def _replicated(self) -> bool:
        roles = [_replication(node) for node in self._nodes]
        return sum(role["role"] == "master" for role in roles) == _NODES // 2 and all(
            role["role"] == "master" or role["master_link_status"] == "up" for role in roles
        )

    def _await(self, done: Callable[[], bool]) -> None:
        if not comes(done, within_s=_WITHIN_S):
            raise RuntimeError("the Redis cluster did not become whole")

    def _replica_of(self, primary: EmbeddedRedis) -> EmbeddedRedis:
        link = self.links[self._nodes.index(primary)]
        ports = {primary.port, link.port}
        found = [node for node in self._nodes if _replication(node).get("master_port") in ports]
        assert found, "a primary without a replica"
        return found[0]


def _arguments(link: Link) -> tuple[str, ...]:
    return (
        "--cluster-enabled",
        "yes",
        "--cluster-node-timeout",
        str(_NODE_TIME_OUT_MS),
        "--cluster-announce-ip",
        "127.0.0.1",
        "--cluster-announce-port",
        str(link.port),
        "--repl-diskless-sync-delay",
        "0",
    )


def _client(node: EmbeddedRedis) -> redis.Redis:
    return redis.Redis(port=node.port, socket_timeout=5)


def _said(node: EmbeddedRedis, what: str) -> bool:
    with _client(node) as client:
        return what.encode() in client.execute_command("CLUSTER", "INFO")


def _replication(node: EmbeddedRedis) -> dict[str, object]:
    with _client(node) as client:
        found: dict[str, object] = client.info("replication")
    return found
