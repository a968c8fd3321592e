"""The last rows of the table side by side: models as the worker loads them, offline and by the worker's own decoding.

F1 as a stream is that of the labels as they are frozen, a part of running text a session. Cost is the processor time of
one thread a word, by the worker's engine: offline of windows as the other systems read them, one at a time, as a stream
of the text cut into ``STREAMS`` sessions that go on side by side, the decoding of ``core`` included, every word
computed once. How
late a word is kept depends on its sentence; ``python -m caesura.models sweep`` measures it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from caesura.models.data.packed_tests import PackedTest
from caesura.models.decoding.labelling_runs import Labelled, label_offline, label_streams
from caesura.models.evaluation.figures import MARK_CLASSES
from caesura.models.evaluation.papers.tables import f1_cell
from caesura.models.evaluation.scoring import count_blocks
from caesura.models.evaluation.windows import DoubleOverlap
from caesura.models.export.stored_network import read_network
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.inference.model.model_folder import read_models_folder
from caesura.worker.ports.engine import EngineModel

STREAMS = 64
_WINDOW = DoubleOverlap()


def ours_rows(models: Path, tests: Mapping[str, PackedTest], vocabulary: Sequence[str]) -> Iterator[list[str]]:
    """Yield a row for each active English model of a models folder.

    tests: in the order of the columns; cost is measured on the first. vocabulary: of the pieces that they are packed
    with, which a model's need not be: their words are what is read.
    """
    engine = OnnxEngine(models, threads=1)
    engine.warm_up()
    sizes = {
        stored.manifest.name: sum(weights.numel() for weights in read_network(stored).parameters())
        for stored in read_models_folder(models)
        if stored.manifest.language == "en"
    }
    for model in engine.models:
        if model.active and model.language == "en":
            yield [
                model.name,
                f"{sizes[model.name] / 1e6:.1f} M",
                "see its card",
                *_figures(engine, model, tests, vocabulary),
            ]


def _figures(
    engine: OnnxEngine, model: EngineModel, tests: Mapping[str, PackedTest], vocabulary: Sequence[str]
) -> Iterator[str]:
    for test in tests.values():
        words = test.words(vocabulary)
        parts = [words[begin:end] for begin, end in test.running.tolist()]
        yield _f1(test, [_offline(engine, model, part) for part in parts])
        yield _f1(test, label_streams(engine, parts, language="en"))
    words = next(iter(tests.values())).words(vocabulary)
    length = -(-len(words) // STREAMS)
    streams = [words[begin : begin + length] for begin in range(0, len(words), length)]
    yield _cost(lambda: _offline(engine, model, words), len(words))
    yield _cost(lambda: label_streams(engine, streams, language="en"), len(words))


def _offline(engine: OnnxEngine, model: EngineModel, words: Sequence[str]) -> Labelled:
    return label_offline(engine, model.name, words, cut=partial(_WINDOW.windows, 0))


def _f1(test: PackedTest, labelled: Sequence[Labelled]) -> str:
    marks = [mark for one, _ in labelled for mark in one]
    return f1_cell({"": count_blocks(test.text.punctuation.tolist(), marks, MARK_CLASSES)["overall"]})


def _cost(label: Callable[[], object], words: int) -> str:
    """Return the microseconds a word of the second time; the first is not like the others."""
    label()
    began = time.process_time()
    label()
    return f"{1e6 * (time.process_time() - began) / words:.0f}"
