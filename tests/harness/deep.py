"""A value that is nested too deep for anybody to hold."""

from __future__ import annotations

__all__ = ["nested"]


def nested(depth: int) -> object:
    """Return a text in so many lists."""
    value: object = "secret"
    for _ in range(depth):
        value = [value]
    return value
