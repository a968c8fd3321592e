"""A model's heads, their classes, and the labels of the classes.

A model with ``closing`` has two heads for marks. The head of that name labels a word without a next one: the last word
of a flush, and any other word at the end of its buffer. A pause does not prove a sentence end, and only this head has
learnt to judge a word without the next one (ADR 0019).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caesura.schemas.labels import Casing, Disfluency, Labels, Punctuation
from caesura.schemas.model_manifest import ModelManifest
from caesura.worker.core.language.labelling import NO_OFFSETS, LabelRequest, Probabilities
from caesura.worker.errors import EngineError
from caesura.worker.inference.model.probabilities import ModelProbabilities

_MARKS, _TAGS, _CLOSING = "punctuation", "disfluency", "closing"

Scores = list[NDArray[np.float32]]
"""A score tensor a head, in the order of the model's heads; its last axis is the head's classes."""


class Heads:
    """The heads of one model.

    ``names`` are those of its score tensors, in the order in which scores are taken; ``classes``: how many each has.
    """

    def __init__(self, manifest: ModelManifest) -> None:
        """Take them from a manifest. KeyError for a class that is no label."""
        self._model = manifest.name
        self._labels = {
            _MARKS: _numbers(manifest.punctuation, {label.published: label for label in Punctuation}),
            _TAGS: _numbers(manifest.disfluency, {label.published: label for label in Disfluency}),
        }
        if manifest.casing:
            self._labels["casing"] = _numbers(manifest.casing, {label.published: label for label in Casing})
        self._probabilities: ModelProbabilities | None = None
        if manifest.calibration is not None:
            marks, tags = map(Punctuation, self._labels[_MARKS]), map(Disfluency, self._labels[_TAGS])
            self._probabilities = ModelProbabilities(manifest.calibration, list(marks), list(tags))
        self._goes_on = np.array([not Punctuation(mark).ends_sentence for mark in self._labels[_MARKS]])
        self._reparanda = np.isin(self._labels[_TAGS], (Disfluency.B_RM, Disfluency.I_RM))
        self._fillers = np.isin(self._labels[_TAGS], (Disfluency.B_IM, Disfluency.I_IM))
        self.classes = {name: len(labels) for name, labels in self._labels.items()}
        if manifest.closing:
            self.classes[_CLOSING] = self.classes[_MARKS]
        self.names = tuple(self.classes)

    def require(self, scores: Scores, rows: tuple[int, ...]) -> None:
        """Refuse scores that are not finite, or not of these rows: EngineError, never a label."""
        for given, classes in zip(scores, self.classes.values(), strict=True):
            if given.shape != (*rows, classes):
                raise EngineError(f"model {self._model}: scores have shape {given.shape}, not {(*rows, classes)}")
            if not np.isfinite(given).all():
                raise EngineError(f"model {self._model}: scores are not finite")

    def labels(self, scored: Sequence[Scores], requests: Sequence[LabelRequest]) -> list[Labels]:
        """Return the labels of each request's words, from a row of scores (W, C) a word for each head; one at least."""
        ends = list(accumulate((len(scores[0]) for scores in scored), initial=0))
        joined = dict(zip(self.names, map(np.concatenate, zip(*scored, strict=True)), strict=True))
        last = [stop - 1 for stop, request in zip(ends[1:], requests, strict=True) if request.closes]
        if _CLOSING in joined:
            joined[_MARKS][last] = joined[_CLOSING][last]
        levels = frozenset(request.probabilities for request in requests)
        levels -= {Probabilities.OFF} if last else {Probabilities.OFF, Probabilities.TURNS}
        sure = self._probabilities if levels else None
        as_scored = joined
        if sure is not None and any(request.offsets != NO_OFFSETS for request in requests):
            as_scored = {name: joined[name].copy() for name in (_MARKS, _TAGS)}
        for (start, stop), request in zip(pairwise(ends), requests, strict=True):
            if request.offsets != NO_OFFSETS:
                self._add(request, {name: scores[start:stop] for name, scores in joined.items()})
        chosen = {name: joined[name].argmax(axis=-1) for name in self._labels}
        named = {name: classes[chosen[name]].tobytes() for name, classes in self._labels.items()}
        columns = {} if sure is None else {one: named | sure.columns(as_scored, chosen, last, one) for one in levels}
        return [
            Labels(**{name: given[start:stop] for name, given in columns.get(request.probabilities, named).items()})
            for (start, stop), request in zip(pairwise(ends), requests, strict=True)
        ]

    def _add(self, request: LabelRequest, scores: dict[str, NDArray[np.float32]]) -> None:
        """Add a request's offsets to its scores (W, C), in place."""
        offsets = request.offsets
        scores[_TAGS][:, self._reparanda] += np.float32(offsets.reparandum)
        scores[_TAGS][:, self._fillers] += np.float32(offsets.filler)
        if request.closes and not self._goes_on.all():
            # taken from the other marks, so that an infinite offset leaves the sentence marks' own order
            scores[_MARKS][-1, self._goes_on] -= np.float32(offsets.sentence_end)


def _numbers(names: Sequence[str], labels: dict[str, Any]) -> NDArray[np.uint8]:
    return np.array([int(labels[name]) for name in names], dtype=np.uint8)
