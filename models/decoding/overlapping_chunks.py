"""Overlapped-chunk split and merge: the streaming strategy that the CT-Transformer paper compares its own with.

Nguyen et al. 2019, "Fast and accurate capitalization and punctuation for automatic speech recognition using
transformer and chunk merging" (arXiv:1908.02404), with the paper's values (Chen et al. 2020, section 4.3, note 4).

Rules:

1. Chunks of ``CHUNK_WORDS`` words start every ``WINDOW_WORDS``; each is labelled alone, as soon as its last word is in.
2. Of the words that two chunks share, the first chunk's last ``MIN_WORDS_CUT`` are cut away, and as many are kept at
   the end of the second chunk's part; the ones before those keep the first chunk's labels.
3. The first chunk's beginning and the last chunk's end have no neighbour, and are kept whole.

Offline decoding and a teacher's windows are the same with other values: 200 words every 150, of which 15 are cut, so
that 35 before and 15 after are context only (``models/decoding/labelling_runs.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.ports.engine import Engine

CHUNK_WORDS, WINDOW_WORDS, MIN_WORDS_CUT = 30, 15, 10
_CHUNKS_AT_ONCE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Words ``start`` to ``end`` are labelled together, and the labels of ``first`` to ``last`` are kept."""

    start: int
    end: int
    first: int
    last: int


Cut = Callable[[int], Sequence[Chunk]]
"""The chunks of a text of so many words; what they keep covers it once, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunked:
    """The labels of a text, and how many words had been heard when each was there."""

    marks: list[int]
    tags: list[int]
    labelled_at: list[int]

    @property
    def delays(self) -> list[int]:
        """Return how many further words each word waited for until it was labelled."""
        return [heard - place - 1 for place, heard in enumerate(self.labelled_at)]


def split(
    words: int, *, chunk: int = CHUNK_WORDS, window: int = WINDOW_WORDS, min_words_cut: int = MIN_WORDS_CUT
) -> list[Chunk]:
    """Return the chunks of a text of so many words; what they keep covers it once. ValueError where it cannot."""
    if not 0 <= min_words_cut <= chunk - window:
        raise ValueError(f"min_words_cut is {min_words_cut}, chunks share {chunk - window} words")
    starts = list(range(0, max(words - (chunk - window), 1), window))
    chunks: list[Chunk] = []
    for start in starts:
        end = min(start + chunk, words)
        first = chunks[-1].last if chunks else 0
        last = end if start == starts[-1] else end - min_words_cut
        chunks.append(Chunk(start=start, end=end, first=first, last=last))
    return chunks


def label_chunks(
    engine: Engine,
    model_id: str,
    words: Sequence[str],
    *,
    cut: Cut = split,
    progress: Callable[[int], None] = lambda _: None,
) -> Chunked:
    """Return the labels of one text. words: the model's view of each."""
    chunked = Chunked(marks=[], tags=[], labelled_at=[])
    parts = [part for part in cut(len(words)) if part.start < part.end]
    for start in range(0, len(parts), _CHUNKS_AT_ONCE):
        some = parts[start : start + _CHUNKS_AT_ONCE]
        requests = [
            LabelRequest(
                session=f"chunk-{number}",
                model_id=model_id,
                buffer_start=part.start,
                words=tuple(words[part.start : part.end]),
                first=part.first - part.start,
                end=part.last - part.start,
            )
            for number, part in enumerate(some)
        ]
        for request, part, labels in zip(requests, some, engine.label(requests), strict=True):
            engine.forget(request.session)
            chunked.marks.extend(labels.punctuation)
            chunked.tags.extend(labels.disfluency)
            chunked.labelled_at.extend([part.end] * len(labels))
        progress(some[-1].last - some[0].first)
    return chunked
