"""An engine over a checkpoint: networks that are not shipped, of any kind, through the same decoding as those that are.

It is for comparisons (Full-Transformer, BLSTM, teachers, a network between two trainings): PyTorch, no export; fp32,
or bfloat16 where a large network would take hours.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import torch
from torch import Tensor
from typing_extensions import override

from caesura.models.decoding.constrained_decoder import labeller
from caesura.models.export.parity import encode
from caesura.models.networks.arithmetic import quick_arithmetic
from caesura.models.networks.checkpoints import load_any_network
from caesura.models.networks.pieces import LEADING, MAX_PIECES, UNKNOWN_PIECE, read_vocabulary
from caesura.models.networks.registry import Network, describe, look_ahead_words
from caesura.schemas.labels import Labels, Punctuation
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.errors import FatalError
from caesura.worker.inference.model.wordpiece import WordPiece
from caesura.worker.ports.engine import Engine, EngineModel, EngineWork

_BATCH = 32
_GOES_ON = [mark.value for mark in Punctuation if not mark.ends_sentence]


class CheckpointEngine(Engine):
    """``caesura.worker.ports.engine.Engine`` over one network, whose classes are ``labels`` numbers."""

    def __init__(
        self,
        network: Network,
        vocabulary: Sequence[str],
        *,
        language: str = "en",
        threads: int | None = None,
        device: str = "cpu",
        quick: bool = False,
    ) -> None:
        """Label with ``network``. vocabulary: its pieces, in order. threads: for the process, PyTorch's if None.

        device: as PyTorch names it, cpu or cuda. quick: in bfloat16 where the device has it, float32 elsewhere.
        """
        if threads is not None:
            torch.set_num_threads(threads)
        kind, _ = describe(network)
        self._label = labeller(network.to(device).eval())
        self._device = device
        self._arithmetic = partial(quick_arithmetic, device) if quick else nullcontext
        self._tokenizer = WordPiece(vocabulary, max_pieces=MAX_PIECES, unknown=UNKNOWN_PIECE)
        self._leading = self._tokenizer.number(LEADING)
        self._model = EngineModel(
            name=f"{kind}@checkpoint", language=language, active=True, look_ahead_words=look_ahead_words(network)
        )

    @classmethod
    def of(
        cls,
        checkpoint: Path,
        vocabulary: Path,
        *,
        language: str = "en",
        threads: int | None = None,
        quick: bool = False,
    ) -> CheckpointEngine:
        """Load a checkpoint. vocabulary: a file of one piece a line. The others: as above."""
        network = load_any_network(checkpoint)
        return cls(network, read_vocabulary(vocabulary), language=language, threads=threads, quick=quick)

    @property
    @override
    def models(self) -> Sequence[EngineModel]:
        """The one model."""
        return (self._model,)

    @property
    @override
    def work(self) -> EngineWork:
        """Nothing is counted."""
        return EngineWork()

    @override
    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        """Label each request, in their order, those of like length together; FatalError for another model."""
        if any(request.model_id != self._model.name for request in requests):
            raise FatalError(f"{self._model.name} is the only model here")
        answers: dict[int, Labels] = {}
        places = sorted(range(len(requests)), key=lambda place: len(requests[place].words))
        for start in range(0, len(places), _BATCH):
            batch = places[start : start + _BATCH]
            pieces, word_index, last = encode(
                [requests[place].words for place in batch], self._tokenizer, self._leading
            )
            with torch.inference_mode(), self._arithmetic():
                scores = self._label(*(torch.from_numpy(rows).to(self._device) for rows in (pieces, word_index)))
                for row, place in enumerate(batch):
                    _end_sentence(scores[0][row], requests[place], last[row])
            heads = [head.argmax(dim=-1).to(torch.uint8).cpu().numpy() for head in scores]
            for row, place in enumerate(batch):
                wanted = [last[row][word] for word in requests[place].wanted]
                answers[place] = Labels(*[labels[row, wanted].tobytes() for labels in heads])
        return [answers[place] for place in range(len(requests))]

    @override
    def forget(self, session: str) -> None:
        """Do nothing: nothing is kept of a session."""

    @override
    def warm_up(self) -> None:
        """Do nothing: the first labelling is as any other."""


def _end_sentence(marks: Tensor, request: LabelRequest, last_pieces: Sequence[int]) -> None:
    """Take a request's offset of sentence ends off the other marks' scores (S, P) at its last word, in place."""
    if request.closes and request.offsets.sentence_end:
        goes_on = [mark for mark in _GOES_ON if mark < marks.shape[-1]]
        marks[last_pieces[request.wanted.stop - 1], goes_on] -= request.offsets.sentence_end
