"""How to reach Redis: alone, through Sentinel, or as a cluster; with TLS and an ACL user, or without."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated
from urllib.parse import unquote, urlsplit

from msgspec import Meta

from caesura.worker.whole_numbers import MAX_PORT, whole_number

_NEVER = {"change": "never: another Redis has no state, and sessions are rebuilt"}


class RedisTopology(StrEnum):
    """What answers at the addresses."""

    STANDALONE = "standalone"
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisSettings:
    """Everything that a client of the session store is made of. Raises ValueError where fields contradict each other.

    Client retries are not a setting: an unanswered write may have happened, and only the protocol knows what follows.

    addresses: ``host:port`` of the server, of the Sentinels, or of some nodes of the cluster; or
        ``unix:/path/to/socket``.
    topology: The kind of Redis at the addresses.
    sentinel_service: Name of the master that the Sentinels watch.
    database: Number of the database; a cluster has only 0.
    username: ACL user.
    password: Its password.
    sentinel_username: ACL user of the Sentinels.
    sentinel_password: Its password.
    tls: Use TLS, for the Sentinels too.
    tls_ca_file: PEM file of the authorities; empty: the system's.
    tls_certificate_file: PEM file of the client's certificate.
    tls_key_file: PEM file of its key.
    tls_key_password: Password of the key.
    tls_check_hostname: Require the server's certificate to carry the name that was dialled.
    connect_timeout_s: Time-out of one attempt to connect.
    timeout_s: A call that takes longer counts as unanswered.
    """

    addresses: Annotated[tuple[str, ...], Meta(min_length=1, extra=_NEVER)] = ("127.0.0.1:6379",)
    topology: RedisTopology = RedisTopology.STANDALONE
    sentinel_service: Annotated[str, Meta(extra=_NEVER)] = ""
    database: Annotated[int, Meta(ge=0, le=1_000_000, extra=_NEVER)] = 0
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    sentinel_username: str | None = None
    sentinel_password: str | None = field(default=None, repr=False)
    tls: bool = False
    tls_ca_file: str | None = None
    tls_certificate_file: str | None = None
    tls_key_file: str | None = None
    tls_key_password: str | None = field(default=None, repr=False)
    tls_check_hostname: bool = True
    connect_timeout_s: Annotated[float, Meta(ge=0.05, le=60)] = 1.0
    timeout_s: Annotated[float, Meta(ge=0.05, le=60)] = 2.0

    def __post_init__(self) -> None:
        self._require_fitting_topology()
        if (self.tls_certificate_file is None) != (self.tls_key_file is None):
            raise ValueError("tls_certificate_file and tls_key_file go together")
        if not self.tls and (self.tls_ca_file or self.tls_certificate_file):
            raise ValueError("TLS files are given, but tls is off")
        if self.username is not None and self.password is None:
            raise ValueError("a username needs a password")
        for address in self.addresses:
            _require_no_url(address)
            if _is_socket(address):
                if self.topology is not RedisTopology.STANDALONE or self.tls:
                    raise ValueError("a unix socket goes with topology standalone and without TLS")
            else:
                split_address(address)

    def _require_fitting_topology(self) -> None:
        if (self.topology is RedisTopology.SENTINEL) != bool(self.sentinel_service):
            raise ValueError("sentinel_service is needed with topology sentinel, and only there")
        if self.topology is not RedisTopology.SENTINEL and (self.sentinel_username or self.sentinel_password):
            raise ValueError("sentinel_username and sentinel_password are given, but topology is not sentinel")
        if self.topology is RedisTopology.CLUSTER and self.database:
            raise ValueError("a cluster has no database but 0")
        if self.topology is RedisTopology.STANDALONE and len(self.addresses) != 1:
            raise ValueError("topology standalone has one address")

    @classmethod
    def from_url(cls, url: str) -> RedisSettings:
        """Return the settings of ``redis://[user:password@]host:port/database``, ``rediss://`` or ``unix:///path``."""
        parts = urlsplit(url)
        if parts.scheme == "unix":
            return cls(addresses=(f"unix:{parts.path}",))
        if parts.scheme not in ("redis", "rediss") or not parts.hostname:
            raise ValueError("a Redis address begins with redis://, rediss:// or unix://")
        path = parts.path.strip("/")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        return cls(
            addresses=(f"{host}:{parts.port or 6379}",),
            tls=parts.scheme == "rediss",
            username=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password) if parts.password else None,
            database=int(path) if path else 0,
        )

    @property
    def socket_path(self) -> str | None:
        """The unix socket's path, None where Redis is reached by TCP."""
        return self.addresses[0].removeprefix("unix:") if _is_socket(self.addresses[0]) else None


def _is_socket(address: str) -> bool:
    return address.startswith("unix:")


def _require_no_url(address: str) -> None:
    """Refuse what may carry a password, in words that do not: addresses are shown and stand in errors."""
    if "@" in address or "://" in address:
        raise ValueError(
            "an address is host:port alone: user, password and TLS have settings of their own, redis.username, "
            "redis.password and redis.tls"
        )


def split_address(address: str) -> tuple[str, int]:
    """Return host and port of ``host:port``, the host perhaps an IPv6 address in brackets. Raises ValueError."""
    host, _, told = address.rpartition(":")
    port = whole_number(told, MAX_PORT)
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port:
        raise ValueError(f"an address is host:port, and {address!r} is not")
    return host, port
