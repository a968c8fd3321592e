"""How many buffer words a second the engine labels, int8 against fp32, by batch size and threads.

    python -m bench.engine_words_per_second --fp32 build/fp32

Every configuration runs in turn, round after round, in one process, so that a busy machine slows all of them alike;
the best round counts. Ratios are to fp32, one buffer at a time, one thread (to int8 where no fp32 model is given: it is
not shipped, ``models export`` writes it). A buffer word is a word labelled once: a stream labels each of its
words several times before it freezes.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.machine import write_result
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.labelling import LabelRequest

BATCHES = (1, 16, 64)
THREADS = (1, 2)
BUFFERS = 128
WORDS = [
    *("so", "the", "first", "thing", "we", "did", "was", "to", "ask", "everybody", "who", "had", "been", "there"),
    *("uh", "you", "know", "what", "they", "remembered", "and", "it", "turned", "out", "that", "nobody", "agreed"),
    *("don't", "ask", "me", "why", "i", "mean", "it's", "only", "3.5", "kilometres", "from", "here", "isn't", "it"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One configuration: speed and cost, and the speed's ratio to the first row's."""

    weights: str
    batch: int
    threads: int
    words_per_second: float
    cpu_seconds_per_million_words: float
    ratio: float


def buffers(seed: int = 1) -> list[tuple[str, ...]]:
    """Return buffers of 3 to 60 words, mostly short, as a decoder holds them."""
    rng = random.Random(seed)  # noqa: S311 - the same buffers in every run are wanted
    sizes = [min(60, 3 + int(rng.expovariate(1 / 15))) for _ in range(BUFFERS)]
    return [tuple(rng.choice(WORDS) for _ in range(size)) for size in sizes]


def once(engine: OnnxEngine, requests: list[LabelRequest], batch: int) -> tuple[float, float]:
    """Label all requests, ``batch`` at a time; return wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    for start in range(0, len(requests), batch):
        engine.label(requests[start : start + batch])
    return time.perf_counter() - wall, time.process_time() - cpu


def measure(folders: dict[str, Path], rounds: int) -> Iterator[Row]:
    """Yield a row a configuration, the slowest kind first."""
    engines = {
        (name, threads): OnnxEngine(path, threads=threads) for name, path in folders.items() for threads in THREADS
    }
    texts = buffers()
    words = sum(map(len, texts))
    best: dict[tuple[str, int, int], tuple[float, float]] = {}
    for turn in range(rounds + 1):
        for (name, threads), engine in engines.items():
            model = engine.models[0].name
            requests = [
                LabelRequest(session=str(k), model_id=model, buffer_start=0, words=text) for k, text in enumerate(texts)
            ]
            for batch in BATCHES:
                key = (name, batch, threads)
                seen = once(engine, requests, batch)
                if turn:  # the first turn warms up
                    best[key] = min(seen, best.get(key, seen))
    slowest = best[next(iter(folders)), 1, 1][0]
    for (name, batch, threads), (wall, cpu) in best.items():
        yield Row(
            weights=name,
            batch=batch,
            threads=threads,
            words_per_second=round(words / wall),
            cpu_seconds_per_million_words=round(cpu / words * 1e6, 1),
            ratio=round(slowest / wall, 2),
        )


def main() -> None:
    """Measure, print the table, and write the result beside this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--int8", type=Path, default=Path("models/shipped"), help="models folder of the int8 weights")
    parser.add_argument("--fp32", type=Path, help="models folder of the fp32 weights")
    parser.add_argument("--rounds", type=int, default=5, help="rounds, of which the best counts")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    folders = {"fp32": options.fp32} if options.fp32 else {}
    rows = list(measure({**folders, "int8": options.int8}, options.rounds))
    print("| weights | batch | threads | words/s | CPU s / million words | ratio |\n|---|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row.weights} | {row.batch} | {row.threads} | {row.words_per_second} "
            f"| {row.cpu_seconds_per_million_words} | {row.ratio} |"
        )
    command = "python -m bench.engine_words_per_second" + (f" --fp32 {options.fp32}" if options.fp32 else "")
    write_result("engine_words_per_second", command, {"rows": [asdict(row) for row in rows]}, out=options.out)


if __name__ == "__main__":
    main()
