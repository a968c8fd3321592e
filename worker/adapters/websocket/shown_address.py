"""An address as it may be shown."""

from __future__ import annotations

__all__ = ["shown_address"]


def shown_address(url: str) -> str:
    """Return an address without what may be a secret in it: its user and password, and its query."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('?')[0].rpartition('@')[2]}"
