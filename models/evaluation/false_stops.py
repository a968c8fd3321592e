"""False stops: a flush inside a sentence must freeze its last word, and a sentence mark there is never taken back.

A speaker pauses, or the recogniser announces an end: the flush freezes the last word with the label of the last step
(``decoding``), of which no later word is known. (A session's end is always a sentence's.) One point a
sentence is drawn on held-out text, after any of its words but the last. The words up to there, from the sentence start
that lies ten words or more before the sentence, are one session. Beside it stand the same sentences flushed at their
true end, because a network that never stops has no false stops.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.decoding.labelling_runs import Progress, label_streams
from caesura.models.evaluation.shares import Share
from caesura.schemas.labels import Punctuation
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.engine import Engine

WORDS_A_SENTENCE = 40
"""How many words of held-out text are read for each sentence that is asked for."""

_SHORTEST_WORDS = 4
_WORDS_BEFORE = 10
_COMMAS = (Punctuation.COMMA, Punctuation.ENUMERATION_COMMA)
_ENDS = (Punctuation.PERIOD, Punctuation.QUESTION)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushPoint:
    """One session's words, and the mark that the text has after the last of them."""

    words: tuple[str, ...]
    mark: Punctuation


@dataclass(frozen=True, slots=True, kw_only=True)
class Stops:
    """Flushed last words with a sentence mark: inside a sentence, plain or at a comma of the text, and at its end."""

    text: str
    plain: Share
    comma: Share
    end: Share

    @property
    def inside(self) -> Share:
        """Return the share of false stops."""
        return self.plain + self.comma


def flush_points(documents: Sequence[AlignedDocument], rng: random.Random, *, sentences: int) -> list[FlushPoint]:
    """Return two points for each of ``sentences`` sentences at most: one inside, one at the end."""
    places = [
        (document, start, end)
        for document in documents
        for start, end in pairwise([*document.sentence_starts(), len(document.words)])
        if end - start >= _SHORTEST_WORDS and document.punctuation[end - 1] in _ENDS
    ]
    points: list[FlushPoint] = []
    for document, start, end in rng.sample(places, min(sentences, len(places))):
        inside = [place for place in range(start, end - 1) if document.punctuation[place] != UNKNOWN]
        first = max((other for other in document.sentence_starts() if other <= start - _WORDS_BEFORE), default=0)
        for last in ([rng.choice(inside)] if inside else []) + [end - 1]:
            words = tuple(document.words[first : last + 1])
            points.append(FlushPoint(words=words, mark=Punctuation(document.punctuation[last])))
    return points


def stops_on(
    engine: Engine,
    documents: Sequence[AlignedDocument],
    *,
    text: str,
    language: str,
    sentences: int,
    end_offset: float = 0.0,
    progress: Progress = lambda _: None,
) -> Stops:
    """Measure on documents; text: what they are called. end_offset: added to the scores of the sentence marks."""
    points = flush_points(documents, random.Random(1), sentences=sentences)
    labelled = label_streams(
        engine,
        [point.words for point in points],
        language=language,
        rules=DecodingRules(utterance_end_offset=end_offset),
        session_end=False,
        progress=progress,
    )
    return count_stops(f"{language}, {text}", points, [marks[-1] for marks, _ in labelled])


def count_stops(text: str, points: Sequence[FlushPoint], frozen: Sequence[int]) -> Stops:
    """Count the sentence marks among the frozen marks of the points' last words."""

    def share(wanted: Sequence[Punctuation]) -> Share:
        stops = [mark in _ENDS for point, mark in zip(points, frozen, strict=True) if point.mark in wanted]
        return Share(hits=sum(stops), total=len(stops))

    return Stops(text=text, plain=share((Punctuation.NONE,)), comma=share(_COMMAS), end=share(_ENDS))


def stops_table(rows: Sequence[Stops]) -> str:
    """Return a Markdown table, a row a text and a row over all of a language."""
    totals: dict[str, Stops] = {}
    for row in rows:
        name = f"{row.text.partition(',')[0]}, all"
        none = Share(hits=0, total=0)
        sofar = totals.get(name, Stops(text=name, plain=none, comma=none, end=none))
        totals[name] = Stops(
            text=name, plain=sofar.plain + row.plain, comma=sofar.comma + row.comma, end=sofar.end + row.end
        )
    lines = ["| text | false stops, % | of these, where the text has no mark | at a comma | stops at true ends, % |"]
    lines += ["|---|---|---|---|---|"]
    lines += [
        f"| {row.text} | {row.inside} | {row.plain} | {row.comma} | {row.end} |" for row in [*rows, *totals.values()]
    ]
    return "\n".join(lines)
