"""How stable and how late the stream's labels are, on held-out open text (``label_history`` defines the measures).

Three things are looked at: what is published, whose labels never change; a screen that shows frozen labels and the raw
ones of the words that have not frozen yet; and, for the maximum position change, the network's raw labels on an input
that grows by a word at a time, without any decoding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.decoding.labelled_stream import Stream, WatchedEngine, run_stream
from caesura.models.decoding.labelling_runs import Progress
from caesura.models.evaluation.figures import EITHER, MARK_CLASSES, TAG_CLASSES
from caesura.models.evaluation.label_history import (
    History,
    frozen_history,
    raw_history,
    screen_history,
    time_to_detection,
)
from caesura.models.evaluation.scoring import score
from caesura.schemas.events import Emission
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.engine import Engine

DELAYS_WORDS = (0, 3, 6, 9, 12, 15)

REVISION_WORDS = range(11)
"""Words after a word at which its unfrozen label is compared; the network sees nine ahead."""

_TAGGED = ("rev16", "disfl_qa")

Streams = dict[Emission, list[Stream]]
"""The same texts decoded in each emission mode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """One row. waits: words heard after a word until it is first shown with a label, mean, median, 95th percentile.

    delayed_f1: F1 of what is shown ``DELAYS_WORDS`` words after each word; final_f1: of what is shown in the end.
    """

    shown: str
    kind: str
    normalised_erasure: float
    edit_overhead: float
    average_wait_words: float
    wait_p50_words: float
    wait_p95_words: float
    delayed_f1: tuple[float, ...]
    final_f1: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """One row: how many of the gold runs of a label are ever found, and the words heard after a run until it is."""

    shown: str
    label: str
    runs: int
    detected: int
    mean_words: float
    p50_words: float
    p95_words: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One row: of the words shown with a label when so many words stood after them, how many froze with another."""

    kind: str
    words_after: int
    shown: int
    changed: int


def streams_of(
    engine: WatchedEngine, documents: Sequence[AlignedDocument], *, progress: Progress = lambda _: None
) -> Streams:
    """Decode each document as one session in each emission mode."""
    streams: Streams = {}
    for emission in (Emission.SENTENCE, Emission.SETTLED):
        streams[emission] = []
        for document in documents:
            streams[emission].append(run_stream(engine, document.words, rules=DecodingRules(emission=emission)))
            progress(len(document.words))
    return streams


def stabilities(streams: Streams, documents: Sequence[AlignedDocument]) -> Iterator[Stability]:
    """Yield the rows of the marks, then of the tags where gold tags exist."""
    for kind in ("marks", "tags"):
        gold, shown = _shown(streams, documents, kind)
        for name, histories in shown.items():
            yield _stability(name, kind, histories, [label for labels in gold for label in labels])


def detections(streams: Streams, documents: Sequence[AlignedDocument]) -> Iterator[Detection]:
    """Yield the time to detection of each mark, and of each disfluency where gold tags exist."""
    for kind, classes in (("marks", MARK_CLASSES), ("tags", TAG_CLASSES | EITHER)):
        gold, shown = _shown(streams, documents, kind)
        for name, histories in shown.items():
            for label, wanted in classes.items():
                runs = [list(runs_of(labels, wanted, kind=kind)) for labels in gold]
                found = [
                    words
                    for history, places in zip(histories, runs, strict=True)
                    for words in time_to_detection(history, places, wanted)
                ]
                if found:
                    yield _detection(name, label, sum(map(len, runs)), found)


def revisions(streams: Streams, documents: Sequence[AlignedDocument]) -> Iterator[Revision]:
    """Yield, by the words heard after a word, how many of the labels that a screen shows then froze otherwise."""
    for kind in ("marks", "tags"):
        _, shown = _shown(streams, documents, kind)
        for words_after in REVISION_WORDS:
            now = [
                (label, final)
                for history in shown.get("screen", ())
                for place, final in enumerate(history.final)
                if (label := history.at(place, place + 1 + words_after)) is not None
            ]
            changed = sum(label != final for label, final in now)
            yield Revision(kind=kind, words_after=words_after, shown=len(now), changed=changed)


def runs_of(labels: Sequence[int], wanted: frozenset[int], *, kind: str) -> Iterator[tuple[int, int]]:
    """Yield (first, last + 1) of each run of wanted labels; every mark is a run of its own."""
    first: int | None = None
    for place, label in enumerate([*labels, -1]):
        if label in wanted and first is None:
            first = place
        if first is not None and place > first and (label not in wanted or kind == "marks"):
            yield first, place
            first = place if label in wanted else None


def growing_input(
    engine: Engine, model_id: str, texts: Iterable[Sequence[str]], *, progress: Progress = lambda _: None
) -> tuple[Counter[int], Counter[int]]:
    """Read each text one word longer every time, and return how far back its raw marks changed.

    First, by word: how many words stood after it when its mark last changed (0: it never did). Second, the paper's
    figure 2, by moment: how many words stood after the farthest word whose mark changed.
    """
    words_changed, moments = Counter[int](), Counter[int]()
    for words in texts:
        requests = [
            LabelRequest(session="growing", model_id=model_id, buffer_start=0, words=tuple(words[:heard]))
            for heard in range(1, len(words) + 1)
        ]
        history = raw_history((0, labels.punctuation) for labels in engine.label(requests))
        words_changed += history.last_changes()
        moments += history.position_changes()
        progress(len(words))
    return words_changed, moments


def _shown(
    streams: Streams, documents: Sequence[AlignedDocument], kind: str
) -> tuple[list[list[int]], dict[str, list[History]]]:
    """Return the gold labels of each document that has such, and its histories by what is shown."""
    places = [place for place, document in enumerate(documents) if kind == "marks" or document.corpus in _TAGGED]
    gold = [documents[place].punctuation if kind == "marks" else documents[place].disfluency for place in places]
    shown: dict[str, list[History]] = {}
    for emission, decoded in streams.items():
        kept = [decoded[place] for place in places]
        labels = [stream.marks if kind == "marks" else stream.tags for stream in kept]
        both = list(zip(kept, labels, strict=True))
        shown[f"published, {emission.value}"] = [frozen_history(final, stream.frozen_at) for stream, final in both]
        if emission is Emission.SENTENCE:
            shown["screen"] = [screen_history(stream, final, attrgetter(kind)) for stream, final in both]
    return gold, {name: histories for name, histories in shown.items() if histories}


def _stability(shown: str, kind: str, histories: Sequence[History], gold: Sequence[int]) -> Stability:
    whole = History()
    for history in histories:  # one after the other, so that every measure weighs words alike
        before = len(whole.shown)
        whole.shown += [[(heard + before, label) for heard, label in entries] for entries in history.shown]
    classes = MARK_CLASSES if kind == "marks" else EITHER
    waits = [entries[0][0] - place - 1 for place, entries in enumerate(whole.shown)]
    p50, p95 = np.percentile(waits, (50, 95))
    delayed = [
        [label for history in histories for label in history.delayed(words_after)] for words_after in DELAYS_WORDS
    ]
    f1 = [score(gold, labels, classes)["overall"].f1 for labels in (*delayed, whole.final)]
    return Stability(
        shown=shown,
        kind=kind,
        normalised_erasure=whole.normalised_erasure(),
        edit_overhead=whole.edit_overhead(),
        average_wait_words=whole.average_wait(),
        wait_p50_words=float(p50),
        wait_p95_words=float(p95),
        delayed_f1=tuple(f1[:-1]),
        final_f1=f1[-1],
    )


def _detection(shown: str, label: str, runs: int, found: Sequence[int]) -> Detection:
    p50, p95 = np.percentile(found, (50, 95))
    return Detection(
        shown=shown,
        label=label,
        runs=runs,
        detected=len(found),
        mean_words=float(np.mean(found)),
        p50_words=float(p50),
        p95_words=float(p95),
    )
