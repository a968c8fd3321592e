"""What a claim finds in Redis of a partition: control fields that may disagree, fields that may be anybody's.

Nothing of it is believed for being there. The manifest and its id are fields of their own: where one is lost, or says
otherwise than the other, nobody knows which checkpoint wrote the sessions. A session's field counts with its name and
its bytes in the manifest's digest, so one that is lost, cut, overwritten or taken back is noticed before it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from schemas.checkpoint import CheckpointId, Manifest
from worker.ports.session_store import Claimed

__all__ = [
    "CHECKPOINT_MANIFEST_VERSION",
    "FoundManifest",
    "holds_all",
    "settled_manifest",
]

CHECKPOINT_MANIFEST_VERSION = "1.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundManifest:
    """The control fields of a partition's hash. stored_id: as it stands there, which a write must name to be taken.

    manifest: None where there is none. damaged: something stands there of which nobody can say what it is.
    """

    manifest: Manifest | None
    stored_id: CheckpointId | bytes | None
    damaged: bool = False

    @classmethod
    def of(cls, claimed: Claimed) -> Self:
        """Read what a claim brought."""
        if claimed.manifest is None and not claimed.id:
            return cls(manifest=None, stored_id=None)
        try:
            manifest = Manifest.decode(claimed.manifest or b"")
        except ValueError:
            return cls(manifest=None, stored_id=claimed.id, damaged=True)
        if claimed.id != manifest.id.encode():
            return cls(manifest=None, stored_id=claimed.id, damaged=True)
        return cls(manifest=manifest, stored_id=CheckpointId.parse(manifest.id))


def settled_manifest(to: CheckpointId, follows: CheckpointId | None, *, sessions: int, digest: int | None) -> Manifest:
    """Return the manifest of a partition with nothing in doubt.

    One that follows itself is never taken for the very first checkpoint in doubt.
    """
    return Manifest(
        version=CHECKPOINT_MANIFEST_VERSION,
        id=str(to),
        follows=str(follows) if follows else None,
        touched=(),
        sessions=sessions,
        sessions_before=sessions,
        digest=digest,
        digest_before=digest,
    )


def holds_all(living: int, digest: int, manifest: Manifest | None) -> bool:
    """Tell whether these are the very sessions that the manifest counts, byte for byte where it has a digest.

    living, digest: how many sessions were found, and their ``digest_sum``.
    """
    if manifest is None or living != manifest.sessions:
        return manifest is None and living == 0
    return manifest.digest is None or manifest.digest == digest
