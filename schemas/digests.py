"""Digests that are added up: one number for many things, in any order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

_DIGEST_BYTES = 8
_DIGESTS = 1 << (8 * _DIGEST_BYTES)


def digest_of(head: bytes, rest: bytes = b"") -> int:
    """Return what these bytes, one after the other, add to a ``digest_sum``."""
    hashed = hashlib.blake2b(head, digest_size=_DIGEST_BYTES)
    if rest:
        hashed.update(rest)
    return int.from_bytes(hashed.digest(), "big")


def digest_sum(digests: Iterable[int]) -> int:
    """Return one number for a partition's sessions, in any order: another field, or one changed, is another number."""
    return sum(digests) % _DIGESTS
