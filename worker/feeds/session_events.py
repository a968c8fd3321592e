"""Groups final words into the numbered events of their sessions, within the limits of the published schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from caesura.schemas.events import MAX_EVENT_WORDS, MAX_WORD_CHARACTERS, Word, WordsEvent
from caesura.schemas.versions import EVENT_VERSION
from caesura.worker.core.language.rules import primary_language
from caesura.worker.errors import FatalError
from caesura.worker.feeds.hypothesis import HeardWord, UnreadableMessageError
from caesura.worker.feeds.refusal import why_refused

GUESSED_ENDS = {"word_ends": "guessed"}
"""The attribute of an event some of whose words have ends that its recogniser did not give."""

_HEARD_EVERY_MS = 300
_PARTS = re.compile(r"[^\s\x00-\x1f\x7f-\x9f]+")


@dataclass(slots=True)
class _Numbering:
    """A session's next number, what it has told of the audio, and where its words come from."""

    stream: str = ""
    speaker: str = ""
    next_seq: int = 0
    told_ms: int = -1
    spoke: bool = False

    def streams(self) -> set[str]:
        """Return the channels whose news is this session's too; a message of no channel tells each that has no other.

        So what is said of all channels reaches those whose speakers are not told apart.
        """
        return {self.stream, ""} if not (self.stream and self.speaker) else {self.stream}


@dataclass(slots=True, kw_only=True)
class SessionEvents:
    """Numbers the events of several sessions. epoch: the producer's run; a reconnection begins the next one.

    offset_ms: added to all times: where this connection's audio begins in the session's. refused: told of an event that
    no worker would take, which takes no number then; without it every event is yielded, and its reader checks it.
    conversation: by default the session's name. role, channel: of all events; a recogniser's own channel comes first.
    admits: asked of a session before the first event of it is made; one that is not admitted has none.
    """

    session: str
    lang: str
    epoch: int = 0
    offset_ms: int = 0
    targets: tuple[str, ...] | None = None
    refused: Callable[[UnreadableMessageError], None] | None = None
    admits: Callable[[str], bool] | None = None
    conversation: str | None = None
    role: str | None = None
    channel: str | None = None
    _numbers: dict[str, _Numbering] = field(default_factory=dict)
    _of_stream: dict[str, dict[str, None]] = field(default_factory=dict)
    _latest_ms: int = 0

    def check(self) -> None:
        """Raise FatalError where no worker would take any event of such a session: its name, language or routes."""
        event = WordsEvent(
            version=EVENT_VERSION, session=self.session, epoch=self.epoch, seq=0, lang=self.lang, targets=self.targets
        )
        if (why := why_refused(event)) is not None:
            raise FatalError(f"the session cannot be sent: {why}")

    def speak(self, lang: str) -> None:
        """Take the language that a recogniser states for all further events; one that is known keeps its region."""
        if primary_language(lang) != primary_language(self.lang):
            self.lang = lang

    def refuse(self, error: UnreadableMessageError) -> None:
        """Report that a part of a message is not sent; raise the error if there is no listener."""
        if self.refused is None:
            raise error
        self.refused(error)

    def reconnect(self, elapsed_ms: int | None = None) -> None:
        """Begin the next epoch. elapsed_ms: since the session began; never before what was already heard."""
        self.offset_ms = max(self._latest_ms, elapsed_ms or 0)
        self.epoch += 1
        for one in self._numbers.values():
            one.next_seq = 0

    def forget(self, session: str) -> None:
        """Keep nothing of a session: it is over, or its events were not taken. Its next event begins it anew."""
        numbering = self._numbers.pop(session, None)
        for stream in numbering.streams() if numbering is not None else ():
            del self._of_stream[stream][session]
            if not self._of_stream[stream]:
                del self._of_stream[stream]

    def events(
        self, words: Sequence[HeardWord], *, stream: str, heard_ms: int | None, utterance_end: bool
    ) -> Iterator[WordsEvent]:
        """Yield what a hypothesis adds, a speaker's words to that speaker's session; nothing for no news.

        heard_ms: audio heard up to which no word is outstanding.
        """
        by_speaker: dict[str, list[HeardWord]] = {}
        for word in words:
            by_speaker.setdefault(word.speaker, []).append(word)
        if by_speaker:
            heard = [(self._name(stream, speaker), speaker, said) for speaker, said in by_speaker.items()]
        else:
            heard = [(name, self._numbers[name].speaker, []) for name in self._of_stream.get(stream, ())]
        for name, speaker, said in heard:
            if name not in self._numbers and self.admits is not None and not self.admits(name):
                continue
            numbering = self._numbers.get(name) or _Numbering(stream=stream, speaker=speaker)
            yield from self._of_session(name, numbering, said, heard_ms, utterance_end=utterance_end)

    def end(self) -> Iterator[WordsEvent]:
        """Yield the event that ends each session that was spoken in."""
        for name, numbering in list(self._numbers.items()):
            if numbering.spoke:
                yield from self._event(name, numbering, (), session_end=True)

    def end_unheard(self) -> Iterator[WordsEvent]:
        """Yield the event that ends the session of this name, in which no word was spoken."""
        return self._event(self.session, _Numbering(), (), session_end=True)

    def _of_session(
        self, name: str, numbering: _Numbering, heard: Sequence[HeardWord], heard_ms: int | None, *, utterance_end: bool
    ) -> Iterator[WordsEvent]:
        until_ms = None if heard_ms is None else self.offset_ms + heard_ms
        words = list(self._published(heard))
        guessed = any(word.end_guessed for word in heard)
        news = until_ms is not None and numbering.spoke and until_ms - numbering.told_ms >= _HEARD_EVERY_MS
        if not words and not news and not (utterance_end and numbering.spoke):
            return
        batches = [words[at : at + MAX_EVENT_WORDS] for at in range(0, len(words), MAX_EVENT_WORDS)] or [[]]
        for number, batch in enumerate(batches, start=1):
            last = number == len(batches)
            yield from self._event(
                name,
                numbering,
                tuple(batch),
                until_ms=until_ms if last else None,
                utterance_end=utterance_end and last,
                guessed=guessed,
            )

    def _event(
        self,
        name: str,
        numbering: _Numbering,
        words: tuple[Word, ...],
        *,
        until_ms: int | None = None,
        utterance_end: bool = False,
        guessed: bool = False,
        session_end: bool = False,
    ) -> Iterator[WordsEvent]:
        event = WordsEvent(
            version=EVENT_VERSION,
            session=name,
            epoch=self.epoch,
            seq=numbering.next_seq,
            lang=self.lang,
            words=words,
            heard_until_ms=None if until_ms is None else max(until_ms, numbering.told_ms),
            utterance_end=utterance_end,
            session_end=session_end,
            targets=None if numbering.spoke else self.targets,
            conversation=self.conversation or self.session,
            speaker=numbering.speaker or None,
            role=self.role,
            channel=numbering.stream or self.channel,
            attributes=GUESSED_ENDS if guessed else None,
        )
        if self.refused is not None and (why := why_refused(event)) is not None:
            self.refused(UnreadableMessageError(why))
            return
        if name not in self._numbers:
            self._numbers[name] = numbering
            for stream in numbering.streams():
                self._of_stream.setdefault(stream, {})[name] = None
        numbering.next_seq += 1
        numbering.spoke = True
        numbering.told_ms = max(numbering.told_ms, until_ms or 0)
        ends = (word.end_ms or word.start_ms or 0 for word in words)
        self._latest_ms = max(self._latest_ms, until_ms or 0, *ends)
        yield event

    def _published(self, heard: Iterable[HeardWord]) -> Iterator[Word]:
        """Yield words as events may hold them: without white space and control characters, none too long."""
        for word in heard:
            start_ms = None if word.start_ms is None else word.start_ms + self.offset_ms
            end_ms = None if word.end_ms is None else word.end_ms + self.offset_ms
            if start_ms is not None and end_ms is not None:
                end_ms = max(start_ms, end_ms)
            for part in _PARTS.findall(word.text):
                for at in range(0, len(part), MAX_WORD_CHARACTERS):
                    text = part[at : at + MAX_WORD_CHARACTERS]
                    yield Word(text=text, start_ms=start_ms, end_ms=end_ms, confidence=word.confidence)

    def _name(self, stream: str, speaker: str) -> str:
        return "/".join(part for part in (self.session, stream, speaker) if part)
