"""What a claim finds: the committed offset against what Redis holds, decided without I/O (docs/exactly-once.md).

committed offset      stored                    verdict
none                  nothing                   FIRST_START
none                  anything                  FOREIGN    the group's offsets were deleted
without our metadata  any                       FOREIGN    the offset was set from outside
with our id           that id                   GOOD       load
with our id           anything else, nothing    BEHIND     catch up from one before it, else rebuild from the log
"""

from __future__ import annotations

from caesura.schemas.checkpoint import CheckpointId
from caesura.worker.ports.reasons import ClaimVerdict
from caesura.worker.runtime.checkpoint.redis_sessions import RedisManifest


def judge(*, offset_known: bool, committed: CheckpointId | None, found: RedisManifest) -> ClaimVerdict:
    """Return the verdict; ``committed`` is the id in the committed offset's metadata, None where it has none."""
    if not offset_known:
        return ClaimVerdict.FOREIGN if found.anything else ClaimVerdict.FIRST_START
    if committed is None:
        return ClaimVerdict.FOREIGN
    return ClaimVerdict.GOOD if found.id == committed else ClaimVerdict.BEHIND
