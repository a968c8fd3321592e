"""How often a claimed partition's next step, or its rebuild, was tried and did not commit.

The last commit notes it, and the tokens raised since then count the claims without a commit. What an operator released,
or what failed elsewhere, is not counted (``poison_isolation``, ``rebuild_isolation``).
"""

from __future__ import annotations

from dataclasses import replace

from caesura.schemas.checkpoint import OffsetMetadata
from caesura.worker.ports.word_source import WordSource
from caesura.worker.runtime.retries.poison_isolation import (
    MAX_CLAIMS_WITHOUT_COMMIT,
    RetryHistory,
    claims_without_commit,
    moved_nothing,
)
from caesura.worker.runtime.retries.rebuild_isolation import RebuildTries, is_announcement
from caesura.worker.runtime.settings.settings import RuntimeSettings

__all__ = ["ClaimTries"]


class ClaimTries:
    """The tries of one partition, as its claim is to count them."""

    def __init__(self, partition: int, source: WordSource, settings: RuntimeSettings) -> None:
        self._partition = partition
        self._source = source
        self._timeout_s = settings.claim_timeout_s
        self._max_poll_records = settings.max_poll_records
        self._forgiven = False
        self._uncounted = False
        self._most: int | None = None

    def uncount(self) -> None:
        """Count the last try of a step, or of a rebuild, against nobody: what stopped it lay elsewhere."""
        self._uncounted = True

    def uncount_rebuild(self, tries_before: int) -> None:
        """Count no more tries of a rebuild than there were before the last one, whatever is committed of that."""
        self._most = tries_before

    def forgive(self) -> None:
        """Try a rebuild as if it had never failed: an operator has released the partition."""
        self._forgiven = True

    def of_a_step(self, metadata: OffsetMetadata | None, token: int, next_offset: int, *, lost: bool) -> RetryHistory:
        """Return what the last commit noted of failed tries; after claims without a commit, until where to isolate.

        lost: state is behind the log. Where the last commit was no more than a rebuild's, every claim since then may
        have ended so, and its rebuild's commit hid the one before.
        """
        announced = is_announcement(metadata)  # what it notes are tries of the rebuild, not of a step after it
        history = RetryHistory() if announced else RetryHistory.noted(metadata, next_offset)
        if self._uncounted:
            history = history.without_the_last()
        hidden = lost and moved_nothing(metadata, next_offset)
        if not (announced or hidden) and claims_without_commit(token, metadata) < MAX_CLAIMS_WITHOUT_COMMIT:
            return history
        _, end = self._source.watermarks(self._partition, self._timeout_s)
        until_offset = max(history.until_offset, min(end, next_offset + self._max_poll_records))
        return replace(history, until_offset=until_offset, of_timers=True)

    def of_a_rebuild(self, metadata: OffsetMetadata | None, token: int) -> RebuildTries:
        """Return how often a rebuild was announced and did not commit, and whether the next one has to be."""
        tries = RebuildTries.noted(metadata, claims_without_commit(token, metadata))
        if self._most is not None:
            tries = replace(tries, announced=min(tries.announced, self._most))
        elif self._uncounted:
            tries = replace(tries, announced=max(0, tries.announced - 1))
        return replace(tries, announced=0) if self._forgiven else tries
