"""Totals over a partition's committed sessions: their number, their digest, and the ledger's checksum."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from caesura.schemas.digests import digest_of, digest_sum
from caesura.schemas.ledger_sum import LedgerSum, decode_published, published_digest


class SessionShare(NamedTuple):
    """What one session adds to the digest of snapshots and to the ledger's sum (None: it has not published)."""

    digest: int
    published: int | None


def snapshot_digest(session: str, snapshot: bytes) -> int:
    """Return what a session's snapshot adds to the digest of its partition."""
    name = session.encode(errors="surrogateescape")
    return digest_of(b"%d %s " % (len(name), name), snapshot)


class SessionTotals:
    """The sums as of the last commit. sessions: how many sessions there are. digest: ``digest_sum`` of all of them."""

    def __init__(self) -> None:
        self._shares: dict[str, SessionShare] = {}
        self.digest = 0
        self.ledger = LedgerSum()

    @property
    def sessions(self) -> int:
        """How many sessions there are."""
        return len(self._shares)

    def shares(
        self, snapshots: Mapping[str, bytes | None], recorded: Collection[str]
    ) -> dict[str, SessionShare | None]:
        """Return what sessions add once these snapshots are committed; None: a forgotten session.

        recorded: sessions with a ledger record in the same transaction. No other session has published since.
        """
        return {name: self._share(name, data, published=name in recorded) for name, data in snapshots.items()}

    def ledger_with(self, shares: Mapping[str, SessionShare | None]) -> LedgerSum:
        """Return the ledger's sum once these shares are committed."""
        gone = [known.published for name in shares if (known := self._shares.get(name)) is not None]
        return self.ledger.with_digests(gone, [one.published for one in shares.values() if one is not None])

    def change(self, shares: Mapping[str, SessionShare | None]) -> None:
        """Replace what these sessions added before."""
        self.ledger = self.ledger_with(shares)
        gone = (-known.digest for name in shares if (known := self._shares.get(name)) is not None)
        self.digest = digest_sum((self.digest, *gone, *(one.digest for one in shares.values() if one is not None)))
        for name, share in shares.items():
            if share is None:
                self._shares.pop(name, None)
            else:
                self._shares[name] = share

    def _share(self, name: str, data: bytes | None, *, published: bool) -> SessionShare | None:
        if data is None:
            return None
        known = self._shares.get(name)
        if known is None or published:
            return SessionShare(snapshot_digest(name, data), published_digest(decode_published(data)))
        return SessionShare(snapshot_digest(name, data), known.published)
