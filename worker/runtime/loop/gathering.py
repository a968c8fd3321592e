"""Decides how long words wait to be labelled together: a pass over eight sessions costs little more than one over one.

Labels cannot be read before their checkpoint has committed, so they are computed just before it (ADR 0041).

Rules:

1. Label when the first of these happens: a checkpoint is due; a batch is full, or as many records wait as a turn may
   take; the first record has waited for ``longest_s``; the pause (rule 3) is over.
2. Start labelling before the checkpoint's time by as long as the last labelling took, at most half the interval. So
   labelling does not delay the words that waited.
3. After a labelling or a checkpoint, pause for four times as long as the last checkpoint took with its labels. So a
   worker with little to do answers at once, and a busy one gathers. If a checkpoint did not commit, the pause lasts
   until one does: retries come no faster than the interval.
4. If records wait and the worker keeps up, begin a turn ``turn_s`` after the last one, or when a checkpoint is due. The
   turn reads all that has come in between (ADR 0041).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from caesura.worker.ports.clock import Clock

_PAUSE_OF_A_CHECKPOINT = 4.0


@dataclass(slots=True, kw_only=True)
class Gathering:
    """The records and fired timers that wait for labels.

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
        """Note new records; tell whether to label now. at_most: what a turn may take."""
        now_s = self.clock.monotonic_s()
        if not self.waiting:
            self._since_s = now_s
        self.waiting += records
        is_full = self.waiting >= min(self.most_records, at_most)
        is_late = now_s - self._since_s >= self.longest_s or self.pause_left_s <= 0
        return self.waiting > 0 and (is_full or is_late)

    def labelled(self, *, took_s: float) -> None:
        """Note that nothing waits any more."""
        self.waiting = 0
        self._last_took_s = took_s
        self._pause()

    def checkpointed(self, *, took_s: float, committed: bool) -> None:
        """Note a checkpoint: how long it took with its labels, and whether it committed."""
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
