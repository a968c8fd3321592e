"""Gladia, the result of a recording and live messages.

Source: https://docs.gladia.io/api-reference/v2/pre-recorded/get and https://docs.gladia.io/api-reference/v2/live

- ``utterances`` have ``words``, a ``speaker`` where speakers were told apart, and a ``channel``. Times are seconds.
- A live ``transcript`` has one utterance; it is final with ``is_final``. Other messages (translations, the whole
  transcript at the end) repeat it and are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from caesura.worker.feeds.hypothesis import Hypothesis
from caesura.worker.feeds.message_fields import Message, flag, name_of, objects, part, text
from caesura.worker.feeds.message_words import WordFields, spread_text
from caesura.worker.feeds.times import seconds_ms

_WORD = WordFields(text="word")


def recognises(message: Message) -> bool:
    """Tell whether this is a message of Gladia's."""
    data, result = message.get("data"), message.get("result")
    if message.get("type") == "transcript":
        return isinstance(data, dict) and "utterance" in data
    transcription = (result if isinstance(result, dict) else message).get("transcription")
    return isinstance(transcription, dict) and "utterances" in transcription


class Gladia:
    """Reads utterances."""

    agreement = 3

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        if text(message, "type"):
            if message["type"] == "transcript":
                data = part(message, "data")
                name = f"utterance {name_of(data.get('id'), 'id')}"
                yield _utterance(part(data, "utterance"), name, final=flag(data, "is_final"), several=True)
            return
        transcription = part(part(message, "result") or message, "transcription")
        utterances = objects(transcription, "utterances")
        several = len({name_of(one.get("channel"), "channel") for one in utterances}) > 1
        for one in utterances:
            yield _utterance(one, "", final=True, several=several)

    def finish(self) -> Iterator[Hypothesis]:
        """Return nothing: what never became final is not known to be said."""
        return iter(())


def _utterance(utterance: Message, name: str, *, final: bool, several: bool) -> Hypothesis:
    """Return what an utterance says. several: there may be other channels."""
    start_ms, end_ms = seconds_ms(utterance.get("start")), seconds_ms(utterance.get("end"))
    channel, speaker = name_of(utterance.get("channel"), "channel"), name_of(utterance.get("speaker"), "speaker")
    words = _WORD.bare(objects(utterance, "words")) or spread_text(text(utterance, "text"), start_ms, end_ms)
    return Hypothesis(
        words=tuple(replace(word, speaker=speaker) for word in words),
        stream=channel if several and not (name and channel == "0") else "",
        utterance=name,
        final=final,
        utterance_end=final,
        heard_until_ms=end_ms if name else None,
    )
