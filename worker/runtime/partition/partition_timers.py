"""The timers of one partition's sessions: what is due, how much of it fires at once, and what the leader is asked."""

from __future__ import annotations

from caesura.worker.ports.clock import Clock
from caesura.worker.ports.records import EndAnswer
from caesura.worker.runtime.ledger.leader_question import LeaderQuestion
from caesura.worker.runtime.partition.partition_state import PartitionState
from caesura.worker.runtime.settings.settings import RuntimeSettings


class PartitionTimers:
    """Fires timers in the order (due, session).

    crowded: a record made more timers due than a turn may fire, so it is put off and read again once they have fired.
    """

    def __init__(self, state: PartitionState, clock: Clock, settings: RuntimeSettings) -> None:
        self._state = state
        self._question = LeaderQuestion(state.time, clock, settings)
        self.crowded = False

    def fire(self, most: int) -> int:
        """Fire what is due by the partition's time, of ``most`` sessions at most; return how many had a timer fire."""
        state, time_ms = self._state, self._state.time.now_ms
        if state.parked is not None or not state.sessions.is_due(time_ms):
            return 0
        return state.sessions.tick(time_ms, most=most)

    def fire_before(self, time_ms: int, most: int) -> int:
        """Fire what is due before a record that is applied at ``time_ms``; ``crowded`` where something is left."""
        fired = self._state.sessions.tick(time_ms, most=most)
        self.crowded = fired >= most and self._state.sessions.is_due(time_ms)
        return fired

    def committed(self) -> bool:
        """Take note of a checkpoint; True where a crowd is gone, and the record that met it is to be read again."""
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
