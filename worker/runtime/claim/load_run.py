"""Makes a loaded partition from the snapshots that Redis held, in pieces."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from caesura.schemas.state import SessionState, decode_state
from caesura.worker.core.partition.partition import PartitionSessions
from caesura.worker.runtime.checkpoint.redis_sessions import PIECE_SESSIONS
from caesura.worker.runtime.claim.rebuild import Rebuild
from caesura.worker.runtime.partition.claim_result import ClaimResult
from caesura.worker.runtime.partition.loaded_partition import LoadedPartition
from caesura.worker.runtime.settings.totals import SessionTotals


class LoadRun:
    """Makes sessions from a partition's snapshots: open ones fully, closed ones dormant. ``advance`` as ``Rebuild``'s.

    rebuild: what to do if a snapshot cannot be read. finish: also gets the session that had the last event, or None.
    """

    def __init__(
        self,
        claimed: ClaimResult,
        sessions: PartitionSessions,
        *,
        finish: Callable[[PartitionSessions, SessionTotals, SessionState | None], LoadedPartition],
        rebuild: Callable[[ClaimResult], Rebuild],
    ) -> None:
        self._claimed = claimed
        self._sessions = sessions
        self._left = iter(claimed.snapshots.items())
        self._totals = SessionTotals()
        self._last: SessionState | None = None
        self._finish = finish
        self._rebuild = rebuild

    def advance(self) -> LoadedPartition | Rebuild | None:
        """Make the next sessions; None: there are more."""
        piece = dict(islice(self._left, PIECE_SESSIONS))
        try:
            for name, stored in piece.items():
                state = _state_of(name, stored)
                self._sessions.restore(state, stored)
                if self._last is None or state.output.last_offset > self._last.output.last_offset:
                    self._last = state
        except ValueError:
            return self._rebuild(self._claimed.without_store())
        self._totals.change(self._totals.shares(piece, ()))
        return None if piece else self._finish(self._sessions, self._totals, self._last)


def _state_of(name: str, stored: bytes) -> SessionState:
    """Read a session's snapshot; ValueError if it is not one, or is another session's."""
    state = decode_state(stored)
    if state.session != name:
        raise ValueError("a snapshot under another session's name")
    return state
