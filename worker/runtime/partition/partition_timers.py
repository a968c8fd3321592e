"""The timers of one partition's sessions: which are due, how many fire at once, and when to ask the leader.

If no more records come, the leader's answer lets time go on (ADR 0022).
"""

from __future__ import annotations

from caesura.worker.core.decoding.timeline import PartitionTime
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.records import EndAnswer
from caesura.worker.runtime.partition.partition_state import PartitionState
from caesura.worker.runtime.settings.settings import RuntimeSettings

_ASK_AGAIN_S = 0.5
"""After so long a leader is asked again that gave no answer."""


class LeaderQuestion:
    """The question to one partition's leader, at most once a commit interval, and its effect on time."""

    def __init__(self, time: PartitionTime, clock: Clock, settings: RuntimeSettings) -> None:
        self._time = time
        self._clock = clock
        self._interval_s = settings.commit_interval_ms / 1000.0
        self._replication_ms = settings.replication_ms
        self._lost_after_s = 2 * settings.claim_timeout_s
        self._asked_ms: int | None = None
        self._not_before_s = 0.0

    def ask(self, due_ms: int | None) -> bool:
        """Tell whether to ask the leader now, and note it as asked: a timer is due if the log has no more records.

        An earlier answer, or an end that came with a fetch, does not cover the time since. An answer does not cover its
        last ``replication_ms``, because a stamped record may not be readable yet.
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


class PartitionTimers:
    """Fires timers in the order (due, session).

    crowded: a record made more timers due than a turn may fire, so it is put off and read again once they have fired.
    """

    def __init__(self, state: PartitionState, clock: Clock, settings: RuntimeSettings) -> None:
        self._state = state
        self._question = LeaderQuestion(state.time, clock, settings)
        self.crowded = False

    def fire(self, most: int) -> int:
        """Fire timers that are due by partition time, of ``most`` sessions; return how many had one."""
        state, time_ms = self._state, self._state.time.now_ms
        if state.parked is not None or not state.sessions.is_due(time_ms):
            return 0
        return state.sessions.tick(time_ms, most=most)

    def fire_before(self, time_ms: int, most: int) -> int:
        """Fire timers that are due before a record applied at ``time_ms``; ``crowded`` if some are left."""
        fired = self._state.sessions.tick(time_ms, most=most)
        self.crowded = fired >= most and self._state.sessions.is_due(time_ms)
        return fired

    def committed(self) -> bool:
        """Note a checkpoint; True if a crowd is gone, and the record that met it must be read again."""
        if not self.crowded or self._state.sessions.is_due(self._state.time.now_ms):
            return False
        self.crowded = False
        return True

    def question(self) -> int | None:
        """Return after which offset the leader is to be asked for the end now; None: there is nothing to be asked."""
        asks = self._state.parked is None and self._question.ask(self._state.sessions.next_due_ms)
        return self._state.position.read_to if asks else None

    def answered(self, answer: EndAnswer) -> None:
        """Take the leader's answer to the last question."""
        self._question.answered(answer, self._state.position.read_to)
