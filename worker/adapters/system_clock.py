"""The machine's clocks."""

from __future__ import annotations

import time

from typing_extensions import override

from caesura.worker.ports.clock import Clock


class SystemClock(Clock):
    """Wall and monotonic time of this machine."""

    @override
    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000

    @override
    def monotonic_s(self) -> float:
        return time.monotonic()

    @override
    def sleep_s(self, seconds: float) -> None:
        time.sleep(seconds)
