"""Who may connect: pages by their origin, clients by the token; asked before anything of a client is read.

A WebSocket is open to every page of every site that the user's browser shows, and a page may pose as this machine by
a name of its own (DNS rebinding). So a browser's page must be the one served here or one that the operator names; and
where there is no token, the name in the address must be this machine's.
"""

from __future__ import annotations

import base64
import hmac
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers

from caesura.worker.service.server.messages import Opening
from caesura.worker.settings.serving import ServeSettings, is_loopback

FOREIGN_HOST = "reach this service as localhost, or name it in serve.allowed_hosts"
"""What is answered where ``admits_host`` says no."""


def admits_host(headers: Headers, settings: ServeSettings) -> bool:
    """Tell whether the name that the client called this service by is one of its own."""
    if settings.token:
        return True
    host = _split(f"//{headers.get('host', '')}")
    name = "" if host is None else host.hostname or ""
    return is_loopback(name) or name in settings.allowed_hosts


def admits_origin(headers: Headers, settings: ServeSettings) -> bool:
    """Tell whether the page that connects may; programs that are no browser send no origin."""
    origin = headers.get("origin")
    if origin is None:
        return True
    page = _split(origin)
    return page is not None and (origin in settings.allowed_origins or page.netloc == headers.get("host"))


def admits_token(headers: Headers, opening: Opening, settings: ServeSettings) -> bool:
    """Tell whether the client has shown the token; always where none is set.

    It stands in the header, as ``Bearer`` or as the password of ``Basic`` (webhooks take it from their address), or in
    the opening.
    """
    if not settings.token:
        return True
    scheme, _, shown = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "basic":
        shown = _password(shown)
    elif scheme.lower() != "bearer":
        shown = opening.token
    return hmac.compare_digest(shown.encode(), settings.token.encode())


def _password(shown: str) -> str:
    """Return the password of basic authentication; empty where there is none."""
    try:
        return base64.b64decode(shown, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


def _split(address: str) -> SplitResult | None:
    """Return the parts of an address; None of what is none, such as half of one for IPv6."""
    try:
        return urlsplit(address)
    except ValueError:
        return None
