"""What ``caesura serve`` and ``caesura view`` can be told: where they listen, who may come, what one may ask for."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

__all__ = ["ServeSettings", "is_loopback"]

_AT_RESTART = {"change": "at a restart"}
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """`caesura serve` and `caesura view`: address, who may come, limits. Raises ValueError where fields disagree."""

    host: Annotated[
        str,
        Meta(description="Address to listen on; beyond this machine a token is wanted.", extra=_AT_RESTART),
    ] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65_535, description="Port to listen on; 0: a free one.", extra=_AT_RESTART)] = (
        8765
    )
    token: Annotated[
        str,
        Meta(
            description="What a client must show, as `Authorization: Bearer ...` or in its first message; empty: "
            "nothing, and then only this machine may come.",
            extra=_AT_RESTART,
        ),
    ] = field(default="", repr=False)
    tls_certificate: Annotated[
        str, Meta(description="PEM file of the certificate and its chain; empty: no TLS.", extra=_AT_RESTART)
    ] = ""
    tls_key: Annotated[str, Meta(description="PEM file of the certificate's key.", extra=_AT_RESTART)] = ""
    allowed_origins: Annotated[
        tuple[str, ...],
        Meta(
            description="Web pages of other addresses that may connect, such as `https://captions.example`; the page "
            "served here always may.",
            extra=_AT_RESTART,
        ),
    ] = ()
    allowed_hosts: Annotated[
        tuple[str, ...],
        Meta(
            description="Names under which a browser may reach this service without a token, besides `localhost`, "
            "`127.0.0.1` and `[::1]`: so that no page of a stranger can pose as one of them.",
            extra=_AT_RESTART,
        ),
    ] = ()
    max_connections: Annotated[
        int, Meta(ge=1, le=100_000, description="Clients admitted at once; one more is refused.", extra=_AT_RESTART)
    ] = 256
    max_sessions_per_connection: Annotated[
        int, Meta(ge=1, le=10_000, description="Sessions that a connection may have open at once.", extra=_AT_RESTART)
    ] = 16
    max_message_bytes: Annotated[
        int, Meta(ge=1024, le=16_000_000, description="Longest message of a client.", extra=_AT_RESTART)
    ] = 1_000_000
    max_words_per_second: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000,
            description="Words a second of a connection in the long run; beyond it, and a burst of ten seconds' worth, "
            "it is read more slowly. Speech is three. A message or event without words counts as one.",
            extra=_AT_RESTART,
        ),
    ] = 500
    max_reading_share: Annotated[
        float,
        Meta(
            ge=0.001,
            le=1,
            description="Share of a processor that reading a connection's messages may take in the long run; beyond "
            "it, and a burst of ten seconds' worth, it is read more slowly. Speech takes less than a thousandth.",
            extra=_AT_RESTART,
        ),
    ] = 0.1
    max_queued_words: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000,
            description="Words of a connection that wait for their labels; while there are more it is not read, nor is "
            "the rest of a message. An event without words counts as one.",
            extra=_AT_RESTART,
        ),
    ] = 4000
    max_unsent_messages: Annotated[
        int,
        Meta(
            ge=16,
            le=1_000_000,
            description="Segments that wait for a client to read them; while there are more it is not read.",
            extra=_AT_RESTART,
        ),
    ] = 1000
    max_refused_messages: Annotated[
        int,
        Meta(ge=0, le=1_000_000, description="Messages of a connection that may be refused before it is closed.",
             extra=_AT_RESTART),
    ] = 20  # fmt: skip
    opening_timeout_s: Annotated[
        float,
        Meta(
            ge=0.1,
            le=600,
            description="Time that a client has for a whole request, and on a WebSocket for its first message.",
            extra=_AT_RESTART,
        ),
    ] = 10.0
    idle_timeout_s: Annotated[
        float, Meta(ge=1, le=86_400, description="Time without a message after which a connection is closed.",
                    extra=_AT_RESTART),
    ] = 600.0  # fmt: skip
    send_timeout_s: Annotated[
        float,
        Meta(ge=0.1, le=600, description="Time that a client may leave a message unread before it is let go.",
             extra=_AT_RESTART),
    ] = 30.0  # fmt: skip
    drain_timeout_s: Annotated[
        float,
        Meta(ge=0, le=600, description="What a stop may take to label what was received and to send it.",
             extra=_AT_RESTART),
    ] = 10.0  # fmt: skip
    tentative_interval_ms: Annotated[
        int,
        Meta(ge=20, le=60_000, description="Least time between two looks at a session's unfrozen words.",
             extra=_AT_RESTART),
    ] = 100  # fmt: skip

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
