"""Reads what Redis holds of a partition, in pieces, for a claim. It may hold a million sessions, most of them closed.

The claim trusts it only if it adds up: the manifest and the id are separate fields and must agree, and the sessions
must match the manifest.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from caesura.schemas.checkpoint import CheckpointId, Manifest
from caesura.schemas.digests import digest_sum
from caesura.worker.ports.session_store import StoredHead
from caesura.worker.runtime.settings.totals import snapshot_digest

PIECE_SESSIONS = 500
"""How many sessions a turn of the loop reads, makes or saves of one partition: about 20 ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisManifest:
    """The control fields of a partition's hash. manifest: None if there is no readable one.

    anything: something is stored, readable or not.
    """

    manifest: Manifest | None
    anything: bool

    @classmethod
    def of(cls, head: StoredHead) -> Self:
        """Read what is stored."""
        anything = head.manifest is not None or head.id is not None
        try:
            manifest = Manifest.decode(head.manifest or b"")
        except ValueError:
            return cls(manifest=None, anything=anything)
        return cls(manifest=manifest if head.id == manifest.id.encode() else None, anything=anything)

    @property
    def id(self) -> CheckpointId | None:
        """The stored checkpoint's id."""
        return None if self.manifest is None else CheckpointId.parse(self.manifest.id)


class RedisSessions:
    """The stored sessions under this manifest. snapshots: session -> its snapshot, of those read so far."""

    def __init__(self, fields: Iterator[tuple[str, bytes]], manifest: Manifest) -> None:
        self.manifest = manifest
        self.snapshots: dict[str, bytes] = {}
        self._fields = fields
        self._digest = 0

    def read(self) -> bool:
        """Read the next piece; return True if it was the last. StoreError: begin again."""
        for _ in range(PIECE_SESSIONS):
            found = next(self._fields, None)
            if found is None:
                return True
            name, snapshot = sys.intern(found[0]), found[1]
            self.snapshots[name] = snapshot
            self._digest = digest_sum((self._digest, snapshot_digest(name, snapshot)))
        return False

    @property
    def complete(self) -> bool:
        """Tell whether these are exactly the sessions that the manifest counts, byte for byte."""
        return (len(self.snapshots), self._digest) == (self.manifest.sessions, self.manifest.digest)
