"""A claim's hold on what is stored of a partition: a token above every other's, and the manifest written under it.

Once the token is raised the former owner can write no more. A write of ours that is refused says the same of us.
"""

from __future__ import annotations

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


class ClaimFence:
    """The token of one claim, its nonce, and the manifest as it stands stored now (``found``).

    lost_count: whether Redis had lost its token, and with it how many claims there were since the last commit.
    """

    def __init__(self, partition: int, parts: RuntimeParts, settings: RuntimeSettings) -> None:
        self.nonce = secrets.token_hex(8)
        self.found = FoundManifest(manifest=None, stored_id=None)
        self._partition = partition
        self._store = parts.store
        self._observer = parts.observer
        self._stable_offset = StableOffset(partition, parts, settings)
        self._token: int | None = None
        self.lost_count = False

    @property
    def token(self) -> int:
        """The token; it must have been raised."""
        assert self._token is not None
        return self._token

    def start_over(self) -> None:
        """Raise another token next time: what was written under this one may have been refused, or land later."""
        self._token = None

    def raise_above_committed(self) -> CommittedOffset | None:
        """Raise the token until it is above the committed one, and return the committed offset. RetriableError."""
        if self._token is None:
            self._raise(above=0)
        while True:
            committed = self._stable_offset.read()
            metadata = OffsetMetadata.decode(committed.metadata) if committed else None
            self._observer.note(SeamReached(step=SeamStep.CLAIM_OFFSET_READ))
            if metadata is None or self._is_above(metadata.id):
                return committed
            self.lost_count = True
            self._raise(above=metadata.id.token)
            if not self._is_above(metadata.id):
                raise ForeignStateError(f"no token is above {metadata.id.token}, which the committed offset names")

    def _is_above(self, committed: CheckpointId) -> bool:
        """Tell whether our token is higher; it is not where Redis was lost, and with it the count of its tokens."""
        return committed.token < self.token

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
            self._token = None  # a newer claim was made, perhaps our own late one: start over
            raise StoreError("the claim was overtaken by a newer one")
        self.found = FoundManifest(manifest=manifest, stored_id=to)
