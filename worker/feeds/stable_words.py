"""Hypotheses in, words that are never revised out: the one state machine behind every recogniser.

Of an utterance a word is sent once

1. its result is final, or
2. the recogniser marks it stable, and all before it are sent, or
3. ``agreement`` hypotheses running, each unlike the one before it, have the same words up to it, and another word
   after it (the last word of a hypothesis is often half a word); 0 turns this off.

A word that was sent stays sent. Where a later hypothesis has other words in its place (only rule 3 can come to that),
the words sent are matched with those of the new one by edit distance and what follows them is new; what could not be
taken back is counted. An utterance that was final is closed: what the recogniser sends of it again, formatted
perhaps, is a repeat and dropped by its name, never by its text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from worker.feeds.hypothesis import HeardWord, Hypothesis

__all__ = ["StableWords"]

_OPEN_KEPT, _CLOSED_KEPT = 64, 1024
_MARKS = ".,?!;:\"'()…。，？！；：、“”‘’"


@dataclass(slots=True)
class _Utterance:
    """What was sent of an utterance, and the hypotheses before the one that comes, the newest last."""

    sent: list[str] = field(default_factory=list)
    before: deque[list[str]] = field(default_factory=deque)


class StableWords:
    """The words of one stream. agreement: hypotheses running that must agree, at least 2; 0 where none are enough.

    revised: how many words were sent, and then heard otherwise.
    """

    def __init__(self, agreement: int) -> None:
        if agreement == 1 or agreement < 0:
            raise ValueError("agreement is 0, or at least 2 hypotheses")
        self._agreement = agreement
        self._open: dict[str, _Utterance] = {}
        self._closed: dict[str, None] = {}
        self.revised = 0

    def take(self, hypothesis: Hypothesis) -> tuple[tuple[HeardWord, ...], tuple[HeardWord, ...]]:
        """Return the words that will not change and were not sent before, and those after them that may change."""
        name = hypothesis.utterance
        if self.repeats(hypothesis):
            return (), ()
        utterance = self._open.setdefault(name, _Utterance())
        if len(self._open) > _OPEN_KEPT:  # one that its recogniser never ended
            self._close(next(iter(self._open)))
        texts = [_folded(word.text) for word in hypothesis.words]
        begin, otherwise = _after_sent(utterance.sent, texts)
        end = len(texts) if hypothesis.final else max(begin, self._settled(utterance, hypothesis.words, texts))
        if end > begin or hypothesis.final:  # else it may be a flicker, and the words sent are matched anew
            self.revised += otherwise
            utterance.sent = texts[:end]
        if hypothesis.final:
            self._close(name)
        elif self._agreement and texts not in list(utterance.before)[-1:]:
            utterance.before.append(texts)
            while len(utterance.before) >= self._agreement:
                utterance.before.popleft()
        return hypothesis.words[begin:end], hypothesis.words[end:]

    def repeats(self, hypothesis: Hypothesis) -> bool:
        """Tell whether this is an utterance once more whose final result was there."""
        return hypothesis.utterance in self._closed

    def restart(self) -> None:
        """Forget what is open and what was closed: a new connection gives its own names."""
        self._open.clear()
        self._closed.clear()

    def _settled(self, utterance: _Utterance, words: Sequence[HeardWord], texts: Sequence[str]) -> int:
        """Return how many words of a hypothesis that is not final will stay."""
        marked = 0
        while marked < len(words) and words[marked].stable:
            marked += 1
        before = [one for one in utterance.before if one != list(texts)]
        if not self._agreement or len(before) < self._agreement - 1:
            return marked
        agreed = 0
        while agreed < len(texts) - 1 and all(texts[: agreed + 1] == one[: agreed + 1] for one in before):
            agreed += 1
        return max(marked, agreed)

    def _close(self, name: str) -> None:
        self._open.pop(name, None)
        if name:
            self._closed[name] = None
            if len(self._closed) > _CLOSED_KEPT:
                del self._closed[next(iter(self._closed))]


def _folded(text: str) -> str:
    """Return a word as it is compared: recognisers write capitals and marks once they know more."""
    return text.casefold().strip(_MARKS) or text


def _after_sent(sent: Sequence[str], texts: Sequence[str]) -> tuple[int, int]:
    """Return where in a hypothesis the words begin that were not sent yet, and how many sent ones it has otherwise."""
    if list(texts[: len(sent)]) == list(sent):
        return len(sent), 0
    distances = _distances(sent, texts)
    begin = min(range(len(distances)), key=lambda length: (distances[length], abs(length - len(sent))))
    return begin, distances[begin]


def _distances(sent: Sequence[str], texts: Sequence[str]) -> list[int]:
    """Return the edit distance of what was sent to each beginning of a hypothesis, by that beginning's length."""
    row = list(range(len(texts) + 1))
    for count, one in enumerate(sent, start=1):
        above, row = row, [count]
        for position, other in enumerate(texts):
            row.append(min(above[position] + (one != other), above[position + 1] + 1, row[position] + 1))
    return row
