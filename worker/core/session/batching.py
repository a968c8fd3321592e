"""Decides which sessions are labelled together. An engine works best on many, but every session waits for its batch.

Rules:

1. A batch has one step of each session, because what follows a step depends on its labels.
2. The sessions that have waited longest are in the next batch. Sessions that flood come after all others.
3. A batch has a greatest number of sessions and of words in their buffers, because an engine may have to compute all.
4. The cost of forming a batch depends on its size, not on how many sessions wait.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from caesura.worker.core.language.labelling import LabelRequest

FLOOD_WORDS = 300
"""A session floods with more words than this behind its running step: two minutes of speech at 2.5 words a second.

Whoever speaks is never so far ahead of a worker that keeps up; a backlog or a file that is sent at once is.
"""

_SLACK = 64


class PendingLabels(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A session that wants labels. waiting_since_ms: wall clock. queued_words: those that wait after this step."""

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


class LabelQueue:
    """The label requests of one partition's sessions.

    unsure: sessions whose request is not known, because more was queued or labels came. An interrupted call leaves its
    session there. Iterating yields all requests.
    """

    def __init__(self) -> None:
        self.unsure: dict[str, None] = {}
        self._wanted: dict[str, PendingLabels] = {}
        self._order: list[tuple[bool, int, int, PendingLabels]] = []
        self._puts = 0
        self._moved: set[str] = set()
        self._flooding: set[str] = set()

    def __bool__(self) -> bool:
        """Tell whether anything is wanted."""
        return bool(self._wanted)

    def __iter__(self) -> Iterator[PendingLabels]:
        """Yield all that is wanted, in no order."""
        return iter(list(self._wanted.values()))

    def put(self, one: PendingLabels) -> None:
        """Replace a session's request."""
        session = one.request.session
        self._wanted[session] = one
        self._puts += 1
        heapq.heappush(self._order, (one.is_flood, one.waiting_since_ms, self._puts, one))
        if len(self._order) > 4 * len(self._wanted) + _SLACK:
            self._order = sorted(entry for entry in self._order if self._stands(entry[-1]))
        self._moved.add(session)
        self.unsure.pop(session, None)

    def drop(self, session: str) -> None:
        """Note that a session wants nothing."""
        self._wanted.pop(session, None)
        self._moved.add(session)
        self.unsure.pop(session, None)

    def ask(self, session: str) -> None:
        """Note that a session's request is not known any more."""
        self.unsure[session] = None
        self._wanted.pop(session, None)

    @property
    def rank(self) -> tuple[bool, int] | None:
        """Return the rank of the first request, smallest first; None without a request."""
        while self._order and not self._stands(self._order[0][-1]):
            heapq.heappop(self._order)
        return self._order[0][:2] if self._order else None

    @property
    def first(self) -> PendingLabels:
        """Return the session to label first; ``rank`` must not be None."""
        return self._order[0][-1]

    def begun_floods(self) -> dict[str, int]:
        """Return the sessions that have begun to flood since the last call, and how many of their words wait."""
        begun: dict[str, int] = {}
        for session in self._moved:
            one = self._wanted.get(session)
            if one is None or not one.is_flood:
                self._flooding.discard(session)
            elif session not in self._flooding:
                self._flooding.add(session)
                begun[session] = one.queued_words
        self._moved.clear()
        return begun

    def _stands(self, one: PendingLabels) -> bool:
        return self._wanted.get(one.request.session) is one


def next_batch(queues: Sequence[LabelQueue], limits: BatchLimits) -> list[PendingLabels]:
    """Return the sessions to label next, and mark their requests as unknown. There must be a request."""
    heads = [(rank, place) for place, queue in enumerate(queues) if (rank := queue.rank) is not None]
    heapq.heapify(heads)
    batch: list[PendingLabels] = []
    words = 0
    while heads and len(batch) < limits.max_sessions:
        queue = queues[heads[0][1]]
        one = queue.first
        words += len(one.request.words)
        if batch and words > limits.max_words:
            break
        batch.append(one)
        queue.ask(one.request.session)
        if (rank := queue.rank) is None:
            heapq.heappop(heads)
        else:
            heapq.heapreplace(heads, (rank, heads[0][1]))
    return batch
