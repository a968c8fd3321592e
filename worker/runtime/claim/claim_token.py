"""A claim's token: a number that the claim commits to the group. Each claim of a partition has a higher one.

With ``start_at: latest`` the first claim of all also commits the input's end as it found it.
"""

from __future__ import annotations

import re
import secrets

from caesura.schemas.checkpoint import OffsetMetadata
from caesura.worker.errors import ForeignStateError
from caesura.worker.ports.commit_steps import CommitStep, CommitStepReached
from caesura.worker.ports.records import CommittedOffset
from caesura.worker.runtime.ledger.stable_offset import StableOffset
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings

_TOKEN = re.compile(r"([0-9]{1,15})(?: ([0-9]{1,19}))?")
_LARGEST = 10**15 - 1


class ClaimToken:
    """The token of one claim, above all earlier ones, and the claim's nonce.

    The nonce makes the claim's checkpoint ids unique even if earlier claims are unknown. first_end: the input's end at
    the partition's first claim; None if none was left.
    """

    def __init__(self, partition: int, parts: RuntimeAdapters, settings: RuntimeSettings) -> None:
        self.nonce = secrets.token_hex(8)
        self.token = 0
        self.first_end: int | None = None
        self._observer = parts.observer
        self._stable_offset = StableOffset(partition, parts, settings)

    def read_committed(self, end: int | None = None) -> CommittedOffset | None:
        """Commit the token to the group; return the committed offset. RetriableError; ForeignStateError.

        end: the input's present end, which is left with the token if no earlier claim has left one.
        """
        if self.first_end is None:
            self.first_end = end
        while True:
            committed = self._stable_offset.read(self._leave)
            metadata = OffsetMetadata.decode(committed.metadata) if committed else None
            self._observer.note(CommitStepReached(step=CommitStep.CLAIM_OFFSET_READ))
            if metadata is None or metadata.id.token < self.token:
                return committed
            if metadata.id.token >= _LARGEST:
                raise ForeignStateError(f"no token is above {metadata.id.token}, which the committed offset names")
            self.token = metadata.id.token + 1

    def _leave(self, found: str) -> str:
        """Return the token to leave: above the one that is there, unless this claim has left it."""
        left = _TOKEN.fullmatch(found)
        last = int(left[1]) if left else 0
        if left is not None and left[2] is not None:
            self.first_end = int(left[2])
        if last > self.token or not self.token:
            self.token = min(last + 1, _LARGEST)
        return str(self.token) if self.first_end is None else f"{self.token} {self.first_end}"
