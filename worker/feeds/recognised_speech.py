"""Turns a recogniser's messages into word events: reads them, keeps words until they are final, numbers the events.

``heard_until_ms`` ends at the first word that is not sent yet. Otherwise words about which the recogniser is still
unsure would count as silence, and a sentence would freeze in its middle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from caesura.schemas.events import WordsEvent
from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis, Recogniser, UnreadableMessageError
from caesura.worker.feeds.session_events import SessionEvents
from caesura.worker.feeds.stable_words import StableWords
from caesura.worker.feeds.stated_language import stated_language

_CHARACTERS = 8


class RecognisedSpeech:
    """One recogniser's speech. agreement: hypotheses running that must agree; None takes its own number.

    most_words: how many words a message may have, in all hypotheses together; one of more is refused before any event
    of it is made. A hypothesis counts as a word at least, and every eight characters of a word's text do.
    """

    def __init__(
        self,
        recogniser: Recogniser,
        events: SessionEvents,
        *,
        agreement: int | None = None,
        most_words: int | None = None,
    ) -> None:
        self._recogniser = recogniser
        self._events = events
        self._most_words = most_words
        self._stable = StableWords(recogniser.agreement if agreement is None else agreement)
        self.has_stopped = False
        """The last message says that no more is heard: the call is over, or its transcription paused."""

    @property
    def revised(self) -> int:
        """How many words were sent, and then heard otherwise."""
        return self._stable.revised

    def take(self, message: Mapping[str, object], *, elapsed_ms: int | None = None) -> list[WordsEvent]:
        """Return the events of a message. elapsed_ms: since the session began, for a connection that begins anew.

        Raises UnreadableMessageError for a message that cannot be read, before any event of it has taken a number.
        Words beyond the limits are reported as refused (``SessionEvents.refuse``, which raises without a listener),
        and the final words of the same message go out.
        """
        return list(self.events(message, elapsed_ms=elapsed_ms))

    def events(self, message: Mapping[str, object], *, elapsed_ms: int | None = None) -> Iterator[WordsEvent]:
        """Yield the events of a message one by one, as ``take`` returns them: each is made when it is asked for."""
        self.has_stopped = False
        hypotheses = self._within_limit(self._recogniser.read(message))
        if any(hypothesis.words for hypothesis in hypotheses) and (lang := stated_language(message)) is not None:
            self._events.speak(lang)
        yield from self._taken(hypotheses, elapsed_ms)

    def reconnect(self, recogniser: Recogniser, *, elapsed_ms: int | None = None) -> list[WordsEvent]:
        """Begin a new connection, read by a recogniser of its own; return what the old one still had."""
        events = list(self._taken(self._recogniser.finish(), None))
        self._recogniser = recogniser
        return [*events, *self._restart(elapsed_ms)]

    def finish(self, *, end: bool) -> list[WordsEvent]:
        """Return what is still open when the messages end. end: the sessions end with them."""
        return list(self.last_events(end=end))

    def last_events(self, *, end: bool) -> Iterator[WordsEvent]:
        """Yield what ``finish`` returns, each event when it is asked for."""
        yield from self._taken(self._recogniser.finish(), None)
        yield from self._waiting()
        if end:
            yield from self._events.end()

    def _within_limit(self, hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
        """Return all hypotheses of a message; UnreadableMessageError where they have too many words.

        The reader is run to its end all the same: what it keeps of the message would stay with it else.
        """
        taken: list[Hypothesis] = []
        words, over = 0, False
        for hypothesis in hypotheses:
            words += 1 + sum(1 + len(word.text) // _CHARACTERS for word in hypothesis.words)
            over = over or (self._most_words is not None and words > self._most_words)
            if over:
                taken.clear()
            else:
                taken.append(hypothesis)
        if over:
            raise UnreadableMessageError(f"oversized: words: expected at most {self._most_words} in a message")
        return taken

    def _taken(self, hypotheses: Iterable[Hypothesis], elapsed_ms: int | None) -> Iterator[WordsEvent]:
        for hypothesis in hypotheses:
            if hypothesis.reconnected:
                yield from self._restart(elapsed_ms)
                continue
            if hypothesis.stopped:
                self.has_stopped = True
                continue
            if self._stable.repeats(hypothesis):
                continue
            try:
                self._stable.check(hypothesis)
            except UnreadableMessageError as error:
                self._events.refuse(error)
                continue
            words, pending = self._stable.take(hypothesis)
            yield from self._events.events(
                words,
                stream=hypothesis.stream,
                heard_ms=_heard_ms(hypothesis, pending),
                utterance_end=hypothesis.utterance_end and not pending,
            )

    def _restart(self, elapsed_ms: int | None) -> list[WordsEvent]:
        events = list(self._waiting())
        self._events.reconnect(elapsed_ms)
        self._stable.restart()
        return events

    def _waiting(self) -> Iterator[WordsEvent]:
        """Yield what only waited to hear who speaks."""
        for stream, words in self._stable.waiting():
            yield from self._events.events(words, stream=stream, heard_ms=None, utterance_end=False)


def _heard_ms(hypothesis: Hypothesis, pending: tuple[HeardWord, ...]) -> int | None:
    """Return up to where the audio holds nothing that is still to be sent; None where that is not known."""
    if hypothesis.heard_until_ms is None or not pending:
        return hypothesis.heard_until_ms
    starts = [word.start_ms for word in pending]
    return None if starts[0] is None else min(hypothesis.heard_until_ms, starts[0])
