"""Which sessions are labelled together: an engine pads a batch to its longest buffer, and every session waits for it.

Rules:

1. One step a session a batch: what follows a step depends on its labels.
2. Whoever has waited longest is in the next batch; sessions that flood come after all others.
3. A batch holds buffers of like length, so that little of it is padding, and is bounded in sessions and padded words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from worker.core.labelling import LabelRequest

__all__ = ["BatchLimits", "PendingLabels", "form_batches"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingLabels:
    """A session that wants labels. waiting_since_ms: wall clock. queued_words: what waits behind this step."""

    partition: int
    request: LabelRequest
    waiting_since_ms: int
    queued_words: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """Bounds of a batch. max_padded_words: sessions times the longest buffer; one buffer alone may exceed it.

    like_length_words: buffers that fall into one range of this size go together. flood_words: a session with more
    queued words than this floods.
    """

    max_sessions: int = 64
    max_padded_words: int = 2_048
    like_length_words: int = 16
    flood_words: int = 300

    def is_flood(self, one: PendingLabels) -> bool:
        """Tell whether a session floods: it is served after all others."""
        return one.queued_words > self.flood_words


def form_batches(pending: Sequence[PendingLabels], limits: BatchLimits) -> list[list[PendingLabels]]:
    """Return every pending session in one batch each, in the order in which the batches are to be run.

    The first of a batch is the one that has waited longest of those left; others of like length join it, oldest first.
    """
    waiting = sorted(pending, key=lambda one: (limits.is_flood(one), one.waiting_since_ms))
    ranges: dict[int, list[PendingLabels]] = {}
    for one in waiting:
        ranges.setdefault(_range(one, limits), []).append(one)
    taken: dict[int, int] = dict.fromkeys(ranges, 0)
    batches = []
    position_in_range: dict[int, int] = dict.fromkeys(ranges, 0)
    for one in waiting:
        key = _range(one, limits)
        position = position_in_range[key]
        position_in_range[key] = position + 1
        if position < taken[key]:
            continue
        batch = _fill(ranges[key], position, limits)
        taken[key] = position + len(batch)
        batches.append(batch)
    return batches


def _range(one: PendingLabels, limits: BatchLimits) -> int:
    return len(one.request.words) // limits.like_length_words


def _fill(alike: Sequence[PendingLabels], start: int, limits: BatchLimits) -> list[PendingLabels]:
    batch = [alike[start]]
    longest = len(alike[start].request.words)
    for one in alike[start + 1 : start + limits.max_sessions]:
        longest = max(longest, len(one.request.words))
        if longest * (len(batch) + 1) > limits.max_padded_words:
            break
        batch.append(one)
    return batch
