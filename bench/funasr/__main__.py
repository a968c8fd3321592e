"""Words a processor second of Caesura's engine and of FunASR's streaming punctuation, the same work given to both.

    python -m venv build/funasr && build/funasr/bin/pip install funasr-onnx
    python -m bench.funasr --python build/funasr/bin/python

``funasr-onnx`` (``CT_Transformer_VadRealtime``) has an environment of its own: it wants an older NumPy. Its weights are
not to be had here, so a network with random weights stands for them (``bench/funasr/network.py``); ours has as many
layers of the same sizes (``bench/funasr/our_network.py``). In both a look-up from the word decides the label: text,
labels and segment lengths are the same, which is checked. One core and one thread each, by turns: ``--rounds`` of
both, words delivered one, three and ten at a time; figures are medians, ratios those of a round.

FunASR's sessions run one after another: it has no batches. Ours run alone (``alone``) and ``--together`` at a time, as
the worker does it; the ratio that counts is of the latter to FunASR's faster precision. What ours spends includes the
core: steps, cuts, segments. Exit status 1 where the segments differ.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from bench.funasr.network import LAYERS, export
from bench.funasr.our_network import export_lowest
from bench.funasr.our_side import DecidedEngine, decoded
from bench.funasr.same_text import COMMA, NONE, PERIOD, WEIGHT, look_up, sentences, vocabulary
from bench.machine import write_result
from bench.worker_process import ROOT

_A_TIME = (1, 3, 10)
_THEIR_MARK = {NONE: 1, COMMA: 2, PERIOD: 3}

_Lengths = list[list[int]]


class Theirs:
    """FunASR's side as a process of its own that answers a line with a line. precisions: those that it has."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.precisions: list[str] = json.loads(self._answer())

    def decoded(self, precision: str, a_time: int) -> tuple[float, _Lengths]:
        """Return CPU seconds and the segments' lengths of all its texts."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([precision, a_time]) + "\n")
        self._process.stdin.flush()
        spent_s, lengths = json.loads(self._answer())
        return spent_s, lengths

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


@contextmanager
def theirs(python: Path, texts: Sequence[Sequence[str]], decided: dict[str, int]) -> Iterator[Theirs]:
    """Start FunASR's side, in its own environment."""
    with tempfile.TemporaryDirectory() as place:
        folder, given = Path(place) / "model", Path(place) / "texts.json"
        export(folder, list(decided), [_THEIR_MARK[label] for label in decided.values()], WEIGHT)
        given.write_text(json.dumps(texts), encoding="utf-8")
        with subprocess.Popen(  # noqa: S603 - our own script
            [str(python), str(ROOT / "bench/funasr/their_side.py"), str(folder), str(given)],
            env={"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            yield Theirs(process)


def agree(lengths: _Lengths, others: _Lengths) -> bool:
    """Tell whether sessions have the same segments as the first of the others, and each has some.

    The last of each may be cut by one alone, for want of words.
    """
    pairs = zip(lengths, others[: len(lengths)], strict=True)
    return bool(lengths) and all(one and one[: len(other)] == other[: len(one)] for one, other in pairs)


def measure(
    engine: DecidedEngine, other: Theirs, texts: Sequence[Sequence[str]], few: int, a_time: int, rounds: int
) -> tuple[dict[str, float], bool]:
    """Return figures of one delivery, words a CPU second, and whether the segments were the same.

    few: how many of the texts FunASR has, and ours that run alone.
    """
    speeds: list[dict[str, float]] = []
    same = True
    for _ in range(rounds):
        speed: dict[str, float] = {}
        words = sum(map(len, texts[:few]))
        together_s, together = decoded(engine, texts, a_time)
        alone = [decoded(engine, [text], a_time) for text in texts[:few]]
        same = same and agree([lengths for _, (lengths,) in alone], together)
        for precision in other.precisions:
            spent_s, lengths = other.decoded(precision, a_time)
            speed[f"funasr_{precision}"] = words / spent_s
            same = same and agree(lengths, together)
        speed["ours"] = sum(map(len, texts)) / together_s
        speed["ours_alone"] = words / sum(spent_s for spent_s, _ in alone)
        best = max(speed[f"funasr_{precision}"] for precision in other.precisions)
        speeds.append(speed | {"times": speed["ours"] / best, "times_alone": speed["ours_alone"] / best})
    row = {name: round(median(speed[name] for speed in speeds), 1) for name in speeds[0]}
    spread = sorted(round(speed["times"], 1) for speed in speeds)
    return {"words_a_time": a_time, **row, "times_least": spread[0], "times_most": spread[-1]}, same


def main() -> int:
    """Measure both, compare, print, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, required=True, help="of an environment with funasr-onnx")
    parser.add_argument("--models", type=Path, default=Path("models/shipped"))
    parser.add_argument("--together", type=int, default=64, help="our sessions at a time")
    parser.add_argument("--words", type=int, default=200, help="words a session")
    parser.add_argument("--one-by-one", type=int, default=4, help="sessions that run alone, FunASR's and ours")
    parser.add_argument("--rounds", type=int, default=7, help="turns of both")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    decided = look_up(vocabulary(options.models))
    texts = sentences(list(decided), options.together, options.words)
    with tempfile.TemporaryDirectory() as place:
        export_lowest(options.models, LAYERS, Path(place))
        engine = DecidedEngine(Path(place), decided)
    decoded(engine, [text[:60] for text in texts[:8]], 3)
    gc.collect()
    gc.freeze()  # as the worker does once it has started
    few = options.one_by_one
    with theirs(options.python, texts[:few], decided) as other:
        told = [measure(engine, other, texts, few, a_time, options.rounds) for a_time in _A_TIME]
    same = all(one for _, one in told)
    command = f"python -m bench.funasr --together {options.together} --words {options.words} --rounds {options.rounds}"
    rows = [row for row, _ in told]
    write_result(
        "funasr", command, {"layers": LAYERS, "same_segments": same, "unit": "words a CPU second", "rows": rows}
    )
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
