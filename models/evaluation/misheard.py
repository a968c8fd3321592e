"""How well marks are set in misheard text: F1 of the stream with a recogniser's errors, drawn by rule, more and more.

The errors are those of ``recogniser_errors``, drawn alike for every model: the same words are misheard, so
two models are compared on the same draws. Where a word is swallowed its mark goes to the word before it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.data.recogniser_errors import MisheardWords
from caesura.models.decoding.labelling_runs import Progress, label_streams
from caesura.models.evaluation.figures import MARK_CLASSES
from caesura.models.evaluation.scoring import Counts, count_blocks, difference, scored
from caesura.worker.ports.engine import Engine

RATES = (0.0, 0.05, 0.1, 0.2)
"""Errors a word."""

MISHEARD_CORPORA = ("rev16", "earnings22", "audreyt_english", "europarl_debates")
"""Podcasts, calls about earnings, interviews, debates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MisheardFigure:
    """The marks of one text at one rate, by one model: counts of the overall class, block by block."""

    text: str
    rate: float
    model: str
    counts: Counts


def misheard(
    documents: Sequence[AlignedDocument], alike: MisheardWords, rate: float, *, seed: int = 1
) -> list[AlignedDocument]:
    """Return the documents as a recogniser may have heard them. rate: errors a word."""
    return [alike.heard(one, random.Random(f"{seed} {one.name}"), rate=rate) for one in documents]


def misheard_figure(
    engine: Engine,
    documents: Sequence[AlignedDocument],
    *,
    text: str,
    rate: float,
    model: str,
    language: str,
    progress: Progress = lambda _: None,
) -> MisheardFigure:
    """Label documents, each a session, and count their marks against the text's own."""
    labelled = label_streams(engine, [one.words for one in documents], language=language, progress=progress)
    gold = [mark for one in documents for mark in one.punctuation]
    counts = count_blocks(gold, [mark for marks, _ in labelled for mark in marks], MARK_CLASSES)
    return MisheardFigure(text=text, rate=rate, model=model, counts=counts["overall"])


def misheard_table(figures: Sequence[MisheardFigure]) -> str:
    """Return a line a text and rate, a column a model, then each further model's F1 less the first one's."""
    models = list(dict.fromkeys(one.model for one in figures))
    cells: dict[tuple[str, float], dict[str, Counts]] = {}
    for one in figures:
        cells.setdefault((one.text, one.rate), {})[one.model] = one.counts
    for rate in dict.fromkeys(one.rate for one in figures):
        texts = [by_model for (_, at), by_model in cells.items() if at == rate]
        cells["all", rate] = {model: np.concatenate([by_model[model] for by_model in texts]) for model in models}
    head = ["text", "errors a hundred words", *models, *(f"{model} less {models[0]}" for model in models[1:])]
    lines = [head, ["---"] * len(head)]
    for (text, rate), by_model in cells.items():
        lines.append([text, f"{100 * rate:.0f}", *(str(scored(by_model[model])) for model in models)])
        lines[-1] += [str(difference(by_model[model], by_model[models[0]])) for model in models[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
