"""An address: whether it is one, and as it may be shown."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from caesura.worker.errors import FatalError

__all__ = ["is_address", "shown_address"]


def shown_address(url: str) -> str:
    """Return an address without what may be a secret in it: its user and password, and its query."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('?')[0].rpartition('@')[2]}"


def is_address(source: str) -> bool:
    """Tell whether messages come from an address. FatalError where it is one that nothing can be asked at."""
    scheme, there_is, _ = source.partition("://")
    if not there_is or os.path.exists(source):  # noqa: PTH110 - Path's raises for what is too long for a path
        return False
    if scheme not in ("ws", "wss"):
        raise FatalError(f"{shown_address(source)}: an address begins with ws:// or wss://")
    try:
        named = urlsplit(source)
        if named.hostname and named.port != 0:
            return True
    except ValueError:  # a port that is no number, or too large a one
        pass
    raise FatalError(f"{shown_address(source)}: an address is ws://host:port, and a port is 1 to 65535")
