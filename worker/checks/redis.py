"""Checks whether a Redis can keep the promises: version, behaviour when memory is full, rights of the ACL user.

What cannot be read (managed services hide CONFIG and parts of INFO) is reported as unknown, never as good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from caesura.worker.adapters.redis.client import RedisClient, make_client, ping
from caesura.worker.adapters.redis.errors import FOREIGN, code_of, store_error
from caesura.worker.adapters.redis.session_store import partition_key
from caesura.worker.adapters.redis.settings import RedisSettings, RedisTopology
from caesura.worker.checks.findings import Finding, FindingLevel

_MIN_VERSION = (6, 2)

_SENTINELS_PAUSE_S = 30
"""For so long a Sentinel acts on nothing (its TILT mode) after its own machine stood still for two seconds."""
_LINK_DOWN_FOR = 10
"""A Sentinel takes no replica for the master that had lost the former one for so many times its down-after time."""

_PROBE = "return redis.call('{command}', KEYS[1]{arguments})"
_IN_SCRIPTS = {
    "HMGET": ", 'i'",
    "HSET": ", 'probe', '1'",
    "HLEN": "",
    "EXPIRE": ", '60'",
    "PERSIST": "",
    "RENAME": ", KEYS[1]",
    "HDEL": ", 'probe'",
}
"""What the Lua scripts call, in an order that leaves no key behind."""


def check_redis(settings: RedisSettings, *, deployment: str) -> list[Finding]:
    """Return what was found, one finding a promise; never raises for a Redis that is away or refuses."""
    try:
        client = make_client(settings)
        ping(client, settings)
    except FOREIGN as error:
        asked = ", ".join(settings.addresses)
        return [_bad("answer", str(store_error(error, f"asking {asked} for a sign of life")))]
    try:
        found = [Finding(subject="answer", verdict=FindingLevel.GOOD, reason="it answers")]
        found += _checked("permissions", lambda: _permissions(client, deployment))
        found += _checked("server", lambda: _server(client, settings))
        if settings.topology is RedisTopology.SENTINEL:
            found += _checked("fail-over", lambda: _fail_over(client, settings))
        return found
    finally:
        client.close()


def _checked(subject: str, look: Callable[[], Iterator[Finding]]) -> list[Finding]:
    try:
        return list(look())
    except FOREIGN as error:
        return [_warning(subject, f"unknown: {store_error(error, 'looking')}")]


def _permissions(client: RedisClient, deployment: str) -> Iterator[Finding]:
    key = partition_key(deployment, "check", 0)
    calls: dict[str, tuple[str | int, ...]] = {
        "EVAL": ("EVAL", "return 1", 1, key),
        "EVALSHA": ("EVALSHA", "0" * 40, 1, key),
        "HSCAN": ("HSCAN", key, 0),
    }
    for command, arguments in _IN_SCRIPTS.items():
        calls[command] = ("EVAL", _PROBE.format(command=command, arguments=arguments), 1, key)
    refused = [command for command, call in calls.items() if _refused(client, call)]
    if refused:
        yield _bad("permissions", f"the ACL user needs {', '.join(refused)} on the keys {_pattern(deployment)}")
    else:
        yield Finding(subject="permissions", verdict=FindingLevel.GOOD, reason="the user may do what the worker does")


def _pattern(deployment: str) -> str:
    return f"~caesura:{{{deployment}:*"


def _refused(client: RedisClient, call: tuple[str | int, ...]) -> bool:
    try:
        client.execute_command(*call)
    except FOREIGN as error:
        if code_of(error) == "NOSCRIPT":
            return False
        if code_of(error) == "NOPERM":
            return True
        raise
    return False


def _server(client: RedisClient, settings: RedisSettings) -> Iterator[Finding]:
    for name, info in _infos(client, settings).items():
        where = f" of {name}" if name else ""
        yield _version(where, str(info.get("redis_version", "")))
        yield _memory_policy(where, str(info.get("maxmemory_policy", "")))
        yield _copies(where, info)


def _infos(client: RedisClient, settings: RedisSettings) -> dict[str, Mapping[str, object]]:
    """Return INFO by node; a standalone server or a Sentinel's master has no name."""
    if settings.topology is not RedisTopology.CLUSTER:
        return {"": _info(client.execute_command("INFO"))}
    nodes: dict[str, Mapping[str, object]] = {}
    for node in client.get_primaries():  # type: ignore[attr-defined]  # a cluster's client alone has it
        nodes[node.name] = _info(node.redis_connection.execute_command("INFO"))
    return nodes


def _info(answer: object) -> Mapping[str, object]:
    return answer if isinstance(answer, dict) else {}


def _version(where: str, version: str) -> Finding:
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if not numbers:
        return _warning(f"version{where}", "unknown: the server does not say; 6.2 or newer is needed")
    if numbers < _MIN_VERSION:
        return _bad(f"version{where}", f"{version}; 6.2 or newer is needed")
    return Finding(subject=f"version{where}", verdict=FindingLevel.GOOD, reason=version)


def _memory_policy(where: str, policy: str) -> Finding:
    subject = f"maxmemory-policy{where}"
    if not policy:
        return _warning(subject, "unknown: the server does not say; it must be noeviction")
    if policy != "noeviction":
        return _bad(subject, f"{policy}: sessions could be evicted singly; set it to noeviction")
    return Finding(subject=subject, verdict=FindingLevel.GOOD, reason=policy)


def _copies(where: str, info: Mapping[str, object]) -> Finding:
    subject = f"persistence and replicas{where}"
    replicas = int(str(info.get("connected_slaves", 0)))
    persisted = info.get("aof_enabled") == 1
    if not replicas and not persisted:
        return _warning(
            subject, "neither an append-only file nor a replica: a restart of Redis means rebuilding every session"
        )
    means = f"{replicas} replicas, append-only file {'on' if persisted else 'off'}"
    return Finding(subject=subject, verdict=FindingLevel.GOOD, reason=means)


def _fail_over(client: RedisClient, settings: RedisSettings) -> Iterator[Finding]:
    """Whether the Sentinels still take a replica after they stood still themselves."""
    sentinel = client.connection_pool.sentinel_manager.sentinels[0]  # type: ignore[attr-defined]  # theirs alone has it
    down_after_ms = sentinel.sentinel_master(settings.sentinel_service)["down-after-milliseconds"]
    if down_after_ms * _LINK_DOWN_FOR <= _SENTINELS_PAUSE_S * 1000:
        yield _warning(
            "fail-over",
            f"down-after-milliseconds {down_after_ms}: where the Sentinels' machine stood still for two seconds, they"
            f" act on nothing for {_SENTINELS_PAUSE_S} s, and by then find every replica's link too long down: no"
            " fail-over comes; 5000 is enough",
        )
    else:
        yield Finding(subject="fail-over", verdict=FindingLevel.GOOD, reason=f"down-after-milliseconds {down_after_ms}")


def _bad(subject: str, reason: str) -> Finding:
    return Finding(subject=subject, verdict=FindingLevel.BAD, reason=reason)


def _warning(subject: str, reason: str) -> Finding:
    return Finding(subject=subject, verdict=FindingLevel.WARNING, reason=reason)
