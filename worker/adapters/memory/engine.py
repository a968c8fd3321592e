"""A scripted, deterministic engine without a network, with a true look-ahead.

Its label of a word depends only on the model's name, the word's place in the buffer, the word before it, and the words
up to L after it. So a label settles exactly when a network's would. A decoder that freezes a word too early, relabels a
frozen one or loses its place shows different labels.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence

from msgspec.structs import replace
from typing_extensions import override

from caesura.schemas.labels import Casing, Disfluency, Labels, Punctuation, probability_number
from caesura.worker.core.language.labelling import LabelRequest, Probabilities
from caesura.worker.errors import FatalError
from caesura.worker.ports.engine import Engine, EngineModel, EngineWork

Script = Callable[[str, Sequence[str], int, int], tuple[int, ...]]
"""(model name, words of the buffer, position, L) -> a label of each of the first kinds (``labels.Labels``).

It looks no further than L words on.
"""

_SENTENCE_ENDS = frozenset(mark for mark in Punctuation if mark.ends_sentence)
_PUNCTUATION = bytes(
    [Punctuation.NONE] * 192
    + [Punctuation.COMMA] * 36
    + [Punctuation.ENUMERATION_COMMA] * 8
    + [Punctuation.PERIOD] * 14
    + [Punctuation.QUESTION] * 6
)
_DISFLUENCY = bytes(
    [Disfluency.O] * 180
    + [Disfluency.B_RM] * 24
    + [Disfluency.I_RM] * 24
    + [Disfluency.B_IM] * 16
    + [Disfluency.I_IM] * 12
)
_CASING = bytes(
    [Casing.SMALL] * 176 + [Casing.CAPITAL_FIRST] * 52 + [Casing.ALL_CAPITALS] * 16 + [Casing.AS_GIVEN] * 12
)


def hashed_labels(model: str, words: Sequence[str], position: int, look_ahead_words: int) -> tuple[int, ...]:
    """Draw a word's labels, and how sure they are, from a hash of all that they may depend on."""
    window = words[max(position - 1, 0) : position + look_ahead_words + 1]
    hashed = zlib.crc32("\0".join((model, str(position), *window)).encode())
    sure = [probability_number(hashed >> shift & 63) for shift in (12, 18, 24)]
    return _PUNCTUATION[hashed & 255], _DISFLUENCY[hashed >> 8 & 255], _CASING[hashed >> 16 & 255], *sure


def marked_words(model: str, words: Sequence[str], position: int, look_ahead_words: int) -> tuple[int, int]:  # noqa: ARG001
    """Label words by what they are called, for tests and demos that want to say where a mark comes.

    A word that ends in ``-stop``, ``-ask``, ``-comma`` or ``-list`` has that mark; ``uh`` and ``um`` are interregna.
    """
    word = words[position]
    marks = {
        "stop": Punctuation.PERIOD,
        "ask": Punctuation.QUESTION,
        "comma": Punctuation.COMMA,
        "list": Punctuation.ENUMERATION_COMMA,
    }
    mark = marks.get(word.rpartition("-")[2], Punctuation.NONE)
    return mark, Disfluency.B_IM if word in ("uh", "um") else Disfluency.O


class ScriptedEngine(Engine):
    """Labels buffers by a script; ``models`` are what it claims to have loaded."""

    def __init__(
        self,
        *,
        look_ahead_words: int = 9,
        languages: Sequence[str] = ("en", "zh"),
        models: Sequence[EngineModel] | None = None,
        script: Script = hashed_labels,
    ) -> None:
        self._models = tuple(
            models
            if models is not None
            else (
                EngineModel(
                    name=f"scripted-{language}@1", language=language, active=True, look_ahead_words=look_ahead_words
                )
                for language in languages
            )
        )
        self._by_name = {model.name: model for model in self._models}
        self._script = script
        self.batch_sizes: list[int] = []

    @property
    @override
    def models(self) -> Sequence[EngineModel]:
        return self._models

    @property
    @override
    def work(self) -> EngineWork:
        """Nothing is counted."""
        return EngineWork()

    @override
    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        self.batch_sizes.append(len(requests))
        return [self._label(request) for request in requests]

    @override
    def forget(self, session: str) -> None:
        """Do nothing: nothing is cached."""

    @override
    def warm_up(self) -> None:
        """Do nothing: it is always warm."""

    def _label(self, request: LabelRequest) -> Labels:
        model = self._by_name.get(request.model_id)
        if model is None:
            raise FatalError(f"no model {request.model_id} is loaded")
        scripted = [self._script(model.name, request.words, place, model.look_ahead_words) for place in request.wanted]
        punctuation, *others = map(bytes, zip(*scripted, strict=True))
        if request.closes and request.offsets.sentence_end == math.inf and punctuation[-1] not in _SENTENCE_ENDS:
            punctuation = punctuation[:-1] + bytes([Punctuation.PERIOD])
        labels = Labels(punctuation, *others)
        if request.probabilities is not Probabilities.WORDS:
            labels = replace(labels, punctuation_probability=b"", disfluency_probability=b"")
        if request.probabilities is Probabilities.OFF or not request.closes:
            return replace(labels, turn_end=b"")
        return replace(labels, turn_end=labels.turn_end[-1:].rjust(len(labels), b"\0")) if labels.turn_end else labels
