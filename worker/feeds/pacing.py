"""Timed events at the speed asked for; time is passed in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from caesura.worker.feeds.timed_events import TimedEvent

_LONGEST_SLEEP_S = 3600.0  # an operating system sleeps for some centuries at most; a time may be later than that


def paced(
    events: Iterable[TimedEvent], *, speed: float, now_s: Callable[[], float], sleep: Callable[[float], None]
) -> Iterator[TimedEvent]:
    """Yield each event when its time has come. speed: 1 is real time, 2 twice as fast, 0 never waits.

    An event that is late goes out at once; the ones after it keep their times, so delays do not add up.
    """
    began_s = now_s()
    for timed in events:
        while speed > 0 and (wait_s := began_s + timed.at_ms / 1000 / speed - now_s()) > 0:
            sleep(min(wait_s, _LONGEST_SLEEP_S))
        yield timed
