"""A model run as a stream: each layer of each word once, while a session's buffer only grows (docs/design.md).

Rules:

1. an answer depends only on the words and the model, not on the cache nor on the rest of the batch;
2. a pass takes one step of a session, and no more steps after ``max_rows`` rows; a row is a piece that is new or waits
   before a layer;
3. if a pass fails, all its rows are dropped: the next step of their sessions begins anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.errors import EngineError, FatalError
from caesura.worker.inference.kv_cache.kv_cache import KVCache, SessionCache
from caesura.worker.inference.model.heads import Heads, Scores
from caesura.worker.inference.model.model_folder import PieceReader, StoredModel
from caesura.worker.inference.network.compiled_kernels import CompiledKernels
from caesura.worker.inference.network.graph_file import stored_arrays
from caesura.worker.inference.network.inference_session import open_graph
from caesura.worker.inference.network.row_network import RowNetwork, RowStep
from caesura.worker.inference.network.stored_network import require_network

_Waiting = Sequence[tuple[int, LabelRequest]]


class _Job(msgspec.Struct, frozen=True, gc=False):
    """A request in a pass: its place among all, its session, its step."""

    place: int
    session: str
    row_step: RowStep


class StreamedNetwork:
    """One model. begun: buffers computed from their first word."""

    def __init__(
        self,
        stored: StoredModel,
        heads: Heads,
        cache: SessionCache,
        threads: int,
        max_rows: int,
        *,
        compiled: CompiledKernels,
    ) -> None:
        name = stored.manifest.name
        self._name = name
        self._heads = heads
        self._cache = cache
        self._reader = PieceReader(stored)
        self._max_rows = max_rows
        self._ahead = sum(stored.manifest.look_ahead)
        try:
            arrays = stored_arrays(stored.weights)
            layers = len(stored.manifest.look_ahead)
            require_network(arrays, layers=layers, classes=heads.classes, pieces=self._reader.count)
            self._network = RowNetwork(
                arrays,
                stored.manifest.look_ahead,
                stored.manifest.look_back,
                heads.names,
                lambda graph: open_graph(name, graph, threads),
                cache.slabs,
                compiled=compiled,
            )
        except (KeyError, ValueError) as error:
            raise FatalError(f"model {name}: {stored.weights} cannot be loaded: {error}") from error
        self.compiled, self.int8_matmul = self._network.compiled, self._network.int8_matmul
        self.begun = 0

    @property
    def layer_rows(self) -> int:
        """How many words were computed so far, a layer each."""
        return self._network.layer_rows

    def score(self, requests: _Waiting) -> Iterator[tuple[int, Scores]]:
        """Yield (place, scores) of each request, in any order."""
        waiting = requests
        while waiting:
            answers, waiting = self._pass(waiting)
            yield from answers

    def _pass(self, waiting: _Waiting) -> tuple[list[tuple[int, Scores]], _Waiting]:
        """Run a pass; return its answers, and the requests that wait for another: the next one may evict its rows."""
        try:
            jobs, later = self._next_pass(waiting)
            scores = self._run([job.row_step for job in jobs])
        except BaseException:
            self._cache.release()
            raise
        answers, start = [], 0
        for job in jobs:
            self._cache.put(job.session, self._name, job.row_step.kept)
            stop = start + len(job.row_step.wanted)
            answers.append((job.place, [given[start:stop] for given in scores]))
            start = stop
        return answers, later

    def _next_pass(self, waiting: _Waiting) -> tuple[list[_Job], _Waiting]:
        """Return the jobs of the next pass, and the requests that wait for another."""
        jobs: list[_Job] = []
        later: list[tuple[int, LabelRequest]] = []
        sessions: set[str] = set()
        rows = 0
        for place, request in waiting:
            if request.session in sessions or rows >= self._max_rows:
                later.append((place, request))
                continue
            sessions.add(request.session)
            step = self._begin_step(request)
            self._cache.hold(request.session, step.kept)
            rows += len(step.pieces) + step.kept.waiting_rows
            jobs.append(_Job(place, request.session, step))
        return jobs, later

    def _begin_step(self, request: LabelRequest) -> RowStep:
        kept = self._cache.take(request.session, self._name) or self._network.keep()
        words, wanted = request.words, request.wanted
        if kept.is_of(words) and not self._is_gone(kept, wanted):
            return RowStep(kept=kept, wanted=wanted, pieces=kept.read(words, self._reader.pieces))
        kept.begin()
        self.begun += 1
        return RowStep(kept=kept, wanted=wanted, pieces=[self._reader.leading, *kept.read(words, self._reader.pieces)])

    def _is_gone(self, kept: KVCache, wanted: range) -> bool:
        """Tell whether a wanted word's rows were final before the last layer, so that they wait no more."""
        return bool(wanted) and wanted.start < (kept.done_words or 0) - self._ahead

    def _run(self, steps: Sequence[RowStep]) -> Scores:
        try:
            scores = self._network.run(steps)
        except Exception as error:  # the runtime's errors have no common class of their own
            raise EngineError(
                f"model {self._name}: a step of {len(steps)} sessions failed: {type(error).__name__}"
            ) from error
        self._heads.require(scores, (sum(len(one.wanted) for one in steps),))
        return scores
