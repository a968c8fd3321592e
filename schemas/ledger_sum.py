"""What the ledger must say of a partition, as two numbers in its committed offset's metadata (docs/exactly-once.md).

A session that has published has a record in the ledger, written in the transaction of its last segment. What only
publishing changes, its ``since``, ``index`` and ``words``, stands in its snapshot as well; so both give the same sum,
in any order. A session that has published nothing adds nothing, whether a record of it stands in the ledger or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple, Self

import msgspec

from caesura.schemas.digests import digest_of, digest_sum
from caesura.schemas.state import SessionFacts

_TEXT = re.compile(r"([0-9]{1,18})\.([0-9a-f]{16})")


class Published(msgspec.Struct, frozen=True):
    """What a session has published: read from a snapshot without the rest of it, or from a segment."""

    session: str
    since: int
    index: int = 0
    words: int = 0

    @classmethod
    def of(cls, facts: SessionFacts) -> Self:
        """Return what these facts say of it."""
        return cls(facts.session, facts.since, facts.output.index, facts.output.words)


class _Output(msgspec.Struct, frozen=True):
    index: int = 0
    words: int = 0


class _Snapshot(msgspec.Struct, frozen=True):
    session: str
    since: int
    output: _Output


_SNAPSHOT = msgspec.msgpack.Decoder(_Snapshot)


def decode_published(snapshot: bytes) -> Published:
    """Read of a snapshot what its session has published."""
    found = _SNAPSHOT.decode(snapshot)
    return Published(found.session, found.since, found.output.index, found.output.words)


class LedgerSum(NamedTuple):
    """How many sessions have published, and the ``digest_sum`` of what."""

    sessions: int = 0
    digest: int = 0

    def __str__(self) -> str:
        return f"{self.sessions}.{self.digest:016x}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the text form; ValueError where it is none."""
        match = _TEXT.fullmatch(text)
        if match is None:
            raise ValueError("expected sessions.digest")
        return cls(int(match[1]), int(match[2], 16))

    def plus(self, *come: Published | SessionFacts) -> LedgerSum:
        """Return the sum with these sessions."""
        return self.with_digests((), map(published_digest, come))

    def less(self, *gone: Published | SessionFacts) -> LedgerSum:
        """Return the sum without these sessions."""
        return self.with_digests(map(published_digest, gone), ())

    def with_digests(self, gone: Iterable[int | None], come: Iterable[int | None]) -> LedgerSum:
        """Return the same from what ``published_digest`` says of these sessions."""
        less = [one for one in gone if one is not None]
        more = [one for one in come if one is not None]
        digest = digest_sum((self.digest, -sum(less), sum(more)))
        return LedgerSum(self.sessions + len(more) - len(less), digest)


def published_digest(one: Published | SessionFacts) -> int | None:
    """Return what a session adds to the digest; None: it has published nothing."""
    if isinstance(one, SessionFacts):
        one = Published.of(one)
    if not one.index:
        return None
    name = one.session.encode()
    return digest_of(b"%d %s %d %d %d" % (len(name), name, one.since, one.index, one.words))
