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

from schemas.events import MAX_EVENT_WORDS
from worker.feeds.hypothesis import HeardWord, Hypothesis, UnreadableMessageError
from worker.feeds.sent_words import after_sent, words_alike

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

    def check(self, hypothesis: Hypothesis) -> None:
        """Raise UnreadableMessageError for a hypothesis that may change and has far more words than were sent of it.

        A final one may be as long as a recording, and nothing after it is compared with it.
        """
        utterance = self._open.get(hypothesis.utterance, _Utterance())
        changing = 0 if hypothesis.final or self.repeats(hypothesis) else len(hypothesis.words) - len(utterance.sent)
        if changing > MAX_EVENT_WORDS:
            raise UnreadableMessageError(f"oversized: words: expected at most {MAX_EVENT_WORDS} that may still change")

    def take(self, hypothesis: Hypothesis) -> tuple[tuple[HeardWord, ...], tuple[HeardWord, ...]]:
        """Return the words that will not change and were not sent before, and those after them that may change."""
        name = hypothesis.utterance
        if self.repeats(hypothesis):
            return (), ()
        utterance = self._open.setdefault(name, _Utterance())
        if len(self._open) > _OPEN_KEPT:  # one that its recogniser never ended
            self._close(next(iter(self._open)))
        texts = [_folded(word.text) for word in hypothesis.words]
        begin, otherwise = after_sent(utterance.sent, texts)
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
        return max(marked, words_alike(texts[:-1], *before))

    def _close(self, name: str) -> None:
        self._open.pop(name, None)
        if name:
            self._closed[name] = None
            if len(self._closed) > _CLOSED_KEPT:
                del self._closed[next(iter(self._closed))]


def _folded(text: str) -> str:
    """Return a word as it is compared: recognisers write capitals and marks once they know more."""
    return text.casefold().strip(_MARKS) or text
