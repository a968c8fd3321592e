"""What decoding's numbers cost and bring: F1, delay in words and cost a word of the stream, one number varied a row.

Held-out open text only, so that nothing is chosen on a test set. L and how it is spread are properties of the trained
weights: each value wants a training of its own (``docs/experiments.md`` has those that there were).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.data.iwslt import read_iwslt
from caesura.models.data.preparation import held_out
from caesura.models.data.recipes import Recipe
from caesura.models.decoding.labelled_stream import WatchedEngine, active_model, run_stream
from caesura.models.decoding.labelling_runs import Progress
from caesura.models.decoding.overlapping_chunks import label_chunks
from caesura.models.evaluation.english import BENCHMARKS
from caesura.models.evaluation.figures import MARK_CLASSES
from caesura.models.evaluation.scoring import Counts, Score, count_blocks, difference, scored
from caesura.schemas.events import Emission
from caesura.worker.core.language.normalisation import model_view
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.engine import Engine

SWEEP_CORPORA = ("bitcointranscripts", "crd3", "changelog", "rev16")

_DEFAULT = DecodingRules()
_STEP_WORDS = (1, 2, 3, 4, 5)
_LOOK_AHEAD_WORDS = (2, 4, 6, 9, 12)
_CONTEXT_WORDS = (0, 5, 10, 20, 30)
_MOST_CONTEXT_WORDS = (0, 32, 64, 96)

Decoded = tuple[list[int], list[int]]
"""The marks of a text, and the delay of each word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldText:
    """Texts to be decoded, each on its own, and how their marks are scored together.

    spread: takes the marks of all words to the tokens that ``gold`` counts.
    """

    name: str
    texts: Sequence[Sequence[str]]
    gold: Sequence[int]
    spread: Callable[[list[int]], Sequence[int]] = list


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingWay:
    """A way to decode a text, by name."""

    name: str
    run: Callable[[WatchedEngine, Sequence[str]], Decoded]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingFigures:
    """One row: delays in words from a word's arrival to its label, buffer words read and CPU seconds a word.

    counts: the overall class's, block by block, so that two rows of one text can be paired.
    """

    text: str
    decoding: str
    words: int
    overall: Score
    period: Score
    delay_mean_words: float
    delay_p50_words: float
    delay_p95_words: float
    buffer_words_a_word: float
    cpu_s_a_million_words: float
    counts: Counts


def held_out_text(recipe: Recipe, corpora: Path, *, max_words: int, names: Sequence[str] = SWEEP_CORPORA) -> GoldText:
    """Return the first words of the held-out documents of several corpora, so many of each."""
    documents: list[AlignedDocument] = []
    for name in names:
        documents += held_out(recipe, corpora, name, max_words=max_words)
    gold = [mark for document in documents for mark in document.punctuation]
    return GoldText(name="held-out", texts=[document.words for document in documents], gold=gold)


def benchmark_text(corpora: Path, name: str) -> GoldText:
    """Return REF or ASR of IWSLT2011, one text, scored on its own tokens."""
    text = read_iwslt(corpora, BENCHMARKS[name])
    return GoldText(name=name, texts=[text.words], gold=text.marks, spread=text.spread)


def stream(name: str = "stream", rules: DecodingRules = _DEFAULT, *, language: str = "en") -> DecodingWay:
    """Return decoding through ``core``."""

    def run(engine: WatchedEngine, words: Sequence[str]) -> Decoded:
        streamed = run_stream(engine, words, language=language, rules=rules)
        return streamed.marks, streamed.delays

    return DecodingWay(name=name, run=run)


def chunks(name: str = "overlapped chunks 30/15/10", *, language: str = "en") -> DecodingWay:
    """Return the overlapped-chunk split and merge."""

    def run(engine: WatchedEngine, words: Sequence[str]) -> Decoded:
        chunked = label_chunks(engine, active_model(engine, language), [model_view(word) for word in words])
        return chunked.marks, chunked.delays

    return DecodingWay(name=name, run=run)


def sweep() -> Iterator[DecodingWay]:
    """Yield the default, then each of F, T, the left context and how much of it may gather varied alone.

    F stands in both emission modes: it is what a settled word waits for beyond L, and little beside a sentence.
    """
    rules = _DEFAULT
    default = (rules.step_words, rules.look_ahead_words, rules.context_words)
    yield stream("sentence, F={} T={} context={}".format(*default))
    settled = replace(rules, emission=Emission.SETTLED)
    yield stream("settled, F={} T={} context={}".format(*default), settled)
    for mode in (rules, settled):
        for step_words in _STEP_WORDS:
            if step_words != rules.step_words:
                yield stream(f"{mode.emission.value}, F={step_words}", replace(mode, step_words=step_words))
    for words in _LOOK_AHEAD_WORDS:
        if words != rules.look_ahead_words:
            yield stream(f"sentence, T={words}", replace(rules, look_ahead_words=words))
    for words in _CONTEXT_WORDS:
        if words != rules.context_words:
            yield stream(f"sentence, context={words}", replace(rules, context_words=words))
    for most in _MOST_CONTEXT_WORDS:
        if most != rules.max_context_words:
            kept = min(most, rules.context_words)
            yield stream(f"sentence, most={most}", replace(rules, max_context_words=most, context_words=kept))


def against_chunks() -> tuple[DecodingWay, ...]:
    """Return the chunks, and the streams that they are compared with: the paper's (no left context) and the default.

    The paper's delay of 10 words is a settled word's; a sentence's words wait for its end besides.
    """
    settled = replace(_DEFAULT, emission=Emission.SETTLED)
    return (
        stream("stream, settled", settled),
        stream("stream, settled, no left context", replace(settled, max_context_words=0, context_words=0)),
        stream("stream, sentence"),
        chunks(),
    )


def decoded(
    engine: Engine,
    text: GoldText,
    way: DecodingWay,
    *,
    progress: Progress = lambda _: None,
    clock: Callable[[], float] = time.process_time,
) -> DecodingFigures:
    """Decode every text one way, one after the other, and return its row. clock: seconds of processor time."""
    watched, marks, delays = WatchedEngine(engine, clock=clock), list[int](), list[int]()
    for words in text.texts:
        labelled, waited = way.run(watched, words)
        marks += labelled
        delays += waited
        progress(len(words))
    counts = count_blocks(text.gold, text.spread(marks), MARK_CLASSES)
    p50, p95 = np.percentile(delays, (50, 95))
    return DecodingFigures(
        text=text.name,
        decoding=way.name,
        words=len(marks),
        overall=scored(counts["overall"]),
        period=scored(counts["period"]),
        delay_mean_words=round(float(np.mean(delays)), 2),
        delay_p50_words=float(p50),
        delay_p95_words=float(p95),
        buffer_words_a_word=round(watched.buffer_words / len(marks), 2),
        cpu_s_a_million_words=round(watched.cpu_s / len(marks) * 1e6, 1),
        counts=counts["overall"],
    )


def figures_table(rows: Sequence[DecodingFigures]) -> str:
    """Return the rows of one text as a Markdown table; difference (paired bootstrap) and CPU are to the first row."""
    lines = [
        "| text | decoding | overall F1 | difference | period F1 | delay: mean / p50 / p95 | buffer words | CPU |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        less = "·" if row is rows[0] else str(difference(row.counts, rows[0].counts))
        lines.append(
            f"| {row.text} | {row.decoding} | {row.overall} "
            f"| {less} | {row.period.f1:.1f} | {row.delay_mean_words:.1f} / {row.delay_p50_words:.0f} "
            f"/ {row.delay_p95_words:.0f} | {row.buffer_words_a_word:.1f} "
            f"| {row.cpu_s_a_million_words / rows[0].cpu_s_a_million_words:.2f} |"
        )
    return "\n".join(lines)
