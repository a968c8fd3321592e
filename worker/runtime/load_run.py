"""From a claim's snapshots to a loaded partition, in pieces: sessions that are open are made, closed ones rest."""

from __future__ import annotations

from collections.abc import Callable

from schemas.ledger_sum import LedgerSum
from schemas.state import SessionState, decode_state
from worker.core.partition import PartitionSessions
from worker.runtime.claimed_state import ClaimedState
from worker.runtime.found_sessions import PIECE_SESSIONS
from worker.runtime.loaded_partition import LoadedPartition
from worker.runtime.rebuild_run import RebuildRun

__all__ = ["LoadRun"]


class LoadRun:
    """``advance`` until it answers something other than None. rebuild: what to do where a snapshot cannot be read.

    finish: is given the session that was spoken to last, too; None where there is none.
    counts: what the ledger must say is to be made of the snapshots, since the committed offset does not say it.
    """

    def __init__(
        self,
        claimed: ClaimedState,
        sessions: PartitionSessions,
        *,
        counts: bool,
        finish: Callable[[PartitionSessions, LedgerSum | None, SessionState | None], LoadedPartition],
        rebuild: Callable[[ClaimedState], RebuildRun],
    ) -> None:
        self._claimed = claimed
        self._sessions = sessions
        self._left = iter(claimed.slots.items())
        self._counts = counts
        self._ledger = LedgerSum() if counts else claimed.ledger
        self._last: SessionState | None = None
        self._finish = finish
        self._rebuild = rebuild

    def advance(self) -> LoadedPartition | RebuildRun | None:
        """Make so many sessions; None: there are more."""
        try:
            for _ in range(PIECE_SESSIONS):
                found = next(self._left, None)
                if found is None:
                    return self._finish(self._sessions, self._ledger, self._last)
                name, slot = found
                assert slot.state is not None, "a claim leaves tombstones out"
                state = _state_of(name, slot.state)
                self._sessions.restore(state, slot.state)
                if self._last is None or state.last_offset > self._last.last_offset:
                    self._last = state
                if self._counts and self._ledger is not None:
                    self._ledger = self._ledger.plus(state)
        except ValueError:
            return self._rebuild(self._claimed.without_store())
        return None


def _state_of(name: str, stored: bytes) -> SessionState:
    """Read a session's snapshot; ValueError where it is none, or another session's."""
    state = decode_state(stored)
    if state.session != name:
        raise ValueError("a snapshot under another session's name")
    return state
