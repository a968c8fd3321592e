"""Settings of ``caesura serve`` and ``caesura view``: address, access, limits."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from msgspec import Meta

from caesura.worker.core.overlays.redaction import Redacted

_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """`caesura serve` and `caesura view`: address, who may come, limits. Raises ValueError where fields disagree.

    host: Address to listen on. A token is needed for any address beyond this machine.
    port: Port to listen on; 0: a free one.
    token: Token that a client must send, as ``Authorization: Bearer ...`` or in its first message. Empty: no token is
        needed, and only this machine may connect.
    tls_certificate: PEM file of the certificate and its chain; empty: no TLS.
    tls_key: PEM file of the certificate's key.
    allowed_origins: Origins of other web pages that may connect, such as ``https://captions.example``. The page served
        here may always connect.
    allowed_hosts: Host names besides ``localhost``, ``127.0.0.1`` and ``[::1]`` under which a browser may use this
        service without a token. The list protects against DNS rebinding.
    max_connections: Clients connected at once. Further clients are refused.
    max_sessions_per_connection: Sessions that a connection may have open at once.
    max_message_bytes: Longest message of a client.
    max_words_per_second: Words a second of a connection in the long run. After a burst of ten seconds' worth, the
        connection is read more slowly. Speech has three words a second. A message or event without words counts as one
        word.
    max_reading_share: Share of a processor for reading a connection's messages in the long run. After a burst of ten
        seconds' worth, the connection is read more slowly. Speech takes less than a thousandth.
    max_queued_words: Words of a connection that may wait for their labels. With more, the connection is not read. An
        event without words counts as one.
    max_unsent_messages: Segments that may wait for a client to read them. With more, the client is not read.
    max_refused_messages: Messages of a connection that may be refused before it is closed.
    opening_timeout_s: Time that a client has for a whole request, and on a WebSocket for its first message.
    idle_timeout_s: Time without a message after which a connection is closed.
    send_timeout_s: Time that a client may leave a message unread before it is disconnected.
    drain_timeout_s: Time that a stop may take to label and send what was received.
    tentative_interval_ms: Shortest time between two messages of a session's unfrozen words.
    redact: What no message to a client carries, as ``redact`` of a route. A client may ask for more.
    """

    CHANGE: ClassVar = "at a restart"

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65_535)] = 8765
    token: str = field(default="", repr=False)
    tls_certificate: str = ""
    tls_key: str = ""
    allowed_origins: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    max_connections: Annotated[int, Meta(ge=1, le=100_000)] = 256
    max_sessions_per_connection: Annotated[int, Meta(ge=1, le=10_000)] = 16
    max_message_bytes: Annotated[int, Meta(ge=1024, le=16_000_000)] = 1_000_000
    max_words_per_second: Annotated[int, Meta(ge=1, le=1_000_000)] = 500
    max_reading_share: Annotated[float, Meta(ge=0.001, le=1)] = 0.1
    max_queued_words: Annotated[int, Meta(ge=1, le=1_000_000)] = 4000
    max_unsent_messages: Annotated[int, Meta(ge=16, le=1_000_000)] = 1000
    max_refused_messages: Annotated[int, Meta(ge=0, le=1_000_000)] = 20
    opening_timeout_s: Annotated[float, Meta(ge=0.1, le=600)] = 10.0
    idle_timeout_s: Annotated[float, Meta(ge=1, le=86_400)] = 600.0
    send_timeout_s: Annotated[float, Meta(ge=0.1, le=600)] = 30.0
    drain_timeout_s: Annotated[float, Meta(ge=0, le=600)] = 10.0
    tentative_interval_ms: Annotated[int, Meta(ge=20, le=60_000)] = 100
    redact: tuple[Redacted, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.tls_certificate) != bool(self.tls_key):
            raise ValueError("serve.tls_certificate and serve.tls_key are given together")
        if self.token != self.token.strip():
            raise ValueError("serve.token begins or ends with a blank, which the header cannot carry")
        if not self.token and not is_loopback(self.host):
            raise ValueError(f"serve.host is {self.host}, which others can reach: set serve.token")
        if not all(_ORIGIN.fullmatch(origin) for origin in self.allowed_origins):
            told = "a browser writes scheme://host or scheme://host:port, in small letters and with nothing behind"
            raise ValueError(f"serve.allowed_origins has one that can never match: {told}")


def is_loopback(host: str) -> bool:
    """Tell whether an address is this machine's own, reached from nowhere else."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
