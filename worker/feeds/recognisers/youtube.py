"""YouTube's own captions, ``json3``: what the player loads, and ``yt-dlp --sub-format json3`` saves.

Source: https://github.com/yt-dlp/yt-dlp/blob/master/yt_dlp/extractor/youtube (how the format is asked for); the fields
are those of the player's answer.

- ``events`` have a start, a duration and ``segs``; in automatic captions a segment is a word, ``tOffsetMs`` after its
  event's start. An event that only breaks a line (``aAppend``) says nothing. Events overlap: an event's words end where
  the next one that says something begins.
- Captions that people wrote have a segment a cue, and are read as captions are, with labels and sounds over cues.
- ``youtube-transcript-api`` (https://github.com/jdepoix/youtube-transcript-api) writes a list of ``text``, ``start``
  and ``duration`` in seconds, or ``snippets`` of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from caesura.worker.feeds.formats.captions import spoken_hypotheses
from caesura.worker.feeds.formats.cues import FileCue
from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis
from caesura.worker.feeds.message_fields import Message, objects, text
from caesura.worker.feeds.message_words import bare_words, spread_text
from caesura.worker.feeds.spoken_text import spoken_pieces
from caesura.worker.feeds.times import ends_guessed, ms, seconds_ms
from caesura.worker.feeds.token_words import Token, words_of_tokens

_SNIPPET = frozenset(("text", "start", "duration"))


def recognises(message: Message) -> bool:
    """Tell whether this is YouTube's json3, or what its transcript's library writes."""
    events, snippets = message.get("events"), message.get("snippets")
    return (
        set(message) == _SNIPPET
        or (isinstance(events, list) and any(isinstance(one, dict) and "tStartMs" in one for one in events))
        or (isinstance(snippets, list) and any(isinstance(one, dict) and set(one) == _SNIPPET for one in snippets))
    )


class YouTube:
    """Reads a file's values. Snippets that come alone wait for all of them: labels are known by the others."""

    agreement = 0

    def __init__(self) -> None:
        self._snippets: list[Message] = []

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return a hypothesis an event. Raises UnreadableMessageError."""
        if "events" not in message:
            alone = set(message) == _SNIPPET
            self._snippets += [message] if alone else objects(message, "snippets")
            return
        events = [one for one in objects(message, "events") if _written(one).strip()]
        if not any(map(_has_word_times, events)):
            yield from _of_cues(
                _cue(ms(one.get("tStartMs")), ms(one.get("dDurationMs")), _written(one)) for one in events
            )
            return
        starts = [ms(one.get("tStartMs")) for one in events]
        for event, after_ms in zip(events, [*starts[1:], None], strict=True):
            yield Hypothesis(words=_words(event, after_ms), final=True)

    def finish(self) -> Iterator[Hypothesis]:
        """Return what snippets say. Raises UnreadableMessageError."""
        snippets, self._snippets = self._snippets, []
        yield from _of_cues(
            _cue(seconds_ms(one.get("start")), seconds_ms(one.get("duration")), text(one, "text")) for one in snippets
        )


def _has_word_times(event: Message) -> bool:
    return bool(event.get("aAppend")) or any("tOffsetMs" in one for one in objects(event, "segs"))


def _cue(start_ms: int | None, length_ms: int | None, written: str) -> FileCue:
    begin_ms = start_ms or 0
    return FileCue(begin_ms=begin_ms, end_ms=begin_ms + (length_ms or 0), lines=tuple(written.splitlines()))


def _of_cues(cues: Iterable[FileCue]) -> Iterator[Hypothesis]:
    """Yield the hypotheses of cues, each ended where the next begins at the latest."""
    given = list(cues)
    ends = [min(cue.end_ms, after.begin_ms) for cue, after in pairwise(given) if cue.begin_ms <= after.begin_ms]
    if len(ends) == len(given) - 1:
        given = [*(replace(cue, end_ms=end_ms) for cue, end_ms in zip(given[:-1], ends, strict=True)), given[-1]]
    for one in spoken_hypotheses(given):
        yield replace(one, words=bare_words(one.words))


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
