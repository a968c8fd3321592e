"""Turns the hypotheses of a connection into words that are never revised: one state machine for all recognisers.

A word of an utterance is sent once

1. its result is final, or
2. the recogniser marks it stable, and all words before it are sent, or
3. ``agreement`` successive, different hypotheses have the same words up to it, and another word after it (the last word
   of a hypothesis is often half a word); 0 turns this rule off.

If finals name speakers, a word also waits until its speaker is known: most recognisers name speakers only in finals,
and otherwise words of one sentence would go to two sessions. At the end of the messages it goes out without a speaker
(``waiting``).

A sent word stays sent. If a later hypothesis has other words in its place (only rule 3 allows this), the sent words are
matched with the new ones by edit distance, the rest is new, and sent words that changed are counted. A final may end
before its hypotheses did. Words that were sent beyond it then belong to the next utterance, if that begins with them
and within what the hypotheses had heard.

A final closes its utterance. What the recogniser sends of it again, perhaps formatted, is a repeat; it is dropped by
its name, never by its text.

The kept hypotheses of all channels together are limited (``MAX_KEPT_CHARACTERS``); above the limit only finals are
taken. Of named utterances at most ``_OPEN_KEPT`` are open. The oldest is then given up and waits for its final, which
is matched with its sent words, as far as these are kept (``_Sent``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from caesura.schemas.events import MAX_EVENT_WORDS
from caesura.worker.feeds.hypothesis import (
    MAX_KEPT_CHARACTERS,
    MAX_NAME_CHARACTERS,
    HeardWord,
    Hypothesis,
    UnreadableMessageError,
)
from caesura.worker.feeds.sent_words import after_sent, words_alike

_OPEN_KEPT, _CLOSED_KEPT = 64, 1024
_UTTERANCE_CHARACTERS = 64
_LAST_CHARACTERS = 512
"""So much is kept of the words that were sent of an utterance that was given up: some ninety words."""
_MARKS = ".,?!;:\"'()…。，？！；：、“”‘’"

_Key = tuple[str, str]
"""An utterance's channel and name."""


@dataclass(slots=True)
class _Utterance:
    """What was sent of an utterance, and the hypotheses before the one that comes, the newest last.

    held: what it counts for in ``MAX_KEPT_CHARACTERS``. heard_ms: up to where its hypotheses had heard. carried: what
    was sent is from before its beginning, beyond the final of the one before it. waiting: words that nothing but their
    speaker is missing of.
    """

    sent: list[str] = field(default_factory=list)
    before: deque[list[str]] = field(default_factory=deque)
    held: int = 0
    heard_ms: int = 0
    carried: bool = False
    waiting: Sequence[HeardWord] = ()


@dataclass(frozen=True, slots=True)
class _Sent:
    """What was sent of an utterance that was given up: its last words, and how many there were before them."""

    before: int
    last: Sequence[str]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self:
        """Keep what may be kept of these words."""
        begin, held = len(texts), 0
        while begin and (held := held + _held(texts[begin - 1 : begin])) <= _LAST_CHARACTERS:
            begin -= 1
        return cls(begin, texts[begin:])


class StableWords:
    """The words of one connection. agreement: hypotheses running that must agree, at least 2; 0 where none are enough.

    revised: how many words were sent, and then heard otherwise.
    """

    def __init__(self, agreement: int) -> None:
        if agreement == 1 or agreement < 0:
            raise ValueError("agreement is 0, or at least 2 hypotheses")
        self._agreement = agreement
        self._open: dict[_Key, _Utterance] = {}
        self._named: dict[_Key, None] = {}  # those of them that have a name, the oldest first
        self._closed: dict[_Key, _Sent | None] = {}  # what was sent of one whose final has not come
        self._held = 0
        self._speakers = False
        self.revised = 0

    def check(self, hypothesis: Hypothesis) -> None:
        """Raise UnreadableMessageError for a hypothesis of which too much would have to be kept.

        A final one may be as long as a recording, for nothing after it is compared with it.
        """
        if max(map(len, _key(hypothesis))) > MAX_NAME_CHARACTERS:
            raise UnreadableMessageError(
                f"oversized: name of a channel or an utterance: expected at most {MAX_NAME_CHARACTERS} characters"
            )
        if hypothesis.final or self.repeats(hypothesis):
            return
        utterance = self._open.get(_key(hypothesis), _Utterance())
        if len(hypothesis.words) - len(utterance.sent) > MAX_EVENT_WORDS:
            raise UnreadableMessageError(f"oversized: words: expected at most {MAX_EVENT_WORDS} that may still change")
        if self._held > MAX_KEPT_CHARACTERS:
            raise UnreadableMessageError(
                f"oversized: words: expected at most {MAX_KEPT_CHARACTERS} characters that are not final, "
                "in all channels together"
            )

    def take(self, hypothesis: Hypothesis) -> tuple[tuple[HeardWord, ...], tuple[HeardWord, ...]]:
        """Return the words that will not change and were not sent before, and those after them that may change."""
        key = _key(hypothesis)
        if self.repeats(hypothesis):
            return (), ()
        self._speakers |= hypothesis.final and any(word.speaker for word in hypothesis.words)
        texts = [_folded(word.text) for word in hypothesis.words]
        if (sent := self._closed.pop(key, None)) is not None:  # the final of one given up: its words are not lost
            self._closed[key] = None  # among the names that are kept the newest
            begin, otherwise = after_sent(sent.last, texts[sent.before :])
            self.revised += otherwise
            return hypothesis.words[sent.before + begin :], ()
        utterance = self._open.setdefault(key, _Utterance())
        if utterance.carried and _after(hypothesis, utterance.heard_ms):
            utterance.sent, utterance.carried = [], False
        own = after_sent(texts, utterance.sent)[0] if _goes_on(hypothesis, utterance) else len(utterance.sent)
        beyond, utterance.sent = utterance.sent[own:], utterance.sent[:own]
        begin, otherwise = after_sent(utterance.sent, texts)
        if utterance.carried and otherwise == len(utterance.sent):
            begin = 0  # not one of them is heard again: what follows is new
        settled = len(texts) if hypothesis.final else self._settled(utterance, hypothesis.words, texts)
        end = max(begin, settled if hypothesis.final else min(settled, self._spoken_by(hypothesis.words)))
        utterance.waiting = hypothesis.words[end:settled]
        if end > begin or hypothesis.final:  # else it may be a flicker, and the words sent are matched anew
            self.revised += otherwise
            utterance.sent, utterance.carried = texts[:end], False
        utterance.heard_ms = max(utterance.heard_ms, hypothesis.heard_until_ms or 0)
        if hypothesis.final:
            self._close(key, None)
            if beyond:
                utterance = self._open[key] = _Utterance(
                    sent=beyond, heard_ms=utterance.heard_ms, carried=not hypothesis.goes_on
                )
                self._hold(key, utterance)
            return hypothesis.words[begin:end], ()
        if self._agreement and texts not in list(utterance.before)[-1:]:
            utterance.before.append(texts)
            while len(utterance.before) >= self._agreement:
                utterance.before.popleft()
        self._hold(key, utterance)
        return hypothesis.words[begin:end], hypothesis.words[end:]

    def repeats(self, hypothesis: Hypothesis) -> bool:
        """Tell whether this is an utterance once more whose final was there; of one given up, all but its final is."""
        key = _key(hypothesis)
        return key in self._closed and not (hypothesis.final and self._closed[key] is not None)

    def waiting(self) -> Iterator[tuple[str, Sequence[HeardWord]]]:
        """Yield the words that only waited for their speaker, by channel: no final comes any more."""
        for (stream, _), utterance in self._open.items():
            if utterance.waiting:
                utterance.sent += [_folded(word.text) for word in utterance.waiting]
                yield stream, utterance.waiting
                utterance.waiting = ()

    def restart(self) -> None:
        """Forget what is open and what was closed: a new connection gives its own names."""
        self._open.clear()
        self._named.clear()
        self._closed.clear()
        self._held = 0

    def _settled(self, utterance: _Utterance, words: Sequence[HeardWord], texts: Sequence[str]) -> int:
        """Return how many words of a hypothesis that is not final will stay."""
        marked = 0
        while marked < len(words) and words[marked].stable:
            marked += 1
        before = [one for one in utterance.before if one != list(texts)]
        if not self._agreement or len(before) < self._agreement - 1:
            return marked
        return max(marked, words_alike(texts[:-1], *before))

    def _spoken_by(self, words: Sequence[HeardWord]) -> int:
        """Return how many words there are before the first of which it is still to come who speaks."""
        unknown = (at for at, word in enumerate(words) if word.undecided or (self._speakers and not word.speaker))
        return next(unknown, len(words))

    def _hold(self, key: _Key, utterance: _Utterance) -> None:
        """Count what is kept of an utterance; give up the oldest that its recogniser never ended."""
        self._held -= utterance.held
        kept = [*key, *utterance.sent, *(word.text for word in utterance.waiting)]
        utterance.held = _UTTERANCE_CHARACTERS + _held(kept) + sum(map(_held, utterance.before))
        self._held += utterance.held
        if key[1]:
            self._named[key] = None
        if len(self._named) > _OPEN_KEPT:
            oldest = next(iter(self._named))
            self._close(oldest, _Sent.of(self._open[oldest].sent))

    def _close(self, key: _Key, sent: _Sent | None) -> None:
        self._held -= self._open.pop(key).held
        if key[1]:
            self._named.pop(key, None)
            self._closed[key] = sent
            if len(self._closed) > _CLOSED_KEPT:
                del self._closed[next(iter(self._closed))]


def _key(hypothesis: Hypothesis) -> _Key:
    return hypothesis.stream, hypothesis.utterance


def _goes_on(hypothesis: Hypothesis, utterance: _Utterance) -> bool:
    """Tell whether a final is only a part of what was heard so far: it says so, or ends before the hypotheses did."""
    heard_ms = hypothesis.heard_until_ms
    shorter = hypothesis.final and not hypothesis.utterance and heard_ms is not None and heard_ms < utterance.heard_ms
    return hypothesis.goes_on or shorter


def _after(hypothesis: Hypothesis, heard_ms: int) -> bool:
    """Tell whether its words are known to come after all words heard before, so that none can have been sent."""
    start_ms = hypothesis.words[0].start_ms if hypothesis.words else None
    return start_ms is not None and start_ms >= heard_ms > 0


def _held(texts: Sequence[str]) -> int:
    return sum(map(len, texts)) + len(texts)


def _folded(text: str) -> str:
    """Return a word as it is compared: recognisers write capitals and marks once they know more."""
    return text.casefold().strip(_MARKS) or text
