"""Timed events at the speed asked for; time is passed in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from worker.feeds.timed_events import TimedEvent

__all__ = ["paced"]


def paced(
    events: Iterable[TimedEvent], *, speed: float, now_s: Callable[[], float], sleep: Callable[[float], None]
) -> Iterator[TimedEvent]:
    """Yield each event when its time has come. speed: 1 is real time, 2 twice as fast, 0 never waits.

    An event that is late goes out at once; the ones after it keep their times, so delays do not add up.
    """
    began_s = now_s()
    for timed in events:
        if speed > 0:
            wait_s = began_s + timed.at_ms / 1000 / speed - now_s()
            if wait_s > 0:
                sleep(wait_s)
        yield timed
