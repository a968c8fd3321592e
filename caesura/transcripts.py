"""A recording read from a file, and the transcript that a model makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from caesura.segments import Segment
from caesura.worker.core.rendering.conversation import Characteristics, Placed, characteristics_of
from caesura.worker.errors import ArgumentError
from caesura.worker.feeds.file_format import FORMATS, format_named
from caesura.worker.transcripts.recording import Recording, open_recording
from caesura.worker.transcripts.writing import TranscriptForm, TranscriptWriter

__all__ = ["Transcript", "read_recording"]


def read_recording(path: str | Path, *, lang: str = "en", format: str = "auto") -> Recording:  # noqa: A002 - its word
    """Read a recording: a recogniser's output, captions, CTM, word events or a text (docs/recognisers.md).

    lang: of what names none itself. format: what the file is, where what stands in it does not say so. ArgumentError
    for a format that there is not, CaesuraError naming the file and what is wrong with it.
    """
    texts: tuple[object, object] = (path, lang)
    if not isinstance(texts[0], str | Path) or not isinstance(texts[1], str):
        raise ArgumentError("a file's path and a language are wanted: read('call.json', lang='en')")
    try:
        given = format_named(format)
    except ValueError:
        raise ArgumentError(f"there is no format {format!r}; there are {', '.join(FORMATS)}") from None
    return open_recording(str(path), lang=lang, given=given).whole()


class Transcript:
    """A recording's frozen segments as one conversation, in order of time.

    refused: how many events their sessions did not take, by reason; none in a recording that is whole.
    """

    def __init__(self, placed: Sequence[Placed], *, name: str, refused: Mapping[str, int]) -> None:
        self._placed = list(placed)
        self._name = name
        self.refused = refused

    @property
    def segments(self) -> list[Segment]:
        """The segments, all sides of the conversation in order of time."""
        return [Segment(one.segment) for one in self._placed]

    @property
    def text(self) -> str:
        """Paragraphs, each with its time and its side's name where there are any; fillers and repairs left out."""
        return self._written(TranscriptForm.TEXT)

    @property
    def marked(self) -> str:
        """The same with every word, what was taken back in [brackets] and fillers in {braces}."""
        return self._written(TranscriptForm.MARKED)

    @property
    def srt(self) -> str:
        """Captions in SubRip. CaesuraError where the words have no times."""
        return self._written(TranscriptForm.SRT)

    @property
    def vtt(self) -> str:
        """Captions in WebVTT, speakers as voices. CaesuraError where the words have no times."""
        return self._written(TranscriptForm.VTT)

    @property
    def characteristics(self) -> Characteristics:
        """Talk and silence a side, overlap and interruptions, in milliseconds of audio."""
        return characteristics_of(self._placed)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        """Return whose it is and how much there is of it."""
        sides = len({one.segment.session for one in self._placed})
        return f"<caesura.Transcript {self._name}: {sides} sessions, {len(self._placed)} segments>"

    def _written(self, form: TranscriptForm) -> str:
        return "".join(TranscriptWriter(name=self._name, form=form).of_conversation(self._placed))
