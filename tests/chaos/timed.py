"""Chaos with timers that fire: silence freezes what is there, sessions are closed and forgotten, while faults go on.

When a timer fires is in the log's own time stamps, but labels depend on where a buffer was flushed. So nothing is
compared with an undisturbed run; what was said is the measure (``tests.chaos.oracle``), and it knows which pauses were
silences.
"""

from __future__ import annotations

from tests.chaos.oracle import Timers

TIMED_RULES = {"flush_after_ms": 300, "stall_after_ms": 2_000, "idle_after_ms": 10_000, "forget_after_ms": 20_000}
"""A session of the load pauses for half a second between its events, so most of them are flushed again and again."""

TIMERS = Timers(flush_after_ms=300, least_flush_ms=200, most_flush_ms=10_000, forget_after_ms=20_000)
"""The same to the oracle, and the bounds of what a session may choose."""
