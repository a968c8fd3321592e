"""What a claim finds: the committed offset against the stored manifest, decided without I/O (docs/seam.md).

committed offset      manifest                       verdict
none                  none                           FIRST_START
none                  follows nothing                IN_DOUBT   the very first checkpoint did not commit
none                  follows a roll-back to nothing IN_DOUBT   nor did the first one after that
none                  follows a checkpoint           FOREIGN    somebody deleted the group's offsets
without our id        any                            FOREIGN    somebody set the offset
with our id           its id is the committed one    GOOD
with our id           it follows the committed one   IN_DOUBT   roll back what it lists
with our id           it follows itself              BEHIND     a rebuild that did not commit: nothing to go back to
with our id           anything else, or none         BEHIND     rebuild from the ledger
"""

from __future__ import annotations

from schemas.checkpoint import CheckpointId, Manifest
from worker.ports.reasons import ClaimVerdict

__all__ = ["judge"]


def judge(*, offset_known: bool, committed: CheckpointId | None, manifest: Manifest | None) -> ClaimVerdict:
    """Return the verdict; ``committed`` is the id in the committed offset's metadata, None where it has none."""
    if not offset_known:
        if manifest is None:
            return ClaimVerdict.FIRST_START
        return ClaimVerdict.IN_DOUBT if _follows_nothing(manifest) else ClaimVerdict.FOREIGN
    return ClaimVerdict.FOREIGN if committed is None else _judge_ours(committed, manifest)


def _judge_ours(committed: CheckpointId, manifest: Manifest | None) -> ClaimVerdict:
    if manifest is None:
        return ClaimVerdict.BEHIND
    if manifest.id == str(committed):
        return ClaimVerdict.GOOD
    if manifest.follows != str(committed) or _rebuilt_by_a_former_release(manifest):
        return ClaimVerdict.BEHIND
    return ClaimVerdict.IN_DOUBT


def _rebuilt_by_a_former_release(manifest: Manifest) -> bool:
    """Tell whether it may be a rebuild's of version 1.0, which followed what it had found and counted nothing before.

    The first session of an empty partition looks the same; to rebuild that costs little.
    """
    return manifest.digest_before is None and manifest.sessions_before == 0


def _follows_nothing(manifest: Manifest) -> bool:
    """Tell whether nothing had ever committed before: a claim writes number 0 where it rolled back to nothing."""
    return manifest.follows is None or CheckpointId.parse(manifest.follows).n == 0
