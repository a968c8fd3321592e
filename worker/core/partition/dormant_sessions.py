"""Closed sessions: of each only its stored snapshot, as bytes, and the time when it is forgotten.

A partition may remember a hundred times as many closed sessions as it has open ones. When a session gets an event or is
forgotten, it is read from its bytes, as a claim would read it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from caesura.schemas.state import SessionState, SessionStatus, decode_state
from caesura.worker.core.decoding.admission import forgotten_at_ms
from caesura.worker.core.language.rules import DecodingRules


def can_rest(state: SessionState) -> bool:
    """Tell whether a session is closed, has no words waiting, and nothing that a rebuild would have to read again."""
    closed = state.admission.status in (SessionStatus.CLOSED, SessionStatus.ENDED)
    return closed and not state.buffer and not state.held.units and state.decoding.unrecorded_offset is None


class DormantSessions:
    """By name: when it is forgotten, whether it has ended for good, its snapshot."""

    def __init__(self, rules: DecodingRules) -> None:
        self._rules = rules
        self._resting: dict[str, tuple[int, bool, bytes]] = {}
        self._ended = 0

    def __len__(self) -> int:
        """Count the sessions."""
        return len(self._resting)

    def __contains__(self, key: str) -> bool:
        """Tell whether a session is at rest."""
        return key in self._resting

    @property
    def names(self) -> Iterable[str]:
        """The sessions' names."""
        return self._resting.keys()

    def statuses(self) -> Counter[SessionStatus]:
        """Count the sessions by status."""
        closed = len(self._resting) - self._ended
        return +Counter({SessionStatus.CLOSED: closed, SessionStatus.ENDED: self._ended})

    def due_ms(self, key: str) -> int | None:
        """Return the partition time at which a session is forgotten; None: it is not at rest."""
        found = self._resting.get(key)
        return None if found is None else found[0]

    def put(self, key: str, state: SessionState, stored: bytes) -> None:
        """Keep a session that can rest by its snapshot, the same as bytes."""
        self.drop(key)
        ended = state.admission.status is SessionStatus.ENDED
        self._resting[key] = (forgotten_at_ms(state.admission.closed_ms, self._rules), ended, stored)
        self._ended += ended

    def stored(self, key: str) -> bytes | None:
        """Return a session's snapshot; None: it is not at rest."""
        found = self._resting.get(key)
        return None if found is None else found[2]

    def take(self, key: str) -> tuple[SessionState, bytes] | None:
        """Take a session out, as its snapshot and the same as bytes; None: it is not at rest."""
        found = self._resting.get(key)
        if found is None:
            return None
        self.drop(key)
        return decode_state(found[2]), found[2]

    def drop(self, key: str) -> None:
        """Forget a session. Harmless where it is not at rest."""
        found = self._resting.pop(key, None)
        if found is not None:
            self._ended -= found[1]
