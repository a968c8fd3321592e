"""What probabilities and overlays add to a worker's CPU a word: each alone, and all of them.

    python -m bench.overlay_cost

Workers without Kafka and Redis clients (``sizing.unconnected_worker``) share an engine of one thread and hear the same
speech, a few words of every session a round, by turns: from an event's bytes through decoding, sessions, the model and
snapshots to the records of the segments topic and of one route. ``off`` has neither probabilities nor overlays. A sum
of money is said once in 192 words, an address once in 480. CPU of the process; an addition is the median of the
rounds' ratios, its interval a bootstrap over rounds (95 %): other load on the machine slows both alike. The clients add
to both sides, so of a whole worker's word the share is smaller.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np

from bench.machine import write_result
from caesura.schemas.codec import encode_event
from caesura.schemas.events import Word, WordsEvent
from caesura.schemas.segments import NumberForm
from caesura.schemas.versions import EVENT_VERSION
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.adapters.system_clock import SystemClock
from caesura.worker.core.language.labelling import Probabilities
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.overlays.redaction import Redacted
from caesura.worker.runtime.settings.routes import Route
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.sizing.unconnected_worker import UnconnectedWorker

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
_WARM_ROUNDS = 20
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

    def __init__(self, engine: OnnxEngine, name: str, probabilities: Probabilities, *, overlays: bool) -> None:
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
        self._worker = UnconnectedWorker(engine, settings, rules, SystemClock())
        self._name = name
        self._said = spoken()
        self._turns = [0] * _SESSIONS

    def hear(self, sessions: Sequence[int]) -> tuple[float, int]:
        """Let sessions say a few words each; return the CPU seconds, and how many words froze."""
        events = [self._event(session) for session in sessions]
        began_s = time.process_time()
        self._worker.take(events)
        frozen = self._worker.checkpoint()
        return time.process_time() - began_s, frozen

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


def added(off: Sequence[float], on: Sequence[float], draws: int = 2000) -> dict[str, object]:
    """Return what a case adds to the case without, as a share: the median of the rounds, with its 95 % interval."""
    shares = np.array(on) / np.array(off) - 1
    drawn = np.median(shares[np.random.default_rng(0).integers(len(off), size=(draws, len(off)))], axis=-1)
    low, high = np.percentile(drawn, (2.5, 97.5))
    return {
        "added": round(float(np.median(shares)), 4),
        "interval": [round(float(low), 4), round(float(high), 4)],
    }


def main() -> None:
    """Measure, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--models", type=Path, default=Path("models/shipped"))
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    engine = OnnxEngine(options.models, threads=1, max_kept_bytes=2**40)
    listeners = {name: Listener(engine, name, sure, overlays=on) for name, (sure, on) in _CASES.items()}
    for turns in range(_FIRST_TURNS):  # buffers of different lengths, so that not all sessions step at once
        for listener in listeners.values():
            for _ in range(turns):
                listener.hear(range(turns, _SESSIONS, _FIRST_TURNS))
    spent_s: dict[str, list[float]] = {name: [] for name in _CASES}
    words = 0
    names = list(_CASES)
    for turn in range(-_WARM_ROUNDS, options.rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            took_s, frozen = listeners[name].hear(range(_SESSIONS))
            if turn >= 0:
                spent_s[name].append(took_s)
                words += frozen if name == "off" else 0
    result = {
        "words": words,
        "cpu_micros_a_word": {
            name: round(median(took) * options.rounds / words * 1e6, 2) for name, took in spent_s.items()
        },
        **{name: added(spent_s["off"], took) for name, took in spent_s.items() if name != "off"},
    }
    write_result("overlay_cost", "python -m bench.overlay_cost", result, out=options.out)


if __name__ == "__main__":
    main()
