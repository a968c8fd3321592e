"""Rows that wait: what has come out of one layer goes into the next once words behind it are there (docs/design.md).

They lie before each layer as bytes, a session's inputs and queries of one row after another. A step puts its new rows
behind them, asks the first of all, and has the last wait on.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from worker.adapters.onnx.kept_rows import Rows
from worker.adapters.onnx.line_memory import rows_at_a_line
from worker.adapters.onnx.wavefront import Step

try:
    from worker.adapters.onnx.row_waiting import join
except ModuleNotFoundError:  # nothing was compiled at installation; what cannot be loaded is an error
    COMPILED = False
else:
    COMPILED = True

__all__ = ["COMPILED", "WaitingRows"]

_NUMBER = np.dtype(np.float32)


class WaitingRows:
    """The rows of one pass. kept: of each session, what waits before each layer; it is changed."""

    def __init__(
        self, look_ahead: Sequence[int], steps: Sequence[Step], kept: Sequence[list[bytes]], *, compiled: bool
    ) -> None:
        self.places, self._spans = _places_and_spans(steps)
        self._look_ahead = look_ahead
        self._kept = list(kept)
        self._compiled = compiled and COMPILED
        picks = [[row - step.waited[-1] for row in step.wanted] for step in steps]
        self._picks = np.fromiter(chain.from_iterable(picks), np.int32)

    def join(self, k: int, fresh: Rows) -> Rows:
        """Return inputs and queries (M, 2 D) of the rows that layer k computes, of rows (N, 2 D) that are new to it.

        Those that must wait before it do afterwards.
        """
        spans = self._spans[k]
        picks = self._picks if k == len(self._spans) - 1 else None
        if picks is None and self._look_ahead[k] == 0:  # what the layer takes in it could compute: nothing waits
            return fresh
        asking = rows_at_a_line(int(spans[:, 1].sum()), fresh.shape[1])
        if self._compiled:
            join(k, self._kept, fresh, spans, picks, asking)
            return asking
        start = place = 0
        for waiting, (new, asked, first, end) in zip(self._kept, spans.tolist(), strict=True):
            waited = np.frombuffer(waiting[k], dtype=_NUMBER).reshape(-1, fresh.shape[1])
            rows = np.concatenate((waited, fresh[start : start + new]))
            asking[place : place + asked] = rows[:asked] if picks is None else rows[picks[place : place + asked]]
            waiting[k] = rows[first:end].tobytes()
            start, place = start + new, place + asked
        return asking


def _places_and_spans(steps: Sequence[Step]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the first row and the one behind the last that each layer computes (S, K, 2), and each layer's spans.

    spans (K, S, 4): how many rows are new to the layer, how many it asks, and from where up to where they wait on, of
    those that have waited before the layer and the new ones behind them.
    """
    layers = len(steps[0].computed)
    numbers = chain.from_iterable(chain(chain(*one.computed), one.final, one.waited) for one in steps)
    told = np.fromiter(numbers, np.int32, len(steps) * (4 * layers + 2)).reshape(len(steps), -1)
    places = told[:, : 2 * layers].reshape(len(steps), layers, 2)
    final, waited = told[:, 2 * layers : 3 * layers + 1], told[:, 3 * layers + 1 :]
    spans = np.empty((layers, len(steps), 4), dtype=np.int32)
    first = waited[:, 1:]  # the first row that has waited before each layer
    spans[:, :, 0] = (places[:, :, 1] - places[:, :, 0]).T
    spans[:-1, :, 1] = (places[:, 1:, 1] - first[:, :-1]).T
    spans[-1, :, 1] = [len(one.wanted) for one in steps]
    spans[:, :, 2] = (final[:, 1:] - first).T
    spans[:, :, 3] = (final[:, :-1] - first).T
    return places, spans
