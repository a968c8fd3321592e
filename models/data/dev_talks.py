"""IWSLT ``dev2012`` cut into talks, found by their originals, and those split in two: one half tunes, one is reported.

``dev2012`` is one stream without borders. A talk lies between the first and the last place where eight words of its
original occur that occur nowhere else; what no original covers (about a tenth) belongs to neither half.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from caesura.models.data.benchmark_corpora import ted_text
from caesura.models.data.corpora import place
from caesura.models.data.iwslt import BenchmarkText, read_iwslt
from caesura.worker.core.language.normalisation import model_view

_ORIGINALS = "ted_dev2012_originals.jsonl.xz"
_RUN = 8


def dev_half(corpora: Path, *, tunes: bool) -> list[BenchmarkText]:
    """Return the talks of one half, in the order of ``dev2012``. A talk's half is drawn from its name."""
    return [talk for name, talk in dev_talks(corpora) if (place(name) % 2 == 0) == tunes]


def dev_talks(corpora: Path) -> Iterator[tuple[str, BenchmarkText]]:
    """Yield (name of the original, its part of ``dev2012``) of each talk that is found."""
    text = read_iwslt(corpora, "dev2012")
    words = [model_view(word) for word in text.words]
    seen = Counter(_runs(words))
    places = {run: start for start, run in enumerate(_runs(words)) if seen[run] == 1}
    found: list[tuple[int, int, str]] = []
    with lzma.open(corpora / "labelled" / _ORIGINALS, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            original = [view for word in ted_text(record["text"]).split() if (view := model_view(word))]
            if starts := [places[run] for run in _runs(original) if run in places]:
                found.append((min(starts), max(starts) + _RUN, record["id"]))
    end = 0
    for first, last, name in sorted(found):
        if last > max(first, end):
            yield name, text.part(max(first, end), last)
        end = max(end, last)


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(words[start : start + _RUN]) for start in range(len(words) - _RUN + 1))
