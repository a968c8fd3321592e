"""Memory while faults go on: the workers' resident pages and what Redis uses, sampled to a file in a thread."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Collection
from pathlib import Path

import redis
from typing_extensions import override

from caesura.worker.sizing.resident_memory import resident_bytes
from tests.harness.background import BackgroundLoop

_EVERY_S = 5.0


class Samples(BackgroundLoop):
    """pids: the workers that live now. addresses: of Redis, ``host:port``."""

    def __init__(
        self, pids: Callable[[], Collection[int]], addresses: Callable[[], Collection[str]], file: Path | None
    ) -> None:
        super().__init__("samples")
        self._pids = pids
        self._addresses = addresses
        self._file = file
        self._resident_kib: list[int] = []
        self._redis_kib: list[int] = []

    @property
    def growth(self) -> dict[str, float]:
        """Return by how much the last quarter's median lies above the second's, 0.1 for a tenth; empty: too few."""
        found = {"resident": self._resident_kib, "redis": self._redis_kib}
        return {name: round(_growth(values), 3) for name, values in found.items() if len(values) >= 8}

    @override
    def _run(self) -> None:
        began_s = time.monotonic()
        while not self._closing.wait(_EVERY_S):
            resident_kib = max((_resident_kib(pid) for pid in self._pids()), default=0)
            redis_kib = sum(_used_kib(address) for address in self._addresses())
            if resident_kib:
                self._resident_kib.append(resident_kib)
            if redis_kib:
                self._redis_kib.append(redis_kib)
            if self._file is not None:
                with self._file.open("a") as file:
                    file.write(f"{time.monotonic() - began_s:.0f},{resident_kib},{redis_kib}\n")


def _growth(values: list[int]) -> float:
    quarter = len(values) // 4
    return statistics.median(values[-quarter:]) / statistics.median(values[quarter : 2 * quarter]) - 1.0


def _resident_kib(pid: int) -> int:
    with contextlib.suppress(OSError):  # it may be gone by now
        return resident_bytes(pid) // 1024
    return 0


def _used_kib(address: str) -> int:
    host, _, port = address.rpartition(":")
    with contextlib.suppress(redis.RedisError), redis.Redis(host=host, port=int(port), socket_timeout=1.0) as client:
        return int(client.info("memory")["used_memory"]) // 1024
    return 0
