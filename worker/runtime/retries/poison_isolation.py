"""Step by step, where claims of a partition end without a commit: the one that fails is found and set aside.

An event that makes a transaction fail, or kills the process that labels it, must not stop its partition for ever; nor
must the flush of a session that only fell silent. So a *step* is a record, or the due timers of a session.

1. Three claims without a commit between them: the partition goes on step by step. The tokens tell: every claim raises
   the token above what the last one left with the group, and a committed id carries its own. What a claim or a rebuild
   commits of its own moves nothing, and says so: where state is behind the log again after it, the next claim goes on
   step by step at once (ADR 0064). Records are isolated up to where the log ended then, timers until so many of them
   went well as the owners before can have fired.
2. In isolation, a step is announced by a commit of its own ("about to try", for the n-th time, in the offset's
   metadata), and only then done and committed, alone. Timers come before the record that makes them due, in the order
   (due, session), so whoever claims the partition next knows which step was meant.
3. Each time that went well, twice as many steps are announced by their first one and tried together: a claim fails
   for the brokers' or Redis's sake far more often than for a step's, and must not cost two commits a step. The next
   claim begins with one again, so the one that fails is found alone in the end.
4. A step that was tried three times and never committed is tried without the engine: its words go out unlabelled,
   cause ``fallback``. A record that fails that, too, goes to the dead letters as reason and digest; timers that fail it
   three times park the partition, because their words were taken in already and cannot be dropped. That the
   announcements committed shows that it is the step, not the brokers or Redis.
5. A step that was tried before is tried by one partition of a worker at a time (``assignment``): what
   kills the process, or aborts a transaction, would be counted against all of them.

6. What is announced and not begun when its worker stops, or when its partition goes to another member, was no try: the
   worker's last checkpoint says so, or a commit of its own before it lets the partition go.

The metadata tells of which kind the step was: where ``isolated_until_offset`` is beyond the offset, of a record.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Self

from caesura.schemas.checkpoint import OffsetMetadata

__all__ = [
    "MAX_CLAIMS_WITHOUT_COMMIT",
    "PoisonIsolation",
    "RetryHistory",
    "StepDecision",
    "claims_without_commit",
    "moved_nothing",
]

MAX_CLAIMS_WITHOUT_COMMIT = 3
_MAX_LABELLED_TRIES = 3
_MAX_TIMER_TRIES = 6
_MAX_TIMERS_TOGETHER = 1024


class StepDecision(Enum):
    """What to do with a record that was read, or with timers that are due."""

    APPLY = auto()
    APPLY_UNLABELLED = auto()
    READ_AGAIN = auto()
    GIVE_UP = auto()


def claims_without_commit(token: int, committed: OffsetMetadata | None) -> int:
    """Return how many claims there were since the last commit, the one that has ``token`` among them."""
    return token - (committed.id.token if committed is not None else 0)


def moved_nothing(committed: OffsetMetadata | None, next_offset: int) -> bool:
    """Tell whether the last commit, of ``next_offset``, may only have saved what a claim or rebuild had made."""
    return committed is not None and committed.isolated_until_offset >= next_offset


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryHistory:
    """What a claim found: records below ``until_offset`` go one by one; ``of_timers``, so do timers.

    record_tries, timer_tries: how often the step that is next has been tried; of one kind at most, the other is 0.
    """

    until_offset: int = 0
    of_timers: bool = False
    record_tries: int = 0
    timer_tries: int = 0

    @classmethod
    def noted(cls, committed: OffsetMetadata | None, next_offset: int) -> Self:
        """Return what the metadata says that was committed with ``next_offset``."""
        if committed is None:
            return cls()
        of_record = committed.isolated_until_offset > next_offset
        return cls(
            until_offset=committed.isolated_until_offset,
            of_timers=of_record or committed.tries > 0,
            record_tries=committed.tries if of_record else 0,
            timer_tries=0 if of_record else committed.tries,
        )

    def without_the_last(self) -> Self:
        """Return the same where the last try counts for nothing."""
        return replace(self, record_tries=max(0, self.record_tries - 1), timer_tries=max(0, self.timer_tries - 1))


@dataclass(slots=True)
class _Trial:
    """Steps of one kind. tries: of the next one, so far. together: how many an announcement is good for."""

    tries: int = 0
    together: int = 1
    announced: bool = False

    def announce(self) -> None:
        self.tries += 1
        self.announced = True

    def withdraw(self) -> bool:
        """Take an announcement back whose step was not begun; False where there is none."""
        if not self.announced or not self.tries:
            return False
        self.tries -= 1
        self.announced = False
        return True

    def begin(self) -> StepDecision:
        tries, self.tries = self.tries, 0
        return StepDecision.APPLY if tries <= _MAX_LABELLED_TRIES else StepDecision.APPLY_UNLABELLED

    def went_well(self) -> None:
        self.announced = False
        self.together *= 2


class PoisonIsolation:
    """How one loaded partition goes on. suspects: the step that is next has been tried before, and did not commit."""

    def __init__(self, history: RetryHistory) -> None:
        self._until_offset = history.until_offset
        self._of_timers = history.of_timers
        self._records = _Trial(tries=history.record_tries)
        self._timers = _Trial(tries=history.timer_tries)
        self._trying: _Trial | None = None
        self._busy = False
        self._read_again = False
        self._left = 0
        self.suspects = history.record_tries > 0 or history.timer_tries > 0
        self.owes_checkpoint = False

    @property
    def busy(self) -> bool:
        """Tell whether a checkpoint is due before any step but those announced is done."""
        return self._busy

    @property
    def of_timers(self) -> bool:
        """Tell whether timers may fire only as ``decide_timers`` says."""
        return self._of_timers

    @property
    def max_timers(self) -> int:
        """How many sessions' timers may fire where the advice is to apply."""
        return self._timers.together

    @property
    def stopped(self) -> bool:
        """Tell whether no record at all may be applied before the next checkpoint."""
        return self._busy and (self._read_again or not self._left)

    @property
    def reads_again(self) -> bool:
        """Tell whether records were put off, which lie before whatever end is told meanwhile."""
        return self._read_again

    def noted(self, next_offset: int) -> tuple[int, int]:
        """Return what a commit of ``next_offset`` says: until where records are isolated, tries of the next step."""
        if self._timers.tries and (self._timers.announced or not self._records.announced):
            return min(self._until_offset, next_offset), self._timers.tries
        return self._until_offset, self._records.tries

    def decide(self, offset: int) -> StepDecision:
        """Say what to do with the record at ``offset``; at most those announced are applied before a checkpoint."""
        isolated = offset < self._until_offset
        if self._busy:
            if self.stopped or not isolated:
                return self.put_off()
            self._left -= 1
            return StepDecision.APPLY
        if not isolated:
            return StepDecision.APPLY
        if self._records.announced:
            self._left = self._records.together - 1
            return self._try(self._records)
        if self._records.tries > _MAX_LABELLED_TRIES:
            self._records.tries = 0
            self._busy = True
            self.suspects = False
            return StepDecision.GIVE_UP
        self._announce(self._records)
        return self.put_off()

    def decide_timers(self) -> StepDecision:
        """Say what to do with timers that are due. READ_AGAIN: nothing before a checkpoint. GIVE_UP: park."""
        if self._busy:
            return StepDecision.READ_AGAIN
        if self._timers.announced:
            return self._try(self._timers)
        if self._timers.tries >= _MAX_TIMER_TRIES:
            return StepDecision.GIVE_UP
        self._announce(self._timers)
        return StepDecision.READ_AGAIN

    def forgive(self) -> None:
        """Forget how often timers were tried: an operator says that what made them fail is fixed."""
        self._timers.tries = 0

    def withdraw(self, next_offset: int) -> bool:
        """Count no try of what is announced and not begun: the next commit, of ``next_offset``, says so.

        Returns whether there was such a thing.
        """
        of_records, of_timers = self._records.withdraw(), self._timers.withdraw()
        if of_timers:  # with no try of theirs, a record to be isolated says that timers are, too
            self._until_offset = max(self._until_offset, next_offset + 1)
        self.owes_checkpoint = self.owes_checkpoint or of_records or of_timers
        return of_records or of_timers

    def put_off(self) -> StepDecision:
        """Leave a record, and whatever comes after it, to be read again after the next checkpoint."""
        self._read_again = True
        return StepDecision.READ_AGAIN

    def committed(self) -> bool:
        """Take note of a checkpoint. Returns whether records were put off: reading goes on from its offset."""
        read_again, self._read_again = self._read_again, False
        self._busy = self.owes_checkpoint = False
        self._left = 0
        if self._trying is not None:
            self._trying.went_well()
            self._trying = None
            self.suspects = False
            self._of_timers = self._of_timers and self._timers.together <= _MAX_TIMERS_TOGETHER
        return read_again

    def _announce(self, trial: _Trial) -> None:
        trial.announce()
        self._busy = self.owes_checkpoint = True

    def _try(self, trial: _Trial) -> StepDecision:
        self._trying = trial
        self._busy = True
        return trial.begin()
