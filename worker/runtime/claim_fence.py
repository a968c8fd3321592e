"""A claim's hold on what is stored of a partition: a token above every other's, and the manifest written under it.

Once the token is raised the former owner can write no more. A write of ours that is refused says the same of us.
"""

from __future__ import annotations

import re
import secrets

import msgspec

from schemas.checkpoint import CheckpointId, OffsetMetadata
from worker.errors import ForeignStateError, StoreError
from worker.ports.records import CommittedOffset
from worker.ports.seam_events import SeamReached, SeamStep
from worker.ports.session_store import StoreWrite
from worker.runtime.found_sessions import FoundSessions
from worker.runtime.found_state import FoundManifest, settled_manifest
from worker.runtime.parts import RuntimeParts
from worker.runtime.settings import RuntimeSettings
from worker.runtime.stable_offset import StableOffset

__all__ = ["ClaimFence"]

_TOKEN = re.compile(r"[0-9]{1,15}")


class ClaimFence:
    """The token of one claim, its nonce, and the manifest as it stands stored now (``found``).

    A claim leaves its token with the group, too, and the next one's is above that: what Redis loses, or goes back
    behind, takes no claim from those that the tokens count (ADR 0064).
    """

    def __init__(self, partition: int, parts: RuntimeParts, settings: RuntimeSettings) -> None:
        self.nonce = secrets.token_hex(8)
        self.found = FoundManifest(manifest=None, stored_id=None)
        self._partition = partition
        self._store = parts.store
        self._observer = parts.observer
        self._stable_offset = StableOffset(partition, parts, settings)
        self._token: int | None = None
        self._left = 0

    @property
    def token(self) -> int:
        """The token; it must have been raised."""
        assert self._token is not None
        return self._token

    def start_over(self) -> None:
        """Raise another token next time: what was written under this one may have been refused, or land later.

        It is another one also where Redis is lost until then.
        """
        if self._token is not None:
            self._left = max(self._left, self._token + 1)
        self._token = None

    def raise_above_committed(self) -> CommittedOffset | None:
        """Raise the token above the committed one and the last claim's; return the committed offset. RetriableError."""
        if self._token is None:
            self._raise(above=0)
        while True:
            committed = self._stable_offset.read(self._leave)
            metadata = OffsetMetadata.decode(committed.metadata) if committed else None
            self._observer.note(SeamReached(step=SeamStep.CLAIM_OFFSET_READ))
            above = max(metadata.id.token if metadata else 0, self._left - 1)
            if self._is_above(above):
                return committed
            self._raise(above=above)  # Redis was lost, or went back
            if not self._is_above(above):
                raise ForeignStateError(f"no token is above {above}, which the committed offset or a claim names")

    def _is_above(self, token: int) -> bool:
        return token < self.token

    def _leave(self, found: str) -> str:
        """Return the token to leave with the group: above the one that is found there, unless this claim left it."""
        last = int(found) if _TOKEN.fullmatch(found) else 0
        if last > self._left:
            self._left = last + 1
        self._left = max(self._left, self.token)
        return str(self._left)

    def _raise(self, *, above: int) -> None:
        claimed = self._store.claim(self._partition, above)
        self._token = claimed.token
        self.found = FoundManifest.of(claimed)
        self._observer.note(SeamReached(step=SeamStep.CLAIM_TOKEN_RAISED))

    def roll_back(self, found: FoundSessions, committed: CheckpointId) -> None:
        """Drop the slots that the uncommitted checkpoint wrote; the manifest becomes the committed one again."""
        manifest = self.found.manifest
        assert manifest is not None
        self._write(
            committed,
            committed,
            found.put,
            found.drop,
            sessions=manifest.sessions_before,
            digest=manifest.digest_before,
        )
        self._observer.note(SeamReached(step=SeamStep.CLAIM_ROLLED_BACK))

    def roll_back_to_nothing(self, sessions: list[str]) -> None:
        """Drop all these sessions; the manifest's id is one of number 0, and follows nothing."""
        self._write(CheckpointId(self.token, 0, self.nonce), None, {}, sessions, sessions=0, digest=0)

    def _write(
        self,
        to: CheckpointId,
        follows: CheckpointId | None,
        put: dict[str, bytes],
        drop: list[str],
        *,
        sessions: int,
        digest: int | None,
    ) -> None:
        manifest = settled_manifest(to, follows, sessions=sessions, digest=digest)
        write = StoreWrite(
            token=self.token,
            follows=self.found.stored_id,
            id=to,
            manifest=msgspec.msgpack.encode(manifest),
            put=put,
            drop=drop,
        )
        if not self._store.write(self._partition, write):
            self.start_over()  # a newer claim was made, perhaps our own late one
            raise StoreError("the claim was overtaken by a newer one")
        self.found = FoundManifest(manifest=manifest, stored_id=to)
