"""How long words wait to be labelled together: a pass over one session costs most of what a pass over eight costs.

Nothing that is labelled can be read before its checkpoint has committed, so labels are made just before it (ADR 0041).

Rules:

1. What has come is labelled when a checkpoint is due, when as many records wait as fill a batch or as a turn may take,
   when the first of them has waited for ``longest_s``, or when the pause is over: whichever is first.
2. A checkpoint is due so much before its interval's end as the last labelling took, at most half of it: the words that
   waited are not later for it.
3. The pause: after a labelling or a checkpoint nothing is labelled for four times as long as the last checkpoint took,
   with its labels. So a worker with little to do answers at once, and one with much gathers. After a checkpoint that
   did not commit the pause has no end until one does: tries come no faster than the interval.
4. While some wait, and nothing is behind, a turn begins ``turn_s`` after the last one, so that what came in between is
   read together; or when a checkpoint is due, so that it has all that has come (ADR 0041).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from caesura.worker.ports.clock import Clock

_PAUSE_OF_A_CHECKPOINT = 4.0


@dataclass(slots=True, kw_only=True)
class Gathering:
    """What waits for its labels, counted in records and fired timers.

    most_records: how many fill a batch. least_pause_s: the shortest pause.
    """

    clock: Clock
    most_records: int
    longest_s: float
    turn_s: float = 0.0
    least_pause_s: float = math.inf
    waiting: int = 0
    _since_s: float = 0.0
    _last_took_s: float = 0.0
    _pause_s: float = field(init=False)
    _paused_until_s: float = -math.inf

    def __post_init__(self) -> None:
        self._pause_s = self.least_pause_s
        self._pause()

    @property
    def pause_left_s(self) -> float:
        """How long until the pause is over; 0 or less: it is."""
        return self._paused_until_s - self.clock.monotonic_s()

    def is_over(self, records: int, *, at_most: int) -> bool:
        """Take note of what has come; tell whether it is to be labelled now. at_most: what a turn may take."""
        now_s = self.clock.monotonic_s()
        if not self.waiting:
            self._since_s = now_s
        self.waiting += records
        is_full = self.waiting >= min(self.most_records, at_most)
        is_late = now_s - self._since_s >= self.longest_s or self.pause_left_s <= 0
        return self.waiting > 0 and (is_full or is_late)

    def labelled(self, *, took_s: float) -> None:
        """Take note that nothing waits any more."""
        self.waiting = 0
        self._last_took_s = took_s
        self._pause()

    def checkpointed(self, *, took_s: float, committed: bool) -> None:
        """Take note that a checkpoint was taken, how long that took with its labels, and whether it committed."""
        self._pause_s = max(self.least_pause_s, _PAUSE_OF_A_CHECKPOINT * took_s) if committed else math.inf
        self._pause()

    def _pause(self) -> None:
        self._paused_until_s = self.clock.monotonic_s() + self._pause_s

    def left_s(self, since_s: float, interval_s: float) -> float:
        """Return how long until labelling must begin, for a checkpoint ``interval_s`` after ``since_s``."""
        lead_s = min(self._last_took_s, interval_s / 2)
        return since_s + interval_s - lead_s - self.clock.monotonic_s()

    def rest_s(self, took_s: float, due_in_s: float) -> float:
        """Return how long to wait before the next turn. took_s: what the last one took. due_in_s: of a checkpoint."""
        return max(0.0, min(self.turn_s - took_s, due_in_s))
