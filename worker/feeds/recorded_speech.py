"""Turns a file of speech in any format into timed word events; the only way from a recording to a worker's input."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from caesura.schemas.events import WordsEvent
from caesura.worker.errors import FatalError
from caesura.worker.feeds.file_format import LOOKED_AT_LINES, FileFormat, SpeechFormat, recognised_format, spoken_lines
from caesura.worker.feeds.foreign_files import is_lone_value
from caesura.worker.feeds.format_check import FormatCheck
from caesura.worker.feeds.formats import captions, ctm
from caesura.worker.feeds.formats.jsonl import events_of_json_lines
from caesura.worker.feeds.formats.text import events_of_text
from caesura.worker.feeds.hypothesis import Hypothesis, UnreadableMessageError
from caesura.worker.feeds.json_text import Brackets
from caesura.worker.feeds.lines import shown_name
from caesura.worker.feeds.messages import json_messages
from caesura.worker.feeds.recognised_speech import RecognisedSpeech
from caesura.worker.feeds.recognisers.catalogue import RECOGNISERS, RecogniserName
from caesura.worker.feeds.refusal import BadLineError
from caesura.worker.feeds.session_events import SessionEvents
from caesura.worker.feeds.speaker_labels import SpeakerLabels
from caesura.worker.feeds.timed_events import Pace, TimedEvent, timed

_CAPTIONS = {
    FileFormat.SRT: captions.srt_hypotheses,
    FileFormat.VTT: captions.vtt_hypotheses,
    FileFormat.CTM: ctm.hypotheses,
}
_LONGEST_STEM_BYTES = 60
_LONGEST_VALUE_LINES = 1_000_000
_OPENING = ("{", "[", "[{")
_GOES_ON = re.compile(r"[\[{]\s*[\[{\"]")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSpeech:
    """How a file is read. prefix: before the names of sessions; None makes one of the file's name and the epoch."""

    name: str
    lang: str
    epoch: int
    pace: Pace
    prefix: str | None = None
    agreement: int | None = None

    def format_of(self, lines: Iterator[str], given: SpeechFormat) -> tuple[SpeechFormat, Iterator[str]]:
        """Return the format, recognised where it is ``auto``, and all lines. Raises FatalError: none that is read."""
        if given is not FileFormat.AUTO:
            return given, lines
        head: list[str] = []
        begun, brackets = False, Brackets()
        while self._undecided(head, brackets) and (more := next(lines, None)) is not None:
            head.append(more)
            if brackets.is_open or (not begun and _opens_json(more.strip(), live=self.name == "-")):
                brackets.take(more)
            begun = begun or bool(more.strip())
        found = recognised_format(self.name, head)
        every = chain(head, lines)
        return found, spoken_lines(self.name, every) if found is FileFormat.TEXT else every

    def events(self, lines: Iterable[str], known: SpeechFormat) -> Iterator[TimedEvent]:
        """Yield the events of a file of that format. Raises FatalError, naming the file, and the line if there is one.

        An array, or a value over several lines, is known by its last one.
        """
        try:
            yield from self._events(lines, known)
        except (BadLineError, UnreadableMessageError) as error:
            raise FatalError(f"{shown_name(self.name)}: {error}") from None

    def _events(self, lines: Iterable[str], known: SpeechFormat) -> Iterator[TimedEvent]:
        if known is FileFormat.JSONL:
            return events_of_json_lines(
                lines, prefix=self.prefix or "", lang=self.lang, epoch=self.epoch, pace=self.pace
            )
        if known is FileFormat.TEXT:
            prefix = f"{self._stem}-{self.epoch}-" if self.prefix is None else self.prefix
            labels = None
            if self.name != "-":  # what comes live is not kept waiting for its labels to recur
                lines = list(lines)
                labels = SpeakerLabels(lines)
            epoch = 0 if self.prefix is None else self.epoch  # else the names are new with each run
            return events_of_text(lines, prefix=prefix, lang=self.lang, pace=self.pace, labels=labels, epoch=epoch)
        session = f"{self._stem}-{self.epoch}" if self.prefix is None else f"{self.prefix}{self._stem}"
        numbered = SessionEvents(session=session, lang=self.lang, epoch=self.epoch)
        if isinstance(known, RecogniserName):
            return timed(self._of_messages(lines, known, numbered), self.pace)
        return timed(_of_captions(_CAPTIONS[known](lines), numbered), self.pace)

    def _of_messages(self, lines: Iterable[str], name: RecogniserName, numbered: SessionEvents) -> Iterator[WordsEvent]:
        speech = RecognisedSpeech(RECOGNISERS[name].reader(), numbered, agreement=self.agreement)
        check, words = FormatCheck(name), 0
        read = _Counted(lines)
        for message in map(check.checked, json_messages(read, passed_over=frozenset({"Done!"}))):
            try:
                events = speech.take(message)
            except UnreadableMessageError as error:
                raise BadLineError(f"line {read.count}: {error}") from None
            for event in events:
                words += len(event.words)
                yield event
        for event in speech.finish(end=True):
            words += len(event.words)
            yield event
        if (doubt := check.warning(words)) is not None:
            raise FatalError(f"{shown_name(self.name)}: {doubt}")

    def _undecided(self, head: list[str], brackets: Brackets) -> bool:
        """Tell whether more lines could say more; what comes live on standard input is not kept waiting for them."""
        if brackets.is_open:  # JSON over many lines says whose it is once it ends
            return len(head) < _LONGEST_VALUE_LINES
        text = "".join(head).strip() if self.name == "-" else ""
        return len(head) < LOOKED_AT_LINES and (not text or is_lone_value(text))

    @property
    def _stem(self) -> str:
        stem = "stdin" if self.name == "-" else shown_name(Path(self.name).stem)
        return stem.encode("utf-8", "replace")[:_LONGEST_STEM_BYTES].decode(errors="ignore")


def _opens_json(line: str, *, live: bool) -> bool:
    """Tell whether a first line may be JSON's that goes on; of an array that comes live the first value says enough."""
    return line in _OPENING or (not live and _GOES_ON.match(line) is not None)


class _Counted:
    """Lines, and how many of them were read. No line is read before it is asked for."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self.count = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.count += 1
            yield line


def _of_captions(hypotheses: Iterable[Hypothesis], numbered: SessionEvents) -> Iterator[WordsEvent]:
    for one in hypotheses:
        yield from numbered.events(
            one.words, stream=one.stream, heard_ms=one.heard_until_ms, utterance_end=one.utterance_end
        )
    yield from numbered.end()
