"""What a network says of a flush's last word, of which no later word is known: one pass over each point's words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.data.packing import pack
from caesura.models.decoding.last_words import of_last_words
from caesura.models.evaluation.false_stops import FlushPoint
from caesura.models.networks.registry import Network
from caesura.models.training.causal_reader import FOLLOWING, Reader
from caesura.models.training.unseeing_labels import SIGNS
from caesura.schemas.labels import Casing, Punctuation
from caesura.worker.core.language.casing import cased
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.inference.model.wordpiece import WordPiece
from caesura.worker.ports.engine import Engine


def flush_scores(
    network: Network,
    points: Sequence[FlushPoint],
    tokenizer: WordPiece,
    leading: int,
    *,
    device: str = "cpu",
    progress: Callable[[int], None] = lambda _: None,
) -> NDArray[np.float64]:
    """Return the log probabilities (points, P) of each point's last word; there is a point at least.

    leading: the number of the piece before the words.
    progress: told how many points are done since it was told last.
    """
    network.to(device).eval()
    text = pack([_unlabelled(point) for point in points], tokenizer)
    ends = np.cumsum([len(point.words) for point in points]).tolist()
    samples = [(end - len(point.words), end) for point, end in zip(points, ends, strict=True)]
    of_last = of_last_words(lambda *given: network(*given)[0], text, samples, leading, device=device, progress=progress)
    return of_last.log_softmax(dim=-1).double().numpy()


def _unlabelled(point: FlushPoint) -> AlignedDocument:
    words, unknown = list(point.words), [UNKNOWN] * len(point.words)
    return AlignedDocument("", "", words, unknown, unknown, unknown)


_MARK_OF = {".": Punctuation.PERIOD, "?": Punctuation.QUESTION, ";": Punctuation.PERIOD, "\n": Punctuation.PERIOD}
_CLASS_OF_GROUP = [_MARK_OF.get(group[0], Punctuation.COMMA) for group in FOLLOWING] + [Punctuation.NONE]
_ENDS = tuple(mark for mark in Punctuation if mark.ends_sentence)


def reader_scores(
    reader: Reader, points: Sequence[FlushPoint], engine: Engine, *, progress: Callable[[int], None] = lambda _: None
) -> NDArray[np.float64]:
    """Return the log probabilities (points, P) of each point's last word, as ``flush_scores`` does.

    engine: its one model labels the words before, as a session's published words are.
    """
    requests = [
        LabelRequest(session="reader", model_id=engine.models[0].name, buffer_start=0, words=point.words)
        for point in points
    ]
    said: list[NDArray[np.float64]] = []
    for point, labels in zip(points, engine.label(requests), strict=True):
        marks = [Punctuation(number) for number in labels.punctuation[:-1]]
        starts = [True, *(mark in _ENDS for mark in marks)]
        words = [
            cased(word, Casing.CAPITAL_FIRST) if first else word
            for word, first in zip(point.words, starts, strict=True)
        ]
        groups = reader.said(words, [*(SIGNS.get(mark, "") for mark in marks), ""])[-1]
        row = np.full(len(Punctuation), -np.inf)
        for group, mark in zip(groups, _CLASS_OF_GROUP, strict=True):
            row[mark] = np.logaddexp(row[mark], group)
        said.append(row)
        progress(1)
    return np.stack(said)
