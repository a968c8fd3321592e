"""How the labels shown for a text changed while it was heard, and the measures of stability and latency made of it.

A ``History`` holds, for each word, the labels it was shown with in their order, each with the number of words heard at
that moment. Where no label changes, each word has one entry. Sources of the measures:

- normalised erasure: Arivazhagan et al. 2020, "Re-translation versus streaming for simultaneous translation";
- edit overhead: Baumann, Buß and Schlangen 2011, "Evaluation and optimisation of incremental processors"; its form
  for one label a word: Madureira and Schlangen 2020, "Incremental processing in the age of non-incremental encoders";
- time to detection and delayed accuracy: Zwarts, Johnson and Dale 2010, "Detecting speech repairs incrementally using
  a noisy channel approach", used by Hough and Schlangen 2014 and 2015 for disfluencies;
- average wait: Chen, Zayats, Walker and Padfield 2022, "Teaching BERT to wait";
- position change: Chen et al. 2020 (CT-Transformer), figure 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from caesura.models.decoding.labelled_stream import LabelledStep, Stream

LabelledAt = tuple[int, Sequence[int]]
"""The number of words before a buffer, and the labels of its words."""


@dataclass(slots=True)
class History:
    """shown: for each word (words heard, label), oldest first; a word never shown has no entry."""

    shown: list[list[tuple[int, int]]] = field(default_factory=list)

    def show(self, heard: int, place: int, label: int) -> None:
        """Note that a word is shown with a label from now on."""
        while len(self.shown) <= place:
            self.shown.append([])
        entries = self.shown[place]
        if not entries or entries[-1][1] != label:
            entries.append((heard, label))

    def at(self, place: int, heard: int) -> int | None:
        """Return the label that a word was shown with when ``heard`` words had been heard; None: none yet."""
        label = None
        for since, shown in self.shown[place]:
            if since > heard:
                break
            label = shown
        return label

    @property
    def final(self) -> list[int]:
        """Return the last label of each word."""
        return [entries[-1][1] for entries in self.shown]

    def last_changes(self) -> Counter[int]:
        """Return, for how many words the label last changed when how many words stood after it; 0: it never did."""
        return Counter(
            entries[-1][0] - place - 1 if len(entries) > 1 else 0 for place, entries in enumerate(self.shown) if entries
        )

    def position_changes(self) -> Counter[int]:
        """Return, for how many moments the farthest label that changed stood how many words before the newest one.

        This is the paper's figure 2 ("from back to front"), counted over the moments at which something changed.
        """
        return Counter(heard - place - 1 for heard, place in self._farthest_changes().items())

    def normalised_erasure(self) -> float:
        """Return the words erased a word of the final text; 0 where nothing shown is ever taken back.

        Erasure of a moment: the words shown before it, less the longest prefix that it leaves as it was. A reader who
        has gone on from a prefix has to go back that far.
        """
        erased = 0
        for heard, place in self._farthest_changes().items():
            erased += sum(1 for entries in self.shown[place:heard] if entries and entries[0][0] < heard)
        return erased / max(len(self.shown), 1)

    def edit_overhead(self) -> float:
        """Return the share of edits that were not needed; 0 where each word is labelled once.

        An edit gives a word its first label or changes it; one a word is needed.
        """
        edits = sum(map(len, self.shown))
        return (edits - sum(1 for entries in self.shown if entries)) / max(edits, 1)

    def average_wait(self) -> float:
        """Return how many further words are heard, in the mean, before a word is shown with a label at all."""
        waits = [entries[0][0] - place - 1 for place, entries in enumerate(self.shown) if entries]
        return sum(waits) / max(len(waits), 1)

    def delayed(self, words_after: int, *, otherwise: int = 0) -> list[int]:
        """Return each word's label when ``words_after`` words stood after it: what delayed accuracy scores.

        A word without a label by then has ``otherwise``. Near the text's end fewer words came: what was shown last.
        """
        labels = (self.at(place, place + 1 + words_after) for place in range(len(self.shown)))
        return [otherwise if label is None else label for label in labels]

    def _farthest_changes(self) -> dict[int, int]:
        """Return the first word that changed at each moment at which one did."""
        farthest: dict[int, int] = {}
        for place, entries in enumerate(self.shown):
            for heard, _ in entries[1:]:
                farthest.setdefault(heard, place)
        return farthest


def raw_history(labellings: Iterable[LabelledAt]) -> History:
    """Return the history of raw predictions on growing input: each labelling shows all of its words anew."""
    history = History()
    for start, labels in labellings:
        for place, label in enumerate(labels, start=start):
            history.show(start + len(labels), place, label)
    return history


def frozen_history(labels: Sequence[int], frozen_at: Sequence[int]) -> History:
    """Return the history of what is published: a word is shown when it freezes, and never again."""
    return History([[(heard, label)] for heard, label in zip(frozen_at, labels, strict=True)])


def screen_history(stream: Stream, labels: Sequence[int], labels_of: Callable[[LabelledStep], bytes]) -> History:
    """Return the history of a screen that shows frozen labels, and raw ones for the words that have not frozen yet.

    labels: the frozen ones. labels_of: the raw ones of a step, of the same kind.
    """
    history = History()
    for step in stream.steps:
        for place, label in enumerate(labels_of(step), start=step.start):
            frozen = stream.frozen_at[place] <= step.heard
            history.show(step.heard, place, labels[place] if frozen else label)
    for place, (heard, label) in enumerate(zip(stream.frozen_at, labels, strict=True)):
        history.show(heard, place, label)
    return history


def time_to_detection(history: History, runs: Iterable[tuple[int, int]], wanted: frozenset[int]) -> list[int]:
    """Return, for each run of gold words that was detected, the words heard after its last one until it was.

    runs: (first, last + 1) of each run. wanted: the labels that count as its detection, on any of its words. A run
    detected before its last word was heard counts as 0, one never detected is left out, so recall belongs beside it.
    Zwarts et al. also count from the run's first word: add its length less one.
    """
    found: list[int] = []
    for first, end in runs:
        moments = [heard for entries in history.shown[first:end] for heard, label in entries if label in wanted]
        if moments:
            found.append(max(min(moments) - end, 0))
    return found
