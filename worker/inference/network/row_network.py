"""One CT-Transformer run row by row: many sessions' steps in, the scores of the wanted words out.

Between two attentions the rows of all sessions lie packed under one another, so that every product is one product.
Which rows a pass computes says ``batch_plan``; what stays says ``kv_cache``. The graphs are those of ``row_graphs``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

from caesura.worker.inference.attention.attention import RowAttention
from caesura.worker.inference.attention.compiled_attention import CompiledAttention
from caesura.worker.inference.attention.numpy_attention import NumpyAttention
from caesura.worker.inference.kv_cache.kv_cache import KVCache, Rows
from caesura.worker.inference.kv_cache.memory_limit import MemoryLimit
from caesura.worker.inference.network.compiled_kernels import CompiledKernels
from caesura.worker.inference.network.int8_matmul import CompiledEntrance, CompiledExit, CompiledStep, multiplies
from caesura.worker.inference.network.row_graphs import Arrays, cut_into_rows
from caesura.worker.inference.schedule.batch_plan import BatchPlan, StepRequest, plan_batch
from caesura.worker.inference.schedule.waiting_rows import WaitingRows

_POSITIONS_AT_ONCE = 512
_BETWEEN = ["query", "key_value"]


class RowStep(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One session's step: its kept rows, which have read its words, the wanted ones, and the pieces of its new rows."""

    kept: KVCache
    wanted: range
    pieces: list[int]


class RowNetwork:
    """The network. Not thread-safe. layer_rows: words computed so far, a layer each."""

    def __init__(
        self,
        arrays: Arrays,
        look_ahead: Sequence[int],
        look_back: int | None,
        heads: Sequence[str],
        open_graph: Callable[[bytes], Any],
        bound: MemoryLimit,
        *,
        compiled: CompiledKernels,
    ) -> None:
        """Cut stored arrays into graphs and open them. KeyError where an array is missing.

        bound: of the memory for keys and values. compiled: what may be; afterwards ``compiled`` and
        ``int8_matmul`` say whether attention and products are.
        """
        graphs = cut_into_rows(arrays, layers=len(look_ahead), heads=heads)
        self.width, self.attention_heads = graphs.width, graphs.attention_heads
        self.look_ahead, self._look_back = tuple(look_ahead), look_back
        self.layer_rows = 0
        self._heads = list(heads)
        self.int8_matmul = CompiledKernels.PRODUCTS in compiled and multiplies(arrays, len(look_ahead))
        self._entrance: Any
        self._steps: list[Any]
        self._exit: Any
        if self.int8_matmul:
            last = len(look_ahead) - 1
            self._entrance = CompiledEntrance(arrays, graphs.attention_heads, open_graph(graphs.embedding))
            self._steps = [CompiledStep(arrays, k, graphs.attention_heads) for k in range(last)]
            self._exit = CompiledExit(arrays, last, open_graph(graphs.heads))
        else:
            self._entrance = open_graph(graphs.entrance)
            self._steps = [open_graph(graph) for graph in graphs.steps]
            self._exit = open_graph(graphs.exit)
        self._joins_compiled = CompiledKernels.ATTENTION in compiled
        self.compiled = self._joins_compiled and CompiledAttention.knows(graphs.width // graphs.attention_heads)
        self._attention: RowAttention = (
            CompiledAttention(len(look_ahead), graphs.attention_heads, graphs.width // graphs.attention_heads, bound)
            if self.compiled
            else NumpyAttention(open_graph(graphs.weighing), len(look_ahead), graphs.attention_heads, graphs.width)
        )
        self._position_of = _positions(arrays)
        self._positions = self._position_of(0)

    def keep(self) -> KVCache:
        """Return a place for a session's rows."""
        kept = KVCache(len(self.look_ahead), self.width, self._attention.room())
        kept.begin()
        return kept

    def run(self, batch: Sequence[RowStep]) -> list[Rows]:
        """Take one step of each session; return the scores (W, C) a head, W the wanted words of all, in order.

        What is kept is then of the words that were read; where this raises it is of nothing. ArithmeticError where what
        attention mixes is not finite: an int8 product would make it a number again.
        """
        try:
            return self._run(batch)
        finally:
            self._attention.begin(())  # it holds no rows behind a pass: they may go at any time

    def _run(self, batch: Sequence[RowStep]) -> list[Rows]:
        sessions = [one.kept for one in batch]
        plan = self._plan(batch)
        fresh, key_value = self._enter(batch, plan)
        self._attention.begin(sessions)
        waiting = WaitingRows(self.look_ahead, plan, [kept.waiting for kept in sessions], compiled=self._joins_compiled)
        for k in range(len(self.look_ahead)):
            self._attention.keep(k, key_value, plan.places[k])
            query = waiting.join(k, fresh)
            context = self._attention.attend(k, query, plan.visible_ranges[k])
            given = {"context": context, "asked": query}
            last = k == len(self._steps)
            if (last or not self.int8_matmul) and not np.isfinite(context).all():
                raise ArithmeticError  # behind a compiled product it stays one that is not, which nothing keeps
            if not last:
                fresh, key_value = self._steps[k].run(_BETWEEN, given)
        for kept, waiting_rows, needed in zip(sessions, plan.waiting_rows, plan.needed, strict=True):
            kept.done_words = len(kept.words)
            kept.waiting_rows = waiting_rows
            kept.room.let_go(needed)
        scores: list[Rows] = self._exit.run(self._heads, given)
        return scores

    def _plan(self, batch: Sequence[RowStep]) -> BatchPlan:
        asked = [
            StepRequest(one.kept.ends, one.kept.word_of, one.kept.done_words, one.wanted.start, one.wanted.stop)
            for one in batch
        ]
        plan = plan_batch(self.look_ahead, self._look_back, asked, compiled=self._joins_compiled)
        self.layer_rows += plan.layer_rows
        return plan

    def _enter(self, batch: Sequence[RowStep], plan: BatchPlan) -> list[Rows]:
        pieces = np.array([piece for one in batch for piece in one.pieces], dtype=np.int64)
        farthest = int(plan.entering.max(initial=0))
        while farthest >= len(self._positions):
            self._positions = np.concatenate([self._positions, self._position_of(len(self._positions))])
        positions = self._positions[plan.entering]
        entered: list[Rows] = self._entrance.run(_BETWEEN, {"pieces": pieces, "positions": positions})
        return entered


def _positions(arrays: Arrays) -> Callable[[int], Rows]:
    """Return what gives the position encoding of ``_POSITIONS_AT_ONCE`` rows (rows, D) from a row on.

    It is what the stored graph computes, to a few last bits: always so many at once, for the last bits of a product may
    depend on how many rows it has, and so an encoding on who was labelled before.
    """
    if "positions.table" in arrays:
        table: Rows = arrays["positions.table"].astype(np.float32)
        return lambda first: table[np.minimum(np.arange(first, first + _POSITIONS_AT_ONCE), len(table) - 1)]
    rate, even = arrays["positions.rate"].astype(np.float32), arrays["positions.even"]
    turned, centre = arrays["positions.map"].astype(np.float32), arrays["positions.centre"].astype(np.float32)

    def sinusoidal(first: int) -> Rows:
        angles = np.arange(first, first + _POSITIONS_AT_ONCE, dtype=np.float32)[:, None] * rate
        encoded: Rows = np.where(even, np.sin(angles), np.cos(angles)) @ turned + centre
        return encoded

    return sinusoidal
