"""Which sessions are labelled together: an engine does best with many at once, and every session waits for its batch.

Rules:

1. One step a session a batch: what follows a step depends on its labels.
2. Whoever has waited longest is in the next batch; sessions that flood come after all others.
3. A batch is bounded in sessions, and in the words of their buffers: so many an engine may have to compute at worst.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from caesura.worker.core.language.labelling import LabelRequest

FLOOD_WORDS = 300
"""A session floods with more words than this behind its running step: two minutes of speech at 2.5 words a second.

Whoever speaks is never so far ahead of a worker that keeps up; a backlog or a file that is sent at once is.
"""


class PendingLabels(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A session that wants labels. waiting_since_ms: wall clock. queued_words: what waits behind this step."""

    partition: int
    request: LabelRequest
    waiting_since_ms: int
    queued_words: int = 0

    @property
    def is_flood(self) -> bool:
        """Tell whether the session floods: it is served after all others."""
        return self.queued_words > FLOOD_WORDS


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """Bounds of a batch. max_words: of all buffers; one buffer alone may exceed it."""

    max_sessions: int = 64
    max_words: int = 4_096


def form_batches(pending: Sequence[PendingLabels], limits: BatchLimits) -> list[list[PendingLabels]]:
    """Return every pending session in one batch each, in the order in which the batches are to be run."""
    batches: list[list[PendingLabels]] = []
    words = 0
    for one in sorted(pending, key=lambda one: (one.is_flood, one.waiting_since_ms)):
        words += len(one.request.words)
        if not batches or words > limits.max_words or len(batches[-1]) == limits.max_sessions:
            batches.append([])
            words = len(one.request.words)
        batches[-1].append(one)
    return batches
