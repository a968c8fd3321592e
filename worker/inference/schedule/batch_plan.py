"""What a pass computes, over all its sessions: the steps that ``row_schedule`` plans, as arrays.

By ``schedule_kernels`` if it was compiled: the same numbers, in 1 to 2 microseconds a buffer instead of 30 in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from caesura.worker.inference.attention.attention import VisibleRange
from caesura.worker.inference.native import is_compiled
from caesura.worker.inference.schedule.row_schedule import Step, plan

if is_compiled("schedule_kernels"):
    from caesura.worker.inference.native import schedule_kernels

    COMPILED = True
else:
    COMPILED = False

__all__ = ["COMPILED", "BatchPlan", "StepRequest", "plan_batch"]

_MOST_COMPILED_LAYERS, _MOST_COMPILED_WORDS = 64, 2**18
"""Of a network, and that a layer of it looks ahead or back."""

_Numbers = NDArray[np.int32]


class StepRequest(NamedTuple):
    """A buffer, and the words whose labels are wanted: the arguments of ``row_schedule.plan``."""

    ends: list[int]
    word_of: list[int]
    done_words: int | None
    first: int
    end: int


class BatchPlan(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The step of each of S sessions through K layers.

    places (K, S, 2): the first row and the one behind the last that a layer takes in. spans (K, S, 4): how many rows
    are new to the layer, how many it asks, and from where up to where they wait on, of those that have waited before
    the layer and the new ones behind them. entering (N,): the rows that enter. picks (P,): which of those before the
    last layer are wanted. needed, waiting_rows: see ``row_schedule.Step`` and ``KVCache``. visible_ranges: what
    the rows that a layer asks see; layers that see alike have the same one. layer_rows: words computed, a layer each.
    """

    places: _Numbers
    spans: _Numbers
    entering: _Numbers
    picks: _Numbers
    needed: list[int]
    waiting_rows: list[int]
    visible_ranges: list[VisibleRange]
    layer_rows: int


def plan_batch(
    look_ahead: tuple[int, ...], look_back: int | None, asked: Sequence[StepRequest], *, compiled: bool
) -> BatchPlan:
    """Plan a step of each buffer. ValueError where a wanted row is gone."""
    fits = len(look_ahead) <= _MOST_COMPILED_LAYERS and max(*look_ahead, look_back or 0) <= _MOST_COMPILED_WORDS
    if compiled and COMPILED and fits:
        return _compiled(look_ahead, look_back, asked)
    return _by_steps(look_ahead, look_back, asked)


def _compiled(look_ahead: tuple[int, ...], look_back: int | None, asked: Sequence[StepRequest]) -> BatchPlan:
    layers, sessions = len(look_ahead), len(asked)
    back = -1 if look_back is None else look_back
    places, spans, entering, picks, left, seen, layer_rows = schedule_kernels.plan(look_ahead, back, list(asked))
    visible_ranges: list[VisibleRange] = []
    for own in seen:
        if own is None:
            visible_ranges.append(visible_ranges[-1])
            continue
        numbers = np.frombuffer(own, np.int32)
        rows = sessions + (len(numbers) - sessions) // 2
        visible_ranges.append(VisibleRange(numbers[:sessions], numbers[sessions:rows], numbers[rows:]))
    needed, waiting_rows = np.frombuffer(left, np.int32).reshape(sessions, 2).T.tolist()
    return BatchPlan(
        places=np.frombuffer(places, np.int32).reshape(layers, sessions, 2),
        spans=np.frombuffer(spans, np.int32).reshape(layers, sessions, 4),
        entering=np.frombuffer(entering, np.int32),
        picks=np.frombuffer(picks, np.int32),
        needed=needed,
        waiting_rows=waiting_rows,
        visible_ranges=visible_ranges,
        layer_rows=layer_rows,
    )


def _by_steps(look_ahead: tuple[int, ...], look_back: int | None, asked: Sequence[StepRequest]) -> BatchPlan:
    steps: list[Step] = []
    for ends, word_of, done_words, first, end in asked:
        step = plan(look_ahead, ends, word_of, done_words=done_words, first=first, end=end, look_back=look_back)
        if step is None:
            raise ValueError("a row is wanted that is gone")
        steps.append(step)
    places, spans = _places_and_spans(steps)
    visible_ranges: list[VisibleRange] = []
    for k in range(1, len(look_ahead) + 1):
        alike = all(step.sees_as_before[k] for step in steps)
        own = (
            visible_ranges[-1]
            if alike
            else VisibleRange.of([step.visible[k] for step in steps], [step.since[k] for step in steps])
        )
        visible_ranges.append(own)
    entering = chain.from_iterable(range(*step.computed[0]) for step in steps)
    picks = chain.from_iterable([row - step.waited[-1] for row in step.wanted] for step in steps)
    return BatchPlan(
        places=places,
        spans=spans,
        entering=np.fromiter(entering, np.int32),
        picks=np.fromiter(picks, np.int32),
        needed=[step.needed for step in steps],
        waiting_rows=[step.final[0] - step.final[-1] for step in steps],
        visible_ranges=visible_ranges,
        layer_rows=sum(step.layer_rows for step in steps),
    )


def _places_and_spans(steps: Sequence[Step]) -> tuple[_Numbers, _Numbers]:
    layers = len(steps[0].computed)
    numbers = chain.from_iterable(chain(chain(*one.computed), one.final, one.waited) for one in steps)
    told = np.fromiter(numbers, np.int32, len(steps) * (4 * layers + 2)).reshape(len(steps), -1)
    places = told[:, : 2 * layers].reshape(len(steps), layers, 2).transpose(1, 0, 2)
    final, waited = told[:, 2 * layers : 3 * layers + 1].T, told[:, 3 * layers + 1 :].T
    spans = np.empty((layers, len(steps), 4), dtype=np.int32)
    first = waited[1:]  # the first row that has waited before each layer
    spans[:, :, 0] = places[:, :, 1] - places[:, :, 0]
    spans[:-1, :, 1] = places[1:, :, 1] - first[:-1]
    spans[-1, :, 1] = [len(one.wanted) for one in steps]
    spans[:, :, 2] = final[1:] - first
    spans[:, :, 3] = final[:-1] - first
    return places, spans
