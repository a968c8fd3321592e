"""Shares reading among clients: a round of the event loop reads a fixed amount, however many clients send.

The client that has used least processor time lately is next, so a new client does not wait behind a flood. Short rounds
keep signals, health checks and stops quick.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable

PIECE_BYTES = 1024
"""So much is read in one turn: at most 4 ms of the smallest frames."""

_ROUND_S = 0.005
_ROUND_TURNS = 8
"""Each may start a task for a request, which costs about as much as reading it."""

_FORGIVEN_SHARE = 0.1
"""What was used is forgotten at this share of a processor."""


def next_piece(unread: bytearray) -> bytes:
    """Take what is read in one turn of what has come."""
    piece = bytes(unread[:PIECE_BYTES])
    del unread[:PIECE_BYTES]
    return piece


class ReadTurn:
    """One connection's place. read: reads a piece; it may ask for the next turn."""

    __slots__ = ("_turns", "_used_at_s", "_used_s", "is_asked", "read")

    def __init__(self, turns: ReadTurns, read: Callable[[], None]) -> None:
        self._turns = turns
        self.read = read
        self.is_asked = False
        self._used_s = self._used_at_s = 0.0

    def ask(self) -> None:
        """Have ``read`` called in a turn that comes; harmless twice."""
        if not self.is_asked:
            self.is_asked = True
            self._turns.add(self)

    def used(self, now_s: float, more_s: float = 0.0) -> float:
        """Return the processor time used lately, more_s added to it."""
        forgiven_s = (now_s - self._used_at_s) * _FORGIVEN_SHARE
        self._used_s = max(0.0, self._used_s - forgiven_s) + more_s
        self._used_at_s = now_s
        return self._used_s


class ReadTurns:
    """The connections of one event loop that have something to be read."""

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, ReadTurn]] = []
        self._numbers = itertools.count()
        self._goes_on = False

    def add(self, turn: ReadTurn) -> None:
        """Take one that asks."""
        heapq.heappush(self._waiting, (turn.used(time.monotonic()), next(self._numbers), turn))
        self._go_on()

    def _go_on(self) -> None:
        if self._waiting and not self._goes_on:
            self._goes_on = True
            asyncio.get_running_loop().call_soon(self._round)

    def _round(self) -> None:
        self._goes_on = False
        began_s = now_s = time.thread_time()
        turns = 0
        try:
            while self._waiting and turns < _ROUND_TURNS and now_s - began_s < _ROUND_S:
                turn = heapq.heappop(self._waiting)[-1]
                turn.is_asked = False
                turns += 1
                turn.read()
                before_s, now_s = now_s, time.thread_time()
                turn.used(time.monotonic(), now_s - before_s)
        finally:
            self._go_on()
