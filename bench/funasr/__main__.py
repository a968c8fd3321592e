"""Words a processor second of Caesura's engine and of FunASR's streaming punctuation, the same work given to both.

    python -m venv build/funasr && build/funasr/bin/pip install funasr-onnx
    python -m bench.funasr --python build/funasr/bin/python

``funasr-onnx`` (``CT_Transformer_VadRealtime``) has an environment of its own: it wants an older NumPy. Its weights are
not to be had here, so a network with random weights stands for them (``bench/funasr/network.py``); ours has as many
layers of the same sizes (``bench/funasr/our_network.py``). In both a look-up from the word decides the label: text,
labels and segment lengths are the same, which is checked. One core and one thread each; words delivered one, three and
ten at a time.

FunASR's sessions run one after another: it has no batches. Ours run alone (``alone``) and ``--together`` at a time, as
the worker does it; the ratio that counts is of the latter to FunASR's faster precision. What ours spends includes the
core: steps, cuts, segments. Exit status 1 where the segments differ.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.funasr.network import LAYERS, export
from bench.funasr.our_network import export_lowest
from bench.funasr.same_text import COMMA, NONE, PERIOD, WEIGHT, look_up, sentences, vocabulary
from bench.machine import write_result
from bench.worker_process import ROOT
from schemas.events import Word, WordsEvent
from worker.adapters.onnx.engine import OnnxEngine
from worker.core.context import DecodingContext, Origin
from worker.core.labelling import LabelRequest, Labels
from worker.core.rules import DecodingRules, ModelTable
from worker.core.session import Session
from worker.core.words import whitespace_segmenters

_A_TIME = (1, 3, 10)
_OUR_MARK = {NONE: 0, COMMA: 1, PERIOD: 2}
_THEIR_MARK = {NONE: 1, COMMA: 2, PERIOD: 3}


class DecidedEngine:
    """Our engine, to whose scores a number by the word is added."""

    def __init__(self, models: Path, decided: dict[str, int]) -> None:
        self.engine = OnnxEngine(models, threads=1)
        marks = len(_OUR_MARK) + 1
        self._added = np.eye(marks, dtype=np.float32) * np.float32(WEIGHT)
        self._mark = {word: _OUR_MARK[label] for word, label in decided.items()}

    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        """Label each request."""
        decided = []
        for request, scores in zip(requests, self.engine.score(requests), strict=True):
            marks = [self._mark[request.words[place]] for place in request.wanted]
            decided.append([scores[0] + self._added[marks], *scores[1:]])
        return self.engine.labels(requests, decided)


def decoded(engine: DecidedEngine, texts: Sequence[Sequence[str]], a_time: int) -> list[list[int]]:
    """Decode sessions together, so many words of each at a time; return their segments' lengths."""
    context = DecodingContext(
        topic="bench",
        partition=0,
        rules=DecodingRules(),
        models=ModelTable.of(engine.engine.models),
        segmenters=whitespace_segmenters,
    )
    sessions: dict[int, Session] = {}
    lengths: list[list[int]] = [[] for _ in texts]
    longest = max(map(len, texts))
    for seq, start in enumerate(range(0, longest, a_time)):
        for number, text in enumerate(texts):
            words = tuple(Word(text=one) for one in text[start : start + a_time])
            event = WordsEvent(version="1.0", session=f"s-{number}-{a_time}", seq=seq, lang="en", words=words)
            origin = Origin(offset=seq, appended_ms=0, polled_ms=0, time_ms=0)
            if seq == 0:
                sessions[number] = Session.open(event, origin, context)
            if words:
                sessions[number].offer(event, origin)
        waiting = [number for number, session in sessions.items() if session.request(0) is not None]
        while waiting:
            requests = [request for number in waiting if (request := sessions[number].request(0)) is not None]
            for number, labels in zip(waiting, engine.label(requests), strict=True):
                sessions[number].resolve(labels, 0)
            waiting = [number for number in waiting if sessions[number].request(0) is not None]
        for number, session in sessions.items():
            lengths[number] += [len(out.segment.words) for out in session.take_segments()]
    for number in sessions:
        engine.engine.forget(f"s-{number}-{a_time}")
    return lengths


def ours(texts: Sequence[Sequence[str]], decided: dict[str, int], models: Path, alone: int) -> list[dict[str, object]]:
    """Measure our side: all texts together, and the first ``alone`` of them one after another."""
    with tempfile.TemporaryDirectory() as place:
        export_lowest(models, LAYERS, Path(place))
        engine = DecidedEngine(Path(place), decided)
    decoded(engine, [text[:60] for text in texts[:8]], 3)
    figures: list[dict[str, object]] = []
    for a_time in _A_TIME:
        for name, groups in (("together", [texts]), ("alone", [[text] for text in texts[:alone]])):
            began_s = time.process_time()
            lengths = [one for group in groups for one in decoded(engine, group, a_time)]
            spent_s, words = time.process_time() - began_s, sum(len(text) for group in groups for text in group)
            figures.append(
                {
                    "sessions": name,
                    "words_a_time": a_time,
                    "words": words,
                    "words_a_cpu_second": round(words / spent_s, 1),
                    "segment_lengths": lengths,
                }
            )
    return figures


def theirs(
    python: Path, texts: Sequence[Sequence[str]], decided: dict[str, int], sessions: int
) -> list[dict[str, object]]:
    """Measure FunASR's side, in its own environment."""
    with tempfile.TemporaryDirectory() as place:
        folder, given = Path(place) / "model", Path(place) / "texts.json"
        export(folder, list(decided), [_THEIR_MARK[label] for label in decided.values()], WEIGHT)
        given.write_text(json.dumps({"texts": texts, "a_time": _A_TIME, "sessions": sessions}), encoding="utf-8")
        done = subprocess.run(  # noqa: S603 - our own script
            [str(python), str(ROOT / "bench/funasr/their_side.py"), str(folder), str(given)],
            env={"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1"},
            check=True,
            capture_output=True,
            text=True,
        )
    told: list[dict[str, object]] = json.loads(done.stdout.splitlines()[-1])
    return told


def agree(lengths: object, others: object) -> bool:
    """Tell whether sessions have the same segments; the last of each may be cut by one alone, for want of words."""
    assert isinstance(lengths, list)
    assert isinstance(others, list)
    return all(one[: len(other)] == other[: len(one)] for one, other in zip(lengths, others, strict=False))


def main() -> int:
    """Measure both, compare, print, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, required=True, help="of an environment with funasr-onnx")
    parser.add_argument("--models", type=Path, default=Path("models/shipped"))
    parser.add_argument("--together", type=int, default=64, help="our sessions at a time")
    parser.add_argument("--words", type=int, default=200, help="words a session")
    parser.add_argument("--one-by-one", type=int, default=4, help="sessions that run alone, FunASR's and ours")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    decided = look_up(vocabulary(options.models))
    texts = sentences(list(decided), options.together, options.words)
    mine = ours(texts, decided, options.models, options.one_by_one)
    yours = theirs(options.python, texts, decided, options.one_by_one)
    rows, same = [], True
    for a_time in _A_TIME:
        together, alone = (one for one in mine if one["words_a_time"] == a_time)
        best = max((one for one in yours if one["words_a_time"] == a_time), key=_speed)
        same = same and agree(alone["segment_lengths"], best["segment_lengths"])
        same = same and agree(alone["segment_lengths"], together["segment_lengths"])
        row = {"words_a_time": a_time, "ours": _speed(together), "ours_alone": _speed(alone)}
        row |= {f"funasr_{one['precision']}": _speed(one) for one in yours if one["words_a_time"] == a_time}
        row |= {
            "times": round(_speed(together) / _speed(best), 1),
            "times_alone": round(_speed(alone) / _speed(best), 1),
        }
        rows.append(row)
    command = f"python -m bench.funasr --together {options.together} --words {options.words}"
    measured = {"layers": LAYERS, "same_segments": same, "unit": "words a CPU second", "rows": rows}
    write_result("funasr", command, measured)
    return 0 if same else 1


def _speed(figure: dict[str, object]) -> float:
    return float(str(figure["words_a_cpu_second"]))


if __name__ == "__main__":
    raise SystemExit(main())
