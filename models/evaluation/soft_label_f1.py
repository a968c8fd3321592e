"""F1 of labels that stand beside packed held-out text: how a training on a GPU is looked at while it runs.

It chooses between networks; what is published is decoded as the worker decodes (``figures``). A word
whose label nobody knows is not scored.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from caesura.models.data.packing import PackedText
from caesura.models.data.soft_labels import Taught
from caesura.models.evaluation.figures import EITHER, MARK_CLASSES
from caesura.models.evaluation.scoring import count_blocks, scored
from caesura.schemas.labels import Casing, Disfluency, Punctuation

_CASE_CLASSES = {
    "capital first": frozenset((int(Casing.CAPITAL_FIRST),)),
    "all capitals": frozenset((int(Casing.ALL_CAPITALS),)),
}


def packed_scores(text: PackedText, rows: Taught) -> Iterator[tuple[str, float]]:
    """Yield F1 of each class that ``text`` has, as ``rows`` tell it; ``marks`` and ``capitals``: over all of theirs."""
    marks, tags = len(Punctuation) - 1, len(Disfluency)
    parts = np.split(rows, (marks, marks + tags), axis=1)
    heads = (
        ("marks", text.punctuation, MARK_CLASSES),
        ("tags", text.disfluency, EITHER),
        ("capitals", text.casing, _CASE_CLASSES),
    )
    for (head, gold, classes), part in zip(heads, parts, strict=True):
        if not part.shape[1]:
            continue
        counts = count_blocks(gold.tolist(), part.argmax(axis=1).tolist(), classes)
        for name, one in counts.items():
            if one[:, 2].sum():
                yield (head if name == "overall" else name), scored(one).f1
