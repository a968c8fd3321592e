"""A file of speech as the word events of its sessions, whatever format it is in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from worker.errors import FatalError
from worker.feeds.file_format import FileFormat
from worker.feeds.lines import read_lines
from worker.feeds.recorded_speech import RecordedSpeech
from worker.feeds.timed_events import Pace, TimedEvent

__all__ = ["Recording", "open_recording"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A file's word events, read once, in order. name: the file's, ``-`` for standard input."""

    name: str
    format: FileFormat
    events: Iterator[TimedEvent]

    @property
    def is_text(self) -> bool:
        """Whether each session is a line of a text, with no speaker and no times."""
        return self.format is FileFormat.TEXT


def open_recording(
    file: str, *, lang: str = "en", given: FileFormat = FileFormat.AUTO, agreement: int | None = None
) -> Recording:
    """Open a file (``-``: standard input, read as it comes) and read it up to its first event.

    lang: of events that name none. given: what the file is; auto: what stands in it says so. agreement: hypotheses
    running that must agree on a recogniser's unmarked word. Raises FatalError naming the file and what is wrong; the
    events raise it later, for what stands further on.
    """
    pace = Pace(sessions_at_once=1)  # the lines of a text one after another
    speech = RecordedSpeech(name=file, lang=lang, prefix="", epoch=0, pace=pace, agreement=agreement)
    found, lines = speech.format_of(read_lines(file, escaped_json=True), given)
    events = speech.events(lines, found)
    first = next(events, None)
    if first is None:
        shown = "standard input" if file == "-" else file
        raise FatalError(f"{shown}: there are no words in it, read as {found}")
    return Recording(name=file, format=found, events=chain([first], events))
