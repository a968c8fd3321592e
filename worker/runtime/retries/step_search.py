"""Finds the step that a broker refuses or that makes our own code raise, by taking fewer steps a checkpoint.

A step is a record, the due timers of a session, or the output of a rebuild.

1. After refused content, or an exception of ours, the partition is claimed again, and its next checkpoint has half as
   many steps. Each checkpoint that commits doubles the number again.
2. A single step is tried in other ways. A refused dead letter goes without its bytes. A refused segment is split, at
   last into single words. After an exception the step goes without the engine; words of earlier records in the same
   session go first, as a step of their own.
3. If a record still fails, it becomes a dead letter with its bytes. If the refused words are of committed records, or
   the step is not a record, the partition parks.

Only ``ContentRefusedError`` and ``OwnFaultError`` come here, not outages. All this is in memory: a new process starts
without it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from caesura.worker.core.decoding.context import NO_LIMIT, SegmentLimit
from caesura.worker.errors import ContentRefusedError, OwnFaultError
from caesura.worker.ports.reasons import ParkReason
from caesura.worker.ports.records import OutMessage

_MOST_STEPS = 4096
"""A search is over where so many steps commit together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedSteps:
    """The steps of a failed checkpoint. steps: how many. record: input offset of the last record, or None.

    is_rebuilt: one of the steps is a rebuild.
    """

    steps: int
    record: int | None
    is_rebuilt: bool


@dataclass(slots=True, kw_only=True)
class StepSearch:
    """One partition's, over all its claims in this process.

    most_steps: of the next checkpoint. limit: how many words a segment may have. unlabelled: the step goes without the
    engine. bare_letters: dead letters go without bytes. given_up: input offsets of records that become dead letters.
    counted_ms: by input offset, when dead letters of late came that count to the limit, as partition time.
    """

    limit: SegmentLimit = field(default_factory=SegmentLimit)
    most_steps: int = NO_LIMIT
    unlabelled: bool = False
    bare_letters: bool = False
    given_up: set[int] = field(default_factory=set)
    counted_ms: dict[int, int] = field(default_factory=dict)

    def refused(
        self, error: ContentRefusedError, message: OutMessage | None, failed: FailedSteps, *, dead_letter_topic: str
    ) -> ParkReason | None:
        """Note that a broker refused a message; return why the partition parks, None: it is claimed again."""
        if not self._is_alone(failed) or error.in_batch:
            return None
        if error.topic == dead_letter_topic:
            tried, self.bare_letters = self.bare_letters, True
            return _parks(failed) if tried else None
        if message is None:  # it is not known what was refused
            return _parks(failed)
        segment = message.segment
        if segment is not None and len(segment.words) > 1 and self.limit.words > 1:
            self.limit.words = min(self.limit.words, len(segment.words)) // 2  # a limited word may be several
            return None
        accepted = segment is not None and failed.record is not None and segment.source.first_offset < failed.record
        return _parks(failed) if accepted else self._give_up(failed)

    def raised(self, error: OwnFaultError, failed: FailedSteps) -> ParkReason | None:
        """Note that our own code raised; return why the partition parks, None: it is claimed again."""
        if error.record is not None and error.record not in self.given_up:
            self.given_up.add(error.record)
            return None
        if not self._is_alone(failed):
            return None
        if not self.unlabelled:
            self.unlabelled = True
            return None
        return self._give_up(failed)

    def committed(self, next_offset: int) -> None:
        """Note a checkpoint that committed with this next offset."""
        self.unlabelled = self.bare_letters = False
        self.given_up = {offset for offset in self.given_up if offset >= next_offset}
        self.most_steps = _doubled(self.most_steps)
        self.limit.words = _doubled(self.limit.words)

    def _is_alone(self, failed: FailedSteps) -> bool:
        """Tell whether the failed step was alone; if not, halve the steps of the next checkpoint."""
        self.most_steps = max(1, failed.steps // 2)
        return failed.steps <= 1

    def _give_up(self, failed: FailedSteps) -> ParkReason | None:
        if failed.record is None or failed.record in self.given_up:
            return _parks(failed)
        self.given_up.add(failed.record)
        self.limit.words, self.unlabelled = NO_LIMIT, False
        return None


def _doubled(limit: int) -> int:
    """Return twice a limit; no limit if that ends the search."""
    return limit * 2 if limit * 2 <= _MOST_STEPS else NO_LIMIT


def _parks(failed: FailedSteps) -> ParkReason:
    return ParkReason.REBUILD_FAILS if failed.is_rebuilt else ParkReason.FLUSH_FAILS
