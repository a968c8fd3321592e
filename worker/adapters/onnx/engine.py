"""The engine on ONNX Runtime: buffers of many sessions in, a label pair a word out.

Rules:

1. an answer depends on the words and the model alone: requests are padded to a common length, and padding is
   visible to no word; the shipped int8 weights take one activation scale a row (docs/design.md, *The engine*);
2. requests of like length run together, at most ``max_batch_pieces`` padded pieces at a time;
3. threads come from the cgroup's quota, and they sleep between two runs (no spinning);
4. scores that are not finite, or of the wrong shape, are an error, never a label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from schemas.labels import Disfluency, Punctuation
from worker.adapters.onnx.cpu_quota import threads_allowed
from worker.adapters.onnx.model_folder import StoredModel, read_models_folder
from worker.adapters.onnx.wordpiece import WordPiece
from worker.core.labelling import LabelRequest, Labels
from worker.errors import EngineError, FatalError
from worker.ports.engine import EngineModel

__all__ = ["PADDING_WORD", "OnnxEngine"]

PADDING_WORD = 1_000_000
"""The word number of padding, larger than any word's: the mask hides it."""

_MAX_BATCH_PIECES = 4096
_STRETCH, _SLACK = 1.25, 8
_WARM_UP_WORDS = ("so", "this", "is", "a", "warm", "up")

_Run = list[tuple[int, "_Encoded"]]


@dataclass(frozen=True, slots=True)
class _Encoded:
    """A request as the network reads it: pieces, the number of each one's word, and each word's last piece."""

    pieces: list[int]
    word_index: list[int]
    last: list[int]


class OnnxEngine:
    """``worker.ports.engine.Engine`` over the models of a folder. Not thread-safe: one loop owns it."""

    def __init__(
        self, models_folder: Path, *, threads: int | None = None, max_batch_pieces: int = _MAX_BATCH_PIECES
    ) -> None:
        """Verify and load every model of ``models_folder``; FatalError where one cannot be used.

        threads: for one inference; None takes what the cgroup's quota allows.
        """
        chosen = threads if threads is not None else threads_allowed()
        self._max_batch_pieces = max_batch_pieces
        self._networks = {
            stored.manifest.name: _Network(stored, chosen, max_batch_pieces)
            for stored in read_models_folder(models_folder)
        }
        self._models = tuple(network.served for network in self._networks.values())
        self.threads = chosen

    @property
    def models(self) -> Sequence[EngineModel]:
        """The models loaded, by name."""
        return self._models

    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        """Label each request, in their order; EngineError where an inference fails, FatalError for an unknown model."""
        answers: list[Labels | None] = [None] * len(requests)
        by_model: dict[str, list[int]] = {}
        for place, request in enumerate(requests):
            by_model.setdefault(request.model_id, []).append(place)
        for model_id, places in by_model.items():
            network = self._networks.get(model_id)
            if network is None:
                raise FatalError(f"no model {model_id} is loaded; there are {', '.join(sorted(self._networks))}")
            for place, labels in network.label([(place, requests[place].words) for place in places]):
                answers[place] = labels
        return [_complete(answer, request) for answer, request in zip(answers, requests, strict=True)]

    def forget(self, session: str) -> None:
        """Do nothing: this engine keeps nothing of a session."""

    def warm_up(self) -> None:
        """Run each model once on a small batch; FatalError where it cannot."""
        for name in self._networks:
            words = [_WARM_UP_WORDS * repeat for repeat in (1, 4)]
            requests = [LabelRequest(session="warm-up", model_id=name, buffer_start=0, words=w) for w in words]
            try:
                self.label(requests)
            except EngineError as error:
                raise FatalError(f"model {name} cannot run: {error}") from error


def _complete(answer: Labels | None, request: LabelRequest) -> Labels:
    size = len(request.words)
    if answer is None or len(answer.punctuation) != size or len(answer.disfluency) != size:
        raise EngineError(f"model {request.model_id} did not answer with one label pair a word")
    return answer


class _Network:
    """One model: its tokeniser, its ONNX Runtime session, and what its classes are called."""

    def __init__(self, stored: StoredModel, threads: int, max_batch_pieces: int) -> None:
        manifest = stored.manifest
        self._manifest = manifest
        self._max_batch_pieces = max_batch_pieces
        try:
            settings = manifest.wordpiece
            self._tokenizer = WordPiece(stored.vocabulary(), max_pieces=settings.max_pieces, unknown=settings.unknown)
            self._leading = self._tokenizer.number(settings.leading)
            self._punctuation = _classes(manifest.punctuation, {label.published: label for label in Punctuation})
            self._disfluency = _classes(manifest.disfluency, {label.published: label for label in Disfluency})
        except KeyError as error:
            raise FatalError(f"model {manifest.name}: its manifest or vocabulary has no {error}") from error
        self._session = _open(stored, threads)

    @property
    def served(self) -> EngineModel:
        manifest = self._manifest
        return EngineModel(
            name=manifest.name,
            language=manifest.language,
            active=manifest.active,
            look_ahead_words=manifest.look_ahead_words,
        )

    def label(self, buffers: Sequence[tuple[int, tuple[str, ...]]]) -> Iterator[tuple[int, Labels]]:
        """Yield (place, labels) of each buffer, in any order."""
        encoded = sorted(
            ((place, self._encode(words)) for place, words in buffers), key=lambda item: len(item[1].pieces)
        )
        for run in _runs(encoded, self._max_batch_pieces):
            punctuation, disfluency = self._infer([item for _, item in run])
            for row, (place, item) in enumerate(run):
                yield (
                    place,
                    Labels(
                        punctuation=self._punctuation[punctuation[row, item.last].argmax(axis=-1)].tobytes(),
                        disfluency=self._disfluency[disfluency[row, item.last].argmax(axis=-1)].tobytes(),
                    ),
                )

    def _encode(self, words: Sequence[str]) -> _Encoded:
        pieces, word_index, last = [self._leading], [0], []
        for number, word in enumerate(words, start=1):
            numbers = self._tokenizer.pieces(word)
            pieces.extend(numbers)
            word_index.extend([number] * len(numbers))
            last.append(len(pieces) - 1)
        return _Encoded(pieces, word_index, last)

    def _infer(self, items: Sequence[_Encoded]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the scores (B, S, P) and (B, S, Q) of the items, padded to the longest."""
        shape = (len(items), max(len(item.pieces) for item in items))
        pieces = np.zeros(shape, dtype=np.int64)
        word_index = np.full(shape, PADDING_WORD, dtype=np.int64)
        for row, item in enumerate(items):
            pieces[row, : len(item.pieces)] = item.pieces
            word_index[row, : len(item.word_index)] = item.word_index
        name = self._manifest.name
        try:
            punctuation, disfluency = self._session.run(
                ["punctuation", "disfluency"], {"pieces": pieces, "word_index": word_index}
            )
        except Exception as error:  # the runtime's errors have no common class of their own
            raise EngineError(f"model {name}: inference of {shape} pieces failed: {type(error).__name__}") from error
        for scores, classes in ((punctuation, self._punctuation), (disfluency, self._disfluency)):
            if scores.shape != (*shape, len(classes)):
                raise EngineError(f"model {name}: scores have shape {scores.shape}, not {(*shape, len(classes))}")
            if not np.isfinite(scores).all():
                raise EngineError(f"model {name}: scores are not finite")
        return punctuation, disfluency


def _classes(names: Sequence[str], labels: dict[str, Any]) -> NDArray[np.uint8]:
    """Return the label number of each class of the network; KeyError for a name that is no label."""
    return np.array([int(labels[name]) for name in names], dtype=np.uint8)


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


def _open(stored: StoredModel, threads: int) -> Any:  # noqa: ANN401 - onnxruntime ships without types
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(stored.weights), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime's errors have no common class of their own
        raise FatalError(f"model {stored.manifest.name}: {stored.weights} cannot be loaded: {error}") from error
