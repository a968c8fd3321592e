"""From what was measured to what to set: replicas, threads, CPU and memory of the chart and of the worker.

Rules:

1. A worker has one core: its loop is one thread, and what a second thread of the engine gains it pays for in processor
   time. Sessions are spread over workers.
2. A worker is given ``SHARE_GIVEN`` of the sessions that fit: the rest is for speech that is not even, and for what
   comes from a worker that stops.
3. One worker more than the sessions need: any of them may stop, and its partitions go to the others.
4. The engine's memory (``worker.engine_memory_mib``) holds the rows of the sessions that a worker is given: where it
   does not, they are dropped and computed anew, at several times the price.
5. The memory asked for holds these sessions; the limit also those of a worker that stopped, their rows but up to the
   bound. All are rounded up to 256 MiB.
6. The CPU limit leaves the clients' threads half a core beside the loop's: below two cores the engine has one thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from caesura.worker.sizing.measuring import Measured

SHARE_GIVEN = 0.7
"""The share of a core, in the sessions that fit there, that a worker is planned to use (docs/capacity.md, ADR 0037)."""

_PARTITIONS_A_WORKER = 3
_STEP_MIB = 256
_MARGIN = 1.25
_MIB = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What to set for ``sessions``. cpu_request, cpu_limit: cores. partitions: of the input, at least."""

    sessions: int
    sessions_a_worker: int
    replicas: int
    partitions: int
    threads: int
    cpu_request: float
    cpu_limit: float
    engine_memory_mib: int
    memory_request_mib: int
    memory_limit_mib: int

    def values(self) -> str:
        """Return the chart's values."""
        requests, limits = (f"{round(cores * 1000)}m" for cores in (self.cpu_request, self.cpu_limit))
        return (
            f"replicas: {self.replicas}\n"
            f"settings: {{worker: {{engine_memory_mib: {self.engine_memory_mib}}}}}\n"
            "resources:\n"
            f"  requests: {{cpu: {requests}, memory: {self.memory_request_mib}Mi}}\n"
            f"  limits: {{cpu: {limits}, memory: {self.memory_limit_mib}Mi}}\n"
        )


def advise(measured: Measured, sessions: int | None) -> Advice:
    """Return what to set for so many live sessions; None: for as many as one worker is given."""
    a_worker = max(1, int(measured.live_sessions * SHARE_GIVEN))
    wanted = a_worker if sessions is None else sessions
    needed = ceil(wanted / a_worker)
    rows = measured.row_bytes / _MIB
    state = max(0.0, measured.session_bytes / _MIB - rows)
    start = measured.start_bytes / _MIB
    given, most = min(a_worker, wanted), 2 * min(a_worker, wanted)
    bound = _rounded(given * rows)
    request = start + given * (state + rows)
    limit = start + most * state + bound
    return Advice(
        sessions=wanted,
        sessions_a_worker=a_worker,
        replicas=needed + 1,
        partitions=_PARTITIONS_A_WORKER * (needed + 1),
        threads=1,
        cpu_request=1.0,
        cpu_limit=1.5,
        engine_memory_mib=bound,
        memory_request_mib=_rounded(request * _MARGIN),
        memory_limit_mib=_rounded(limit * _MARGIN),
    )


def _rounded(mib: float) -> int:
    return ceil(mib / _STEP_MIB) * _STEP_MIB
