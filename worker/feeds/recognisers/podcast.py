"""Podcasts' transcripts as JSON, as hosts of podcasts publish them beside SRT and WebVTT.

Source: https://github.com/Podcastindex-org/podcast-namespace/blob/main/docs/examples/transcripts/transcripts.md

``segments`` have a ``body``, ``startTime`` and ``endTime`` in seconds, and a ``speaker`` where it is known. A body is a
word, a phrase or a mark alone; sounds may go over several. Segments that follow one another with the same times are one
stretch that was cut into lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from caesura.worker.feeds.hypothesis import Hypothesis
from caesura.worker.feeds.message_fields import Message, name_of, objects, text
from caesura.worker.feeds.spoken_text import spoken_pieces
from caesura.worker.feeds.times import seconds_ms, spread
from caesura.worker.feeds.written_words import written_units


def recognises(message: Message) -> bool:
    """Tell whether this is a podcast's transcript."""
    segments = message.get("segments")
    return isinstance(segments, list) and any(
        isinstance(one, dict) and isinstance(one.get("body"), str) and "startTime" in one for one in segments
    )


class Podcast:
    """Reads a file's only value."""

    agreement = 0

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return a hypothesis a segment. Raises UnreadableMessageError."""
        segments = objects(message, "segments")
        spoken = spoken_pieces([f" {text(one, 'body')}\n" for one in segments])
        placed = [
            (
                name_of(segment.get("speaker"), "speaker"),
                seconds_ms(segment.get("startTime")),
                seconds_ms(segment.get("endTime")),
            )
            for segment in segments
        ]
        stretches = groupby(zip(placed, spoken, strict=True), key=itemgetter(0))
        for (speaker, start_ms, end_ms), lines in stretches:
            words = spread(written_units("".join(said for _, said in lines)), start_ms, end_ms)
            yield Hypothesis(words=tuple(replace(word, speaker=speaker) for word in words), final=True)

    def finish(self) -> Iterator[Hypothesis]:
        """Return nothing."""
        return iter(())
