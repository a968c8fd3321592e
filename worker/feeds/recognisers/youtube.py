"""YouTube's own captions, ``json3``: what the player loads, and ``yt-dlp --sub-format json3`` saves.

Source: https://github.com/yt-dlp/yt-dlp/blob/master/yt_dlp/extractor/youtube (how the format is asked for); the fields
are those of the player's answer.

- ``events`` have a start, a duration and ``segs``; in automatic captions a segment is a word, ``tOffsetMs`` after its
  event's start. An event that only breaks a line (``aAppend``) says nothing. Events overlap: an event's words end where
  the next one that says something begins.
- Captions that people wrote have a line or two a segment, and are read as captions are.
"""

from __future__ import annotations

from collections.abc import Iterator

from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis
from caesura.worker.feeds.message_fields import Message, objects, text
from caesura.worker.feeds.message_words import bare_words, spread_text
from caesura.worker.feeds.spoken_text import spoken_pieces
from caesura.worker.feeds.times import ends_guessed, ms
from caesura.worker.feeds.token_words import Token, words_of_tokens

__all__ = ["YouTube", "recognises"]


def recognises(message: Message) -> bool:
    """Tell whether this is YouTube's json3."""
    events = message.get("events")
    return isinstance(events, list) and any(isinstance(one, dict) and "tStartMs" in one for one in events)


class YouTube:
    """Reads a file's only value."""

    agreement = 0

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return a hypothesis an event. Raises UnreadableMessageError."""
        events = [one for one in objects(message, "events") if _written(one).strip()]
        starts = [ms(one.get("tStartMs")) for one in events]
        for event, after_ms in zip(events, [*starts[1:], None], strict=True):
            yield Hypothesis(words=_words(event, after_ms), final=True)

    def finish(self) -> Iterator[Hypothesis]:
        """Return nothing."""
        return iter(())


def _written(event: Message) -> str:
    return "".join(text(one, "utf8") for one in objects(event, "segs"))


def _words(event: Message, after_ms: int | None) -> tuple[HeardWord, ...]:
    segments = objects(event, "segs")
    start_ms, length_ms = ms(event.get("tStartMs")) or 0, ms(event.get("dDurationMs"))
    end_ms = after_ms if length_ms is None else start_ms + length_ms
    if after_ms is not None and end_ms is not None and start_ms <= after_ms:
        end_ms = min(end_ms, after_ms)
    if len(segments) == 1 and "tOffsetMs" not in segments[0]:
        return spread_text(text(segments[0], "utf8"), start_ms, end_ms)
    said = spoken_pieces([text(one, "utf8") for one in segments])
    tokens = [
        Token(text=piece.replace("\n", " "), start_ms=start_ms + (ms(one.get("tOffsetMs")) or 0))
        for one, piece in zip(segments, said, strict=True)
    ]
    return ends_guessed(bare_words(words_of_tokens(tokens)), until_ms=end_ms)
