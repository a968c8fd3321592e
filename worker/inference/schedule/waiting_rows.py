"""Rows that wait: what has come out of one layer goes into the next once words behind it are there (docs/design.md).

They lie before each layer as bytes, a session's inputs and queries of one row after another. A step puts its new rows
behind them, asks the first of all, and has the last wait on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from caesura.worker.inference.kv_cache.aligned_arrays import aligned_rows
from caesura.worker.inference.kv_cache.kv_cache import Rows
from caesura.worker.inference.native import is_compiled
from caesura.worker.inference.schedule.batch_plan import BatchPlan

if is_compiled("waiting_kernels"):
    from caesura.worker.inference.native import waiting_kernels

    COMPILED = True
else:
    COMPILED = False

__all__ = ["COMPILED", "WaitingRows"]

_NUMBER = np.dtype(np.float32)


class WaitingRows:
    """The rows of one pass. plan: of it. kept: of each session, what waits before each layer; it is changed."""

    def __init__(
        self, look_ahead: Sequence[int], plan: BatchPlan, kept: Sequence[list[bytes]], *, compiled: bool
    ) -> None:
        self._plan = plan
        self._asked = plan.spans[:, :, 1].sum(axis=1).tolist()
        self._look_ahead = look_ahead
        self._kept = list(kept)
        self._compiled = compiled and COMPILED

    def join(self, k: int, fresh: Rows) -> Rows:
        """Return inputs and queries (M, 2 D) of the rows that layer k computes, of rows (N, 2 D) that are new to it.

        Those that must wait before it do afterwards.
        """
        spans = self._plan.spans[k]
        picks = self._plan.picks if k == len(self._asked) - 1 else None
        if picks is None and self._look_ahead[k] == 0:  # what the layer takes in it could compute: nothing waits
            return fresh
        query = aligned_rows(self._asked[k], fresh.shape[1])
        if self._compiled:
            waiting_kernels.join(k, self._kept, fresh, spans, picks, query)
            return query
        start = place = 0
        for waiting, (new, asked, first, end) in zip(self._kept, spans.tolist(), strict=True):
            waited = np.frombuffer(waiting[k], dtype=_NUMBER).reshape(-1, fresh.shape[1])
            rows = np.concatenate((waited, fresh[start : start + new]))
            query[place : place + asked] = rows[:asked] if picks is None else rows[picks[place : place + asked]]
            waiting[k] = rows[first:end].tobytes()
            start, place = start + new, place + asked
        return query
