"""The question to a partition's leader, by which time goes on where nothing more is read (ADR 0022)."""

from __future__ import annotations

from caesura.worker.core.decoding.timeline import PartitionTime
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.records import EndAnswer
from caesura.worker.runtime.settings.settings import RuntimeSettings

_ASK_AGAIN_S = 0.5
"""After so long a leader is asked again that gave no answer."""


class LeaderQuestion:
    """What one partition's leader is asked, at most once a commit interval, and what the answer makes of the time."""

    def __init__(self, time: PartitionTime, clock: Clock, settings: RuntimeSettings) -> None:
        self._time = time
        self._clock = clock
        self._interval_s = settings.commit_interval_ms / 1000.0
        self._replication_ms = settings.replication_ms
        self._lost_after_s = 2 * settings.claim_timeout_s
        self._asked_ms: int | None = None
        self._not_before_s = 0.0

    def ask(self, due_ms: int | None) -> bool:
        """Tell whether the leader is to be asked now, and take it for asked: something is due if nothing more is there.

        An earlier answer, or an end that came with a fetch, does not cover the time since. Nor does an answer cover its
        last ``replication_ms``: a record may already be stamped and not yet be readable.
        """
        now_s = self._clock.monotonic_s()
        if due_ms is None or not self._time.is_at_end or now_s < self._not_before_s:
            return False
        asked_ms = self._time.latest_possible_ms(now_s) - self._replication_ms
        if asked_ms < due_ms:
            return False
        self._asked_ms = asked_ms
        self._not_before_s = now_s + self._lost_after_s  # it may come to nothing
        return True

    def answered(self, answer: EndAnswer, read_to: int) -> None:
        """Take the answer to the last question. What was read meanwhile makes it worthless."""
        asked_ms, self._asked_ms = self._asked_ms, None
        self._not_before_s = self._clock.monotonic_s() + (_ASK_AGAIN_S if answer.failure else self._interval_s)
        if asked_ms is None or answer.next_offset != read_to or not self._time.is_at_end:
            return
        if answer.at_end:
            self._time.confirm(asked_ms)
        elif answer.at_end is not None:
            self._time.left_end()
