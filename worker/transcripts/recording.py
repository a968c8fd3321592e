"""A file of speech as the word events of its sessions, whatever format it is in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain

from caesura.worker.errors import FatalError
from caesura.worker.feeds.file_format import FileFormat, SpeechFormat
from caesura.worker.feeds.lines import read_lines, shown_name
from caesura.worker.feeds.recorded_speech import RecordedSpeech
from caesura.worker.feeds.timed_events import Pace, TimedEvent


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Recording:
    """A file's word events in order. name: the file's, ``-`` for standard input.

    events: a tuple where all of it was read (``whole``), else an iterator that goes by once.
    """

    name: str
    format: SpeechFormat
    events: Iterable[TimedEvent]

    @property
    def is_text(self) -> bool:
        """Whether each session is a line of a text, with no speaker and no times."""
        return self.format is FileFormat.TEXT

    @property
    def sessions(self) -> dict[str, int]:
        """How many words each session has, in order; of a recording that is whole."""
        counts: dict[str, int] = {}
        for timed in self.events if isinstance(self.events, tuple) else ():
            counts[timed.event.session] = counts.get(timed.event.session, 0) + len(timed.event.words)
        return counts

    def whole(self) -> Recording:
        """Return it with all of its events read. Raises FatalError for what cannot be read."""
        return replace(self, events=tuple(self.events))

    def __repr__(self) -> str:
        """Return the file, its format, and what is in it."""
        sessions = self.sessions
        held = f"{len(sessions)} sessions, {sum(sessions.values())} words" if sessions else "not read yet"
        return f"<caesura.Recording {self.name}: {self.format}, {held}>"


def open_recording(
    file: str, *, lang: str = "en", given: SpeechFormat = FileFormat.AUTO, agreement: int | None = None
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
        raise FatalError(f"{shown_name(file)}: there are no words in it, read as {found}")
    return Recording(name=file, format=found, events=chain([first], events))
