"""Spoils what a real Redis holds of a deployment: one field of each partition's hash, or two that it is made of."""

from __future__ import annotations

import contextlib
from typing import cast

import msgspec
import redis

from tests.harness.damages import Damage

__all__ = ["spoil"]


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
