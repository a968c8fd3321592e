"""What a word costs in the engine: streaming against the full run by turns, and by the length of the buffer.

    python -m bench.engine_streaming

1. The same sessions decoded by the streaming engine and by the full run of the same weights, by turns, in one process:
   processor seconds a million words of the engine and of decoding (``core``) apart, and layer-rows a word a layer.
2. The streaming engine alone at T = 6 and T = 9, in both emission modes.
3. Sessions whose buffers are held at 20, 60 and 120 words: the cost of three words more at each.

The best of the rounds counts: what others do on the machine only adds.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from typing_extensions import override

from bench.machine import write_result
from caesura.models.decoding.labelling_runs import label_streams
from caesura.models.decoding.passing_engine import PassingEngine
from caesura.models.export.starting_model import starting_model
from caesura.schemas.events import Emission
from caesura.schemas.labels import Labels
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules
from tests.harness.speech import talk

SESSIONS, SESSION_WORDS = 64, 200
BUFFERS = (20, 60, 120)
STEP_WORDS, LOOK_AHEAD_WORDS = 3, 6
COST = "engine_cpu_s_per_million_words"


class TimedEngine(PassingEngine):
    """An engine whose processor time is taken."""

    def __init__(self, engine: OnnxEngine) -> None:
        super().__init__(engine)
        self.cpu_s = 0.0

    @override
    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        """Label, and add up what it took."""
        began_s = time.process_time()
        answers = super().label(requests)
        self.cpu_s += time.process_time() - began_s
        return answers


def asked(description: str | None, *, names: Sequence[str] = ()) -> argparse.Namespace:
    """Return what the command line says: models, rounds, out, and which of ``names`` if there are any."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=Path("models/shipped"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    if names:
        parser.add_argument("--model", action="append", choices=names, help="only this model; may be repeated")
    return parser.parse_args()


def speech() -> list[list[str]]:
    """Return what all sessions say; the same in every run."""
    rng = random.Random(1)  # noqa: S311 - the same speech in every run is wanted
    return [talk(SESSION_WORDS, rng) for _ in range(SESSIONS)]


def decoded(engine: OnnxEngine, texts: list[list[str]], rules: DecodingRules, layers: int) -> dict[str, float]:
    """Decode the texts once; return what a word cost. layers: of the network."""
    timed, before, words = TimedEngine(engine), engine.work, sum(map(len, texts))
    began_s = time.process_time()
    label_streams(timed, texts, language="en", rules=rules)
    whole_s = time.process_time() - began_s
    work = engine.work
    return {
        COST: timed.cpu_s / words * 1e6,
        "core_cpu_s_per_million_words": (whole_s - timed.cpu_s) / words * 1e6,
        "layer_rows_per_word_and_layer": (work.layer_rows - before.layer_rows) / words / layers,
        "begun_buffers_per_100_words": (work.begun_buffers - before.begun_buffers) / words * 100,
        "kept_bytes_per_session": work.kept_bytes / max(work.kept_sessions, 1),
    }


def best(rounds: int, runs: dict[str, Callable[[], dict[str, float]]]) -> dict[str, dict[str, float]]:
    """Run all by turns; return of each the round whose engine cost least."""
    found: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for name, run in runs.items():
            measured = {key: round(value, 3) for key, value in run().items()}
            if name not in found or measured[COST] < found[name][COST]:
                found[name] = measured
    return found


def at_length(engine: OnnxEngine, size: int, words: list[list[str]]) -> dict[str, float]:
    """Return what a word costs that comes to a buffer of ``size`` words; the buffer never begins anew."""
    model, steps, begun = engine.models[0], 6, engine.work.begun_buffers

    def step(end: int) -> list[LabelRequest]:
        first = max(0, end - STEP_WORDS - max(model.look_ahead_words, LOOK_AHEAD_WORDS))  # what is known by then
        return [
            LabelRequest(
                session=f"length-{size}-{number}",
                model_id=model.name,
                buffer_start=0,
                words=tuple(said[:end]),
                first=first,
                end=end - LOOK_AHEAD_WORDS,
            )
            for number, said in enumerate(words)
        ]

    start = size - STEP_WORDS * steps // 2
    engine.label(step(start))
    began_s = time.process_time()
    for number in range(1, steps + 1):
        engine.label(step(start + number * STEP_WORDS))
    cost = (time.process_time() - began_s) / (steps * STEP_WORDS * len(words)) * 1e6
    assert engine.work.begun_buffers - begun == len(words), "a buffer began anew, so this is not what a word costs"
    for number in range(len(words)):
        engine.forget(f"length-{size}-{number}")
    return {COST: cost}


def main() -> None:
    """Measure, print, and write the result beside this file."""
    options, texts = asked(__doc__), speech()
    streaming = OnnxEngine(options.models, threads=1)
    full = OnnxEngine(options.models, threads=1, streams=False)
    layers = len(starting_model(options.models, "en").manifest.look_ahead)
    rules = DecodingRules()
    later = DecodingRules(look_ahead_words=9)
    settled = DecodingRules(emission=Emission.SETTLED)
    result = {
        "decoding": best(
            options.rounds,
            {
                "streaming, T=6": lambda: decoded(streaming, texts, rules, layers),
                "streaming, T=9": lambda: decoded(streaming, texts, later, layers),
                "streaming, T=6, settled": lambda: decoded(streaming, texts, settled, layers),
                "full run, T=6": lambda: decoded(full, texts[:8], rules, layers),
            },
        ),
        "by_buffer_words": best(
            2 * options.rounds,
            {f"{size}": lambda size=size: at_length(streaming, size, texts[:32]) for size in BUFFERS},  # type: ignore[misc]
        ),
    }
    write_result(
        "engine_streaming", f"python -m bench.engine_streaming --rounds {options.rounds}", result, out=options.out
    )


if __name__ == "__main__":
    main()
