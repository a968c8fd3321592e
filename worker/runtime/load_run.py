"""From a claim's snapshots to a loaded partition, in pieces: sessions that are open are made, closed ones rest."""

from __future__ import annotations

from collections.abc import Callable

from schemas.state import SessionState, decode_state
from worker.core.partition import PartitionSessions
from worker.runtime.claimed_state import ClaimedState
from worker.runtime.found_sessions import PIECE_SESSIONS
from worker.runtime.loaded_partition import LoadedPartition
from worker.runtime.rebuild_run import RebuildRun

__all__ = ["LoadRun"]


class LoadRun:
    """``advance`` until it answers something other than None. rebuild: what to do where a snapshot cannot be read."""

    def __init__(
        self,
        claimed: ClaimedState,
        sessions: PartitionSessions,
        *,
        finish: Callable[[PartitionSessions], LoadedPartition],
        rebuild: Callable[[ClaimedState], RebuildRun],
    ) -> None:
        self._claimed = claimed
        self._sessions = sessions
        self._left = iter(claimed.slots.items())
        self._finish = finish
        self._rebuild = rebuild

    def advance(self) -> LoadedPartition | RebuildRun | None:
        """Make so many sessions; None: there are more."""
        try:
            for _ in range(PIECE_SESSIONS):
                found = next(self._left, None)
                if found is None:
                    return self._finish(self._sessions)
                name, slot = found
                assert slot.state is not None, "a claim leaves tombstones out"
                self._sessions.restore(_state_of(name, slot.state), slot.state)
        except ValueError:
            return self._rebuild(self._claimed.without_store())
        return None


def _state_of(name: str, stored: bytes) -> SessionState:
    """Read a session's snapshot; ValueError where it is none, or another session's."""
    state = decode_state(stored)
    if state.session != name:
        raise ValueError("a snapshot under another session's name")
    return state
