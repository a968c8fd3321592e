"""Speechmatics, the transcript of a recording (``json-v2``) and real-time messages.

Source: https://docs.speechmatics.com/speech-to-text/batch/output and
https://docs.speechmatics.com/api-ref/realtime-transcription-websocket

- ``results`` are of type ``word`` or ``punctuation``, each with ``alternatives[].content``; marks are dropped. An
  ``entity`` (a date, an amount) stands for its words: those of its ``spoken_form`` are read.
- ``AddTranscript`` is final, ``AddPartialTranscript`` has what follows the last final. ``EndOfUtterance`` is a pause.
- Times are seconds. The speaker ``UU`` is unknown. Disfluencies are tagged, and kept unless they are removed by option.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis
from caesura.worker.feeds.message_fields import Message, objects, part, text
from caesura.worker.feeds.message_words import WordFields
from caesura.worker.feeds.new_streams import StreamClock
from caesura.worker.feeds.times import seconds_ms, spread

_TIMES = WordFields(text="type", start="start_time", end="end_time")
_WORD = WordFields(text="content", start="start_time", end="end_time")


def recognises(message: Message) -> bool:
    """Tell whether this is a message of Speechmatics'."""
    if message.get("message") in ("AddTranscript", "AddPartialTranscript", "EndOfUtterance", "RecognitionStarted"):
        return True
    results = message.get("results")
    first = results[0] if isinstance(results, list) and results else None
    alternatives = first.get("alternatives") if isinstance(first, dict) and "type" in first else None
    return isinstance(alternatives, list) and any(isinstance(one, dict) and "content" in one for one in alternatives)


class Speechmatics:
    """Reads transcripts."""

    agreement = 3

    def __init__(self) -> None:
        self._connected = False
        self._clock = StreamClock()

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        kind = text(message, "message")
        if kind == "RecognitionStarted":
            if self._connected:
                self._clock = StreamClock()
                yield Hypothesis(reconnected=True)
            self._connected = True
        elif kind == "EndOfUtterance":
            yield Hypothesis(utterance_end=True)
        elif kind in ("", "AddTranscript", "AddPartialTranscript"):
            final = kind != "AddPartialTranscript"
            until_ms = seconds_ms(part(message, "metadata").get("end_time")) if kind else None
            if self._clock.began_anew(text(message, "channel"), until_ms, final=final):
                yield Hypothesis(reconnected=True)
            by_channel: dict[str, list[HeardWord]] = {}
            for result in objects(message, "results"):
                for word in _spoken(result):
                    by_channel.setdefault(text(result, "channel"), []).append(word)
            if not by_channel:
                by_channel[text(message, "channel")] = []
            for channel, words in by_channel.items():
                yield Hypothesis(
                    words=tuple(words), stream=channel, final=final, utterance_end=not kind, heard_until_ms=until_ms
                )

    def finish(self) -> Iterator[Hypothesis]:
        """Return nothing: what never became final is not known to be said."""
        return iter(())


def _spoken(result: Message) -> Iterator[HeardWord]:
    """Yield a result's words: those that an entity was spoken with, else those that it is written with."""
    if text(result, "type") == "word":
        yield _word(result)
    elif text(result, "type") == "entity":
        spoken = [one for one in objects(result, "spoken_form") if text(one, "type") in ("", "word")]
        whole = _word(result)
        if not spoken:
            said = spread(whole.text.split(), whole.start_ms, whole.end_ms)
            yield from (replace(word, speaker=whole.speaker) for word in said)
        for word in map(_word, spoken):
            yield replace(word, speaker=word.speaker or whole.speaker)


def _word(result: Message) -> HeardWord:
    times, best = _TIMES.read(result), next(iter(objects(result, "alternatives")), {})
    word = _WORD.read(best)
    speaker = "" if word.speaker == "UU" else word.speaker
    return replace(word, start_ms=times.start_ms, end_ms=times.end_ms, speaker=speaker)
