"""What probabilities and overlays add to a worker's CPU a word: each alone, and all of them.

    python -m bench.overlay_cost

Workers without Kafka and Redis clients (``sizing.unconnected_worker``) hear the same speech, a few words of every
session a round: from an event's bytes through decoding, sessions, the model and snapshots to the records of the
segments topic and of one route. ``off`` has neither probabilities nor overlays. A sum of money is said once in 192
words, an address once in 480.

The network does the same for all, and a busy machine moves its time by more than what is added. So its labels are
recorded once and given again: what a case costs is the best of some runs without the network, and of the network only
the columns of probabilities, computed again from the recorded scores. The share is of the best whole run of ``off``;
the clients, which add to every case, would make it smaller.
"""

from __future__ import annotations

import argparse
import gc
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from typing_extensions import override

from bench.machine import write_result
from caesura.models.decoding.passing_engine import PassingEngine
from caesura.schemas.codec import encode_event
from caesura.schemas.events import Word, WordsEvent
from caesura.schemas.labels import Labels
from caesura.schemas.segments import NumberForm
from caesura.schemas.versions import EVENT_VERSION
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.labelling import LabelRequest, Probabilities
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.overlays.redaction import Redacted
from caesura.worker.inference.model.probabilities import ModelProbabilities
from caesura.worker.ports.engine import Engine
from caesura.worker.runtime.settings.routes import Route
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.sizing.unconnected_worker import UnconnectedWorker
from tests.harness.in_memory_world import ManualClock

_SPEECH = """we came back from the lake on friday and the car would not start so we asked the neighbour to
    help us and he said that the battery was too old for this weather i think we should buy
    another one before the winter comes because the last time it took half a day until somebody
    came and the children were cold and hungry by then do you remember how they sang all the way
    home after that it was one of those evenings that i will never forget""".split()  # noqa: SIM905
_NUMBER = "that is six hundred and forty seven dollars and fifty cents please".split()  # noqa: SIM905
_ADDRESS = "write to ada dot king at example dot com for the rest".split()  # noqa: SIM905
_NAMES = "anna bert carla dora emil frida gustav hanna igor jana karl lena moritz nora otto paula".split()  # noqa: SIM905
_WORDS = 5
_STRETCH = 12
_SESSIONS = 48
_FIRST_TURNS = 8
_SPELLINGS = {f"{first} {last}": f"{first}{last}".title() for first in _NAMES for last in _NAMES[:4]}
_CASES = {
    "off": (Probabilities.OFF, False),
    "probabilities": (Probabilities.WORDS, False),
    "overlays": (Probabilities.OFF, True),
    "everything": (Probabilities.WORDS, True),
}


def spoken() -> list[str]:
    """Return the words that sessions say again and again."""
    said: list[str] = []
    for number in range(240):
        plain = [_SPEECH[(number * _STRETCH + place) % len(_SPEECH)] for place in range(_STRETCH)]
        said += _NUMBER if number % 16 == 0 else _ADDRESS if number % 40 == 1 else plain
    return said


class Listener:
    """A worker of one case and its sessions."""

    def __init__(self, engine: Engine, name: str, probabilities: Probabilities, *, overlays: bool) -> None:
        route = Route(
            target="de",
            topic="translate.de",
            numbers=NumberForm.DIGITS if overlays else NumberForm.WORDS,
            redact=tuple(Redacted) if overlays else (),
        )
        settings = RuntimeSettings(
            routes=(route,),
            spellings=_SPELLINGS if overlays else {},
            redacted_names=tuple(f"{first} {last}" for first in _NAMES for last in _NAMES) if overlays else (),
        )
        rules = DecodingRules(probabilities=probabilities, routes=frozenset(("de",)))
        self._worker = UnconnectedWorker(engine, settings, rules, ManualClock())
        self._name = name
        self._said = spoken()
        self._turns = [0] * _SESSIONS

    def hear(self, sessions: Sequence[int]) -> int:
        """Let sessions say a few words each; return how many words froze."""
        self._worker.take([self._event(session) for session in sessions])
        return self._worker.checkpoint()

    def _event(self, session: int) -> bytes:
        turn = self._turns[session]
        self._turns[session] += 1
        places = range(turn * _WORDS, (turn + 1) * _WORDS)
        words = [self._said[(session * 61 + place) % len(self._said)] for place in places]
        return encode_event(
            WordsEvent(
                version=EVENT_VERSION,
                session=f"{self._name}-{session}",
                seq=turn,
                lang="en-US",
                targets=("de",),
                words=tuple(
                    Word(text=text, start_ms=310 * place, end_ms=310 * place + 280)
                    for text, place in zip(words, places, strict=True)
                ),
            )
        )


class Recording(PassingEngine):
    """Keeps what the engine answers."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.answers: list[list[Labels]] = []

    @override
    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        self.answers.append(super().label(requests))
        return self.answers[-1]


class Replaying(PassingEngine):
    """Gives the answers that were kept, in their order."""

    def __init__(self, engine: Engine, answers: Iterable[list[Labels]]) -> None:
        super().__init__(engine)
        self._answers = iter(answers)

    @override
    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        return next(self._answers)


@contextmanager
def columns_asked() -> Iterator[list[Callable[[], object]]]:
    """Give the calls for columns of probabilities that are made meanwhile, to be made again."""
    calls: list[Callable[[], object]] = []
    asked = ModelProbabilities.columns

    def kept(*given: Any) -> dict[str, bytes]:  # noqa: ANN401 - whatever it is asked
        calls.append(partial(asked, *given))
        return asked(*given)

    setattr(ModelProbabilities, "columns", kept)  # noqa: B010 - a method is replaced
    try:
        yield calls
    finally:
        setattr(ModelProbabilities, "columns", asked)  # noqa: B010


def heard(engine: Engine, name: str, rounds: int) -> tuple[float, int]:
    """Return the CPU seconds of so many rounds of a case, and how many words froze."""
    sure, overlays = _CASES[name]
    listener = Listener(engine, name, sure, overlays=overlays)
    began_s = time.thread_time()
    words = 0
    for turns in range(_FIRST_TURNS):  # buffers of different lengths, so that not all sessions step at once
        for _ in range(turns):
            words += listener.hear(range(turns, _SESSIONS, _FIRST_TURNS))
    for _ in range(rounds):
        words += listener.hear(range(_SESSIONS))
    return time.thread_time() - began_s, words


def computed(calls: Sequence[Callable[[], object]]) -> float:
    """Return the CPU seconds of these calls."""
    began_s = time.thread_time()
    for call in calls:
        call()
    return time.thread_time() - began_s


def main() -> None:
    """Measure, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--models", type=Path, default=Path("models/shipped"))
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    engine = OnnxEngine(options.models, threads=1, max_kept_bytes=2**40)
    heard(engine, "off", options.rounds)  # warm
    whole_s, words = min(heard(engine, "off", options.rounds) for _ in range(3))
    answers: dict[str, Sequence[list[Labels]]] = {}
    calls: dict[str, list[Callable[[], object]]] = {}
    for name in _CASES:
        recording = Recording(engine)
        with columns_asked() as calls[name]:
            heard(recording, name, options.rounds)
        answers[name] = recording.answers
    gc.collect()
    gc.freeze()  # a worker does not hold what is recorded here
    core_s = dict.fromkeys(_CASES, math.inf)
    columns_s = dict.fromkeys(_CASES, math.inf)
    for _ in range(options.runs):
        for name in _CASES:
            core_s[name] = min(core_s[name], heard(Replaying(engine, answers[name]), name, options.rounds)[0])
            columns_s[name] = min(columns_s[name], computed(calls[name]))
    added_s = {name: core_s[name] + columns_s[name] - core_s["off"] - columns_s["off"] for name in _CASES}
    result = {
        "words": words,
        "off_cpu_micros_a_word": round(whole_s / words * 1e6, 1),
        "added_cpu_micros_a_word": {name: round(added_s[name] / words * 1e6, 2) for name in _CASES},
        "added": {name: round(added_s[name] / whole_s, 4) for name in _CASES},
    }
    write_result("overlay_cost", "python -m bench.overlay_cost", result, out=options.out)


if __name__ == "__main__":
    main()
