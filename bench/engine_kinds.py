"""What a word costs in the engine by what multiplies: every kind that this processor is, and ONNX Runtime, by turns.

    python -m bench.engine_kinds

The same speech in each language, three words a step, so many sessions a pass; attention is compiled in all of them.
Processor seconds a million words of the engine alone, one thread, the best of the rounds: what others do on the machine
only adds. A Chinese word is one of the dictionary's, as the worker cuts them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain, islice
from pathlib import Path

from bench.engine_streaming import COST, SESSION_WORDS, SESSIONS, TimedEngine, asked, best, speech
from bench.machine import write_result
from caesura.models.data.chinese_frames import CHINESE_FRAMES
from caesura.models.data.spoken_patterns import add_chinese, pattern_documents
from caesura.models.decoding.labelling_runs import label_streams
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.inference.network.compiled_kernels import CompiledKernels
from caesura.worker.inference.network.int8_matmul import KINDS

RUNTIME = "onnxruntime"
AT_ONCE = (SESSIONS, 16, 4)
MODELS = {"en-ct-12x384": "en", "en-ct-3x384": "en", "zh-ct-6x768": "zh", "zh-ct-4x512": "zh"}
"""The language of each model that is measured."""


def chinese_speech() -> list[list[str]]:
    """Return what all Chinese sessions say, sentences of our own: the same in every run."""
    words = chain.from_iterable(document.words for document in pattern_documents(CHINESE_FRAMES, add_chinese))
    return [list(islice(words, SESSION_WORDS)) for _ in range(SESSIONS)]


def opened(models: Path, name: str, kind: str) -> OnnxEngine:
    """Return an engine whose products are of that kind, or ONNX Runtime's."""
    compiled = CompiledKernels.ATTENTION if kind == RUNTIME else CompiledKernels.ALL
    return OnnxEngine(models, active=[name], threads=1, compiled=compiled)


def cost(engine: OnnxEngine, kind: str, language: str, texts: list[list[str]], sessions: int) -> dict[str, float]:
    """Decode the texts, so many at once; return the engine's processor seconds a million words."""
    if kind != RUNTIME:
        from caesura.worker.inference.native.int8_kernels import choose  # noqa: PLC0415 - not everywhere

        choose(kind)
    timed = TimedEngine(engine)
    for first in range(0, len(texts), sessions):
        label_streams(timed, texts[first : first + sessions], language=language)
    return {COST: timed.cpu_s / sum(map(len, texts)) * 1e6}


def main() -> None:
    """Measure, print, and write the result beside this file."""
    options, texts = asked(__doc__, names=list(MODELS)), {"en": speech(), "zh": chinese_speech()}
    kinds = [*KINDS, RUNTIME]
    runs: dict[str, Callable[[], dict[str, float]]] = {}
    for name in options.model or MODELS:
        engines = {kind: opened(options.models, name, kind) for kind in kinds}
        for sessions in AT_ONCE:
            for kind, engine in engines.items():
                run = partial(cost, engine, kind, MODELS[name], texts[MODELS[name]], sessions)
                runs[f"{name}, {sessions} sessions a pass, {kind}"] = run
    chosen = "".join(f" --model {name}" for name in options.model or ())
    command = f"python -m bench.engine_kinds --rounds {options.rounds}{chosen}"
    write_result("engine_kinds", command, best(options.rounds, runs), out=options.out)


if __name__ == "__main__":
    main()
