"""A text run through the streaming decoder word by word, with all that one needs to judge it.

That is: the frozen labels, when each froze, every labelling on the way, and what the engine was asked to read. One
word is one unit of the recogniser and one word of the model here, which is so in English.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace
from typing_extensions import override

from caesura.models.decoding.labelling_runs import MARK_NUMBERS, TAG_NUMBERS
from caesura.models.decoding.passing_engine import PassingEngine
from caesura.schemas.labels import Labels
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.session.stream import StreamingLabeller
from caesura.worker.ports.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledStep:
    """One labelling: the words before the buffer, and the raw labels of the buffer's words."""

    start: int
    marks: bytes
    tags: bytes

    @property
    def heard(self) -> int:
        """Return how many words had been heard."""
        return self.start + len(self.marks)


@dataclass(slots=True, kw_only=True)
class Stream:
    """What became of one text.

    frozen_at: how many words had been heard when each word froze. steps: every labelling, in order.
    """

    marks: list[int] = field(default_factory=list)
    tags: list[int] = field(default_factory=list)
    frozen_at: list[int] = field(default_factory=list)
    steps: list[LabelledStep] = field(default_factory=list)

    @property
    def delays(self) -> list[int]:
        """Return how many further words each word waited for until it froze."""
        return [heard - place - 1 for place, heard in enumerate(self.frozen_at)]


class WatchedEngine(PassingEngine):
    """An engine that notes what it is asked: labellings, buffer words read, processor time."""

    def __init__(self, engine: Engine, *, clock: Callable[[], float] = time.process_time) -> None:
        """Watch ``engine``. clock: seconds of processor time."""
        super().__init__(engine)
        self._clock = clock
        self._steps: list[LabelledStep] = []
        self.buffer_words = 0
        self.cpu_s = 0.0

    @override
    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        """Label every word of each request, note it, and answer with what was asked for."""
        began_s = self._clock()
        answers = super().label([replace(request, first=0, end=None) for request in requests])
        self.cpu_s += self._clock() - began_s
        for request, labels in zip(requests, answers, strict=True):
            self.buffer_words += len(request.words)
            self._steps.append(
                LabelledStep(start=request.buffer_start, marks=labels.punctuation, tags=labels.disfluency)
            )
        return [
            labels.part(request.wanted.start, request.wanted.stop)
            for request, labels in zip(requests, answers, strict=True)
        ]

    def take_steps(self) -> list[LabelledStep]:
        """Return the labellings since the last call."""
        taken, self._steps = self._steps, []
        return taken


def run_stream(
    engine: WatchedEngine, words: Sequence[str], *, language: str = "en", rules: DecodingRules | None = None
) -> Stream:
    """Decode one text as one session that hears a word at a time, and ends after the last; every step is labelled."""
    labeller, stream = StreamingLabeller(engine, language, rules, looks_ahead=True), Stream()
    engine.take_steps()
    for heard in range(1, len(words) + 2):
        ended = heard > len(words)
        for segment in labeller.end() if ended else labeller.add([words[heard - 1]]):
            for word in segment.words:
                stream.marks.append(MARK_NUMBERS[word.punctuation])
                stream.tags.append(TAG_NUMBERS[word.disfluency])
                stream.frozen_at.append(min(heard, len(words)))
        stream.steps += engine.take_steps()
    assert len(stream.marks) == len(words), "a unit is a word here, and comes out once"
    return stream


def active_model(engine: Engine, language: str) -> str:
    """Return the name of the model that labels a language."""
    return next(model.name for model in engine.models if model.active and model.language == language)
