"""The papers' systems side by side: marks on REF and ASR offline and as a stream of chunks, size, cost and delay.

Cost is the processor time of one thread that a word takes, measured with the weights that a network begins with, which
it does not depend on (a SAPR is made to write no mark; each one that it writes is a step more); PyTorch reads as many
windows or chunks at once as a batch holds, so it is the cost of bulk labelling. As a stream every system is read in
overlapped chunks here, for one that sees all that it is given has no other way. Ours come last
(``ours``): they have the worker's own decoding instead. A system of which no run is done has
no row.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from statistics import mean

import torch

from caesura.models.data.packed_tests import PackedTest
from caesura.models.evaluation.papers.plans import PLANS, Scope
from caesura.models.evaluation.papers.tables import Results, f1_cell, markdown
from caesura.models.evaluation.windows import CHUNKS, DoubleOverlap, label_test
from caesura.models.networks.registry import Network, build
from caesura.models.networks.sapr import SAPR
from caesura.worker.errors import FatalError

SYSTEMS = {
    "T-BRNN": "t-brnn, running",
    "Word-CNN": "word-cnn, running",
    "SAPR": "sapr, running",
    "encoder, marks alone": "single, marks of talks",
    "encoder, feature sharing": "fs, SEP",
    "encoder, DP": "dp, SEP",
    "encoder, PD": "pd, SEP",
    "encoder, before self-training": "baseline",
    "encoder, vanilla self-training": "alpha 1.0",
}
_HEAD = (
    "system",
    "parameters",
    "words read",
    "REF",
    "REF, chunks",
    "ASR",
    "ASR, chunks",
    "CPU us a word",
    "the same, chunks",
)


def mean_delay_words(words: int, overlap: DoubleOverlap = CHUNKS) -> float:
    """Return how many further words a word of a long text waits for, on average, until its label is kept."""
    return mean(
        window.end - 1 - place for window in overlap.windows(0, words) for place in range(window.first, window.last)
    )


def cpu_us_a_word(network: Network, test: PackedTest, leading: int, overlap: DoubleOverlap) -> float:
    """Return the microseconds of processor time that a network takes for a word of a test's running text."""
    if isinstance(network, SAPR):
        with torch.no_grad():
            network.label.bias[0] = 1e4  # O, whatever the word
    label_test(network, test, "running", leading=leading, overlap=overlap)  # the first time is not like the others
    began = time.process_time()
    label_test(network, test, "running", leading=leading, overlap=overlap)
    return 1e6 * (time.process_time() - began) / test.text.words


def side_by_side(
    scope: Scope,
    results: Results,
    cost_test: PackedTest,
    pieces: int,
    leading: int,
    *,
    ours: Iterable[Sequence[str]] = (),
) -> Iterator[tuple[str, str]]:
    """Yield the table. cost_test: the text that cost is measured on. pieces: how many the vocabulary has.

    ours: the last rows.
    """
    torch.set_num_threads(1)
    shapes = {run.name.rsplit(".", 1)[0]: run for plan in PLANS.values() for run in plan({}, scope)}
    rows: list[Sequence[str]] = []
    for label, name in SYSTEMS.items():
        if name not in results.systems():
            continue
        network = build(shapes[name].kind, dict(shapes[name].fields) | {"vocabulary_size": pieces})
        size, facts = sum(weights.numel() for weights in network.parameters()), results.facts(name)
        if size != facts["parameters"]:
            raise FatalError(f"{name} has {facts['parameters']} parameters; --start, --layers and --width say {size}")
        costs = [cpu_us_a_word(network, cost_test, leading, overlap) for overlap in (shapes[name].windows, CHUNKS)]
        rows.append(
            [
                label,
                f"{size / 1e6:.1f} M",
                f"{facts['words']:,}",
                *_figures(results, name),
                *(f"{cost:.0f}" for cost in costs),
            ]
        )
    delay = mean_delay_words(10_000)
    heading = f"Side by side; chunks keep a word {delay:.1f} words late on average, {CHUNKS.size - 1} at most"
    yield heading, markdown(_HEAD, [*rows, *ours])


def _figures(results: Results, name: str) -> Iterator[str]:
    chunks = f"{CHUNKS.size},{CHUNKS.left},{CHUNKS.right}"
    for test in ("REF", "ASR"):
        for key in (f"{test}|running", f"{test}|running|{chunks}"):
            yield f1_cell(results.marks(name, key)["overall"])
