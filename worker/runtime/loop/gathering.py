"""How long words wait to be labelled together: a pass over one session costs most of what a pass over eight costs.

Nothing that is labelled can be read before its checkpoint has committed, so labels are made just before it (ADR 0041).

Rules:

1. What has come is labelled when a checkpoint is due, when as many records wait as fill a batch or as a turn may take,
   or when the first of them has waited for ``longest_s``: whichever is first.
2. A checkpoint is due so much before its interval's end as the last labelling took, at most half of it: the words that
   waited are not later for it.
3. While some wait, and nothing is behind, a turn begins ``turn_s`` after the last one, so that what came in between is
   read together; or when a checkpoint is due, so that it has all that has come (ADR 0041).
"""

from __future__ import annotations

from dataclasses import dataclass

from caesura.worker.ports.clock import Clock

__all__ = ["Gathering"]


@dataclass(slots=True, kw_only=True)
class Gathering:
    """What waits for its labels, counted in records and fired timers. most_records: how many fill a batch."""

    clock: Clock
    most_records: int
    longest_s: float
    turn_s: float = 0.0
    waiting: int = 0
    _since_s: float = 0.0
    _last_took_s: float = 0.0

    def is_over(self, records: int, *, at_most: int) -> bool:
        """Take note of what has come; tell whether it is to be labelled now. at_most: what a turn may take."""
        now_s = self.clock.monotonic_s()
        if not self.waiting:
            self._since_s = now_s
        self.waiting += records
        is_full = self.waiting >= min(self.most_records, at_most)
        return self.waiting > 0 and (is_full or now_s - self._since_s >= self.longest_s)

    def labelled(self, *, took_s: float) -> None:
        """Take note that nothing waits any more."""
        self.waiting = 0
        self._last_took_s = took_s

    def left_s(self, since_s: float, interval_s: float) -> float:
        """Return how long until labelling must begin, for a checkpoint ``interval_s`` after ``since_s``."""
        lead_s = min(self._last_took_s, interval_s / 2)
        return since_s + interval_s - lead_s - self.clock.monotonic_s()

    def rest_s(self, took_s: float, due_in_s: float) -> float:
        """Return how long to wait before the next turn. took_s: what the last one took. due_in_s: of a checkpoint."""
        return max(0.0, min(self.turn_s - took_s, due_in_s))
