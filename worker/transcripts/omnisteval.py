"""Segments of sessions as OmniSTEval reads them: a JSON line a session, with the delay of each word.

OmniSTEval (PyPI ``omnisteval``) scores simultaneous translation: quality, and latency by LongYAAL. Its line has
``source``, ``prediction``, ``delays`` and ``elapsed`` (a value a word, or a character where the language writes no
spaces, in milliseconds from the recording's start) and ``source_length``. The line has ``segments`` besides, which
OmniSTEval passes over: put your translation of each segment's ``text`` in ``prediction``, each of its words with the
segment's ``delay`` and ``elapsed``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec

from caesura.schemas.segments import Segment
from caesura.worker.core.rendering.joined_text import joined_text
from caesura.worker.core.rendering.typography import typography_of


class EmittedText(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A segment's text and when it went out, in milliseconds from the recording's start.

    delay: how much of the audio had been heard (computation-unaware). elapsed: the same with the time that the work
    took (computation-aware). None: not known.
    """

    text: str
    delay: float | None = None
    elapsed: float | None = None


class _Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    source: str
    prediction: str
    source_length: int
    segments: list[EmittedText]
    delays: list[float] | None = None
    elapsed: list[float] | None = None


@dataclass(slots=True)
class OmniSTEvalLog:
    """The segments of sessions until each ends. render: makes a segment's text."""

    render: Callable[[Segment], str]
    _open: dict[str, list[tuple[Segment, float | None]]] = field(default_factory=dict)

    def add(self, segment: Segment, *, elapsed_ms: float | None = None) -> Iterator[str]:
        """Take a session's next segment, and yield the session's line where it ends.

        elapsed_ms: from the recording's start, of a segment that froze by the recording's clock. None: it froze by the
        worker's, so the start is reckoned from the word that came fastest, and the delay without the work is unknown.
        """
        self._open.setdefault(segment.session, []).append((segment, elapsed_ms))
        if segment.session_end:
            yield self._line(segment.session)

    def finish(self) -> Iterator[str]:
        """Yield the lines of the sessions that have not ended."""
        for session in list(self._open):
            yield self._line(session)

    def _line(self, session: str) -> str:
        came = self._open.pop(session)
        segments = [segment for segment, _ in came]
        ends = [_end_ms(segment) for segment in segments]
        starts = [seg.timing.appended_ms - end for seg, end in zip(segments, ends, strict=True) if end is not None]
        start_ms = min(starts, default=None)
        emitted = [self._emitted(segment, elapsed_ms, start_ms) for segment, elapsed_ms in came]
        text = joined_text([piece.text for piece in emitted], segments)
        line = _Line(
            source=session,
            prediction=text,
            source_length=max((end for end in ends if end is not None), default=segments[-1].timing.frozen_ms),
            segments=[piece for piece in emitted if piece.text],
            delays=_spread(emitted, segments, [piece.delay for piece in emitted]),
            elapsed=_spread(emitted, segments, [piece.elapsed for piece in emitted]),
        )
        return msgspec.json.encode(line).decode() + "\n"

    def _emitted(self, segment: Segment, elapsed_ms: float | None, start_ms: int | None) -> EmittedText:
        frozen_ms, text = segment.timing.frozen_ms, self.render(segment)
        if elapsed_ms is not None:
            return EmittedText(text=text, delay=frozen_ms, elapsed=round(elapsed_ms, 1))
        return EmittedText(text=text, elapsed=None if start_ms is None else frozen_ms - start_ms)


def _end_ms(segment: Segment) -> int | None:
    """Return when the segment's last word with a time ended; its start where it has no end."""
    times = [word.end_ms if word.end_ms is not None else word.start_ms for word in segment.words]
    return next((time for time in reversed(times) if time is not None), None)


def _spread(emitted: list[EmittedText], segments: list[Segment], times: list[float | None]) -> list[float] | None:
    """Return the time of each word of the joined text, or of each character; None where one is not known."""
    found: list[float] = []
    end = ""
    for piece, segment, time in zip(emitted, segments, times, strict=True):
        if time is None:
            return None
        joined = joined_text([end, piece.text], [segment, segment])
        spaced = typography_of(segment.lang).spaced
        found += [time] * (len(joined.split()) - len(end) if spaced else len(joined) - len(end))
        end = joined[-1:]
    return found
