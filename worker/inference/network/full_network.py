"""A model run over whole buffers, every time anew: for networks that look without bound, and as the streaming's oracle.

Rules:

1. an answer depends on the words and the model alone: requests are padded to a common length, and padding is
   visible to no word; the shipped int8 weights take one activation scale a row (docs/design.md, *The engine*);
2. requests of like length run together, at most ``max_batch_pieces`` padded pieces at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.errors import EngineError, FatalError
from caesura.worker.inference.model.heads import Heads, Scores
from caesura.worker.inference.model.model_folder import PieceReader, StoredModel
from caesura.worker.inference.network.graph_file import with_half_precision_cache
from caesura.worker.inference.network.inference_session import open_graph
from caesura.worker.inference.network.saturation import saturated_weights

PADDING_WORD = 1_000_000
"""The word number of padding, larger than any word's: the mask hides it."""

_STRETCH, _SLACK = 1.25, 8

_Run = list[tuple[int, "_Encoded"]]


@dataclass(frozen=True, slots=True)
class _Encoded:
    """A buffer as the network reads it: pieces, the number of each one's word, and each wanted word's last piece."""

    pieces: list[int]
    word_index: list[int]
    last: list[int]


class FullNetwork:
    """One model. layer_rows: words computed so far, a layer each.

    halves: keys and values are rounded to half precision, as those are that a stream keeps. saturated: the first of the
    weights that this processor multiplies wrongly, if any (``saturation``).
    """

    def __init__(self, stored: StoredModel, heads: Heads, threads: int, max_batch_pieces: int, *, halves: bool) -> None:
        self._name = stored.manifest.name
        self._layers = len(stored.manifest.look_ahead)
        self._heads = heads
        self._reader = PieceReader(stored)
        self._max_batch_pieces = max_batch_pieces
        try:
            graph = with_half_precision_cache(stored.weights) if halves else stored.weights
        except ValueError as error:
            raise FatalError(f"model {self._name}: {stored.weights} cannot be loaded: {error}") from error
        self._session = open_graph(self._name, graph, threads)
        self.saturated = saturated_weights(stored.weights)
        self.layer_rows = 0

    def score(self, requests: Sequence[tuple[int, LabelRequest]]) -> Iterator[tuple[int, Scores]]:
        """Yield (place, scores) of each request, in any order."""
        encoded = sorted(
            ((place, self._encode(request)) for place, request in requests), key=lambda item: len(item[1].pieces)
        )
        for run in _runs(encoded, self._max_batch_pieces):
            scores = self._infer([item for _, item in run])
            for row, (place, item) in enumerate(run):
                yield place, [given[row, item.last] for given in scores]
        self.layer_rows += self._layers * sum(len(request.words) for _, request in requests)

    def _encode(self, request: LabelRequest) -> _Encoded:
        pieces, word_index, last = [self._reader.leading], [0], []
        for number, word in enumerate(request.words, start=1):
            numbers = self._reader.pieces(word)
            pieces.extend(numbers)
            word_index.extend([number] * len(numbers))
            last.append(len(pieces) - 1)
        return _Encoded(pieces, word_index, [last[word] for word in request.wanted])

    def _infer(self, items: Sequence[_Encoded]) -> Scores:
        """Return the scores (B, S, C) a head of the items, padded to the longest."""
        shape = (len(items), max(len(item.pieces) for item in items))
        pieces = np.zeros(shape, dtype=np.int64)
        word_index = np.full(shape, PADDING_WORD, dtype=np.int64)
        for row, item in enumerate(items):
            pieces[row, : len(item.pieces)] = item.pieces
            word_index[row, : len(item.word_index)] = item.word_index
        try:
            scores: Scores = self._session.run([*self._heads.names], {"pieces": pieces, "word_index": word_index})
        except Exception as error:  # the runtime's errors have no common class of their own
            raise EngineError(
                f"model {self._name}: inference of {shape} pieces failed: {type(error).__name__}"
            ) from error
        self._heads.require(scores, shape)
        return scores


def _runs(items: Sequence[tuple[int, _Encoded]], max_pieces: int) -> Iterator[_Run]:
    """Cut items, shortest first, into runs within the bound whose padding stays small beside their content."""
    run: _Run = []
    for item in items:
        length = len(item[1].pieces)
        if run and (length * (len(run) + 1) > max_pieces or length > len(run[0][1].pieces) * _STRETCH + _SLACK):
            yield run
            run = []
        run.append(item)
    if run:
        yield run
