"""Deepgram, live (also Flux, by turns) and pre-recorded.

Source: https://developers.deepgram.com/reference/streaming, https://developers.deepgram.com/docs/filler-words and
https://developers.deepgram.com/reference/speech-to-text/listen-flux

- ``is_final`` ends the hypotheses of a stretch of audio; ``speech_final`` only says that the speaker paused. A pause
  may come several finals after the first, so a reader of ``speech_final`` alone loses words.
- Times are seconds. ``word`` is the word as heard, ``punctuated_word`` the same once more, formatted: not read.
- Fillers come only with ``filler_words=true``.
- Flux sends ``TurnInfo``, each with the whole turn so far; ``EndOfTurn`` is the final one, ``EagerEndOfTurn`` may be
  resumed. Its words have marks and capitals, and times in newer releases only.
- The SDK for JavaScript puts a recording's answer in an envelope: ``{"result": …, "error": null}``.
- ``UtteranceEnd`` repeats a pause that no ``speech_final`` found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis
from caesura.worker.feeds.message_fields import Message, confidence, flag, name_of, object_or_empty, objects, part, text
from caesura.worker.feeds.new_streams import StreamClock
from caesura.worker.feeds.times import seconds_ms, spread
from caesura.worker.feeds.written_words import unmarked, words_of


def recognises(message: Message) -> bool:
    """Tell whether this is a message of Deepgram's."""
    if "channels" in object_or_empty(_opened(message).get("results")) or message.get("type") == "TurnInfo":
        return True
    return "is_final" in message and "channel" in message and "alternatives" in object_or_empty(message["channel"])


def _opened(message: Message) -> Message:
    """Return the answer in the envelope of the SDK for JavaScript, or the message itself."""
    inner = object_or_empty(message.get("result"))
    return inner if "results" in inner else message


class Deepgram:
    """Reads one connection after another; a new ``request_id`` is a new connection."""

    agreement = 3

    def __init__(self) -> None:
        self._request = ""
        self._clock = StreamClock()

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        recorded = _opened(message)
        if "results" in recorded:
            yield from self._recorded(part(recorded, "results"))
            return
        kind = text(message, "type") or "Results"
        if kind == "UtteranceEnd":
            yield Hypothesis(stream=_channel(message.get("channel")), utterance_end=True)
        if kind == "TurnInfo":
            yield from self._connected(text(message, "request_id"))
            yield _turn(message)
        if kind != "Results":
            return  # Metadata, SpeechStarted and what may be added
        yield from self._connected(text(part(message, "metadata"), "request_id"))
        start_ms = seconds_ms(message.get("start"))
        duration_ms = seconds_ms(message.get("duration"))
        until_ms = None if start_ms is None or duration_ms is None else start_ms + duration_ms
        alternatives = objects(part(message, "channel"), "alternatives")
        stream, final = _channel(message.get("channel_index")), flag(message, "is_final")
        if not self._request and self._clock.began_anew(stream, until_ms, final=final):
            yield Hypothesis(reconnected=True)
        yield Hypothesis(
            words=_words(alternatives[0], start_ms, until_ms) if alternatives else (),
            stream=stream,
            final=final,
            utterance_end=flag(message, "speech_final"),
            heard_until_ms=until_ms,
        )

    def finish(self) -> Iterator[Hypothesis]:
        """Return nothing: what never became final is not known to be said."""
        return iter(())

    def _connected(self, request: str) -> Iterator[Hypothesis]:
        if request and request != self._request:
            if self._request:
                yield Hypothesis(reconnected=True)
            self._request = request

    def _recorded(self, results: Message) -> Iterator[Hypothesis]:
        channels = objects(results, "channels")
        for number, channel in enumerate(channels):
            stream = str(number) if len(channels) > 1 else ""
            for alternative in objects(channel, "alternatives")[:1]:
                yield Hypothesis(words=_words(alternative, None, None), stream=stream, final=True, utterance_end=True)


def _turn(message: Message) -> Hypothesis:
    """Return all of a turn so far."""
    until_ms = seconds_ms(message.get("audio_window_end"))
    words = _words(message, seconds_ms(message.get("audio_window_start")), until_ms)
    bare = (replace(word, text=unmarked(word.text)) for word in words)
    ended = text(message, "event") == "EndOfTurn"
    return Hypothesis(
        words=tuple(word for word in bare if word.text),
        utterance=f"turn {name_of(message.get('turn_index'), 'turn_index')}",
        final=ended,
        utterance_end=ended,
        heard_until_ms=until_ms,
    )


def _words(alternative: Message, start_ms: int | None, until_ms: int | None) -> tuple[HeardWord, ...]:
    words = objects(alternative, "words")
    if not words:
        return spread(words_of(text(alternative, "transcript")), start_ms, until_ms)
    return tuple(
        HeardWord(
            text=text(word, "word"),
            start_ms=seconds_ms(word.get("start")),
            end_ms=seconds_ms(word.get("end")),
            confidence=confidence(word, "confidence"),
            speaker=name_of(word.get("speaker"), "speaker"),
        )
        for word in words
    )


def _channel(index: object) -> str:
    """Return the channel of ``[number, how many]``; empty where there is one."""
    if isinstance(index, list) and len(index) == 2 and index[1] != 1:
        return name_of(index[0], "channel_index")
    return ""
