"""Azure AI Speech: the service's JSON, as the Speech SDK's properties or the REST answer hold it.

Source: https://learn.microsoft.com/en-us/azure/ai-services/speech-service/get-speech-recognition-results

- Times are ticks of 100 ns. A result's ``Offset`` and ``Duration`` say where it lies; words have their own with word
  time stamps asked for, and never while recognition is in progress.
- A hypothesis (``Text`` without ``RecognitionStatus``) is lower case and without marks; a phrase has ``Lexical``,
  ``ITN``, ``MaskedITN`` and ``Display``, four writings of the same words. ``Words`` is the lexical one and is read;
  ``DisplayWords`` repeats it, formatted.
- ``PostProcessingOption=TrueText`` removes fillers from what is displayed: do not set it, and ask for detailed output.
- Conversation transcription tells speakers apart in phrases. A hypothesis has the ``SpeakerId`` ``Unknown`` or none,
  and is not read then: its words would go to another session than those of its phrase.
- ``EndOfDictation``, ``InitialSilenceTimeout`` and ``NoMatch`` have no words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from worker.feeds.hypothesis import HeardWord, Hypothesis
from worker.feeds.message_fields import Message, confidence, name_of, objects, text
from worker.feeds.times import spread, ticks_ms
from worker.feeds.written_words import unmarked, words_of

__all__ = ["Azure", "recognises"]


def recognises(message: Message) -> bool:
    """Tell whether this is a message of Azure's."""
    if "RecognitionStatus" in message:
        return True
    return isinstance(message.get("Text"), str) and "Offset" in message and "Duration" in message


class Azure:
    """Reads hypotheses and phrases."""

    agreement = 3

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        offset_ms, duration_ms = ticks_ms(message.get("Offset")), ticks_ms(message.get("Duration"))
        until_ms = None if offset_ms is None or duration_ms is None else offset_ms + duration_ms
        status = text(message, "RecognitionStatus")
        channel, speaker = message.get("Channel"), text(message, "SpeakerId")
        stream = name_of(channel, "Channel") if channel != 0 else ""
        if status and status != "Success":
            yield Hypothesis(stream=stream, final=True, heard_until_ms=until_ms)
            return
        transcribed = speaker == "Unknown" or text(message, "Type") == "ConversationTranscription"
        if not status and transcribed and speaker in ("", "Unknown"):
            return
        words = _phrase(message, offset_ms, until_ms) if status else _hypothesis(message, offset_ms, until_ms)
        if speaker and speaker != "Unknown":
            words = tuple(replace(word, speaker=speaker) for word in words)
        final = bool(status)
        yield Hypothesis(words=words, stream=stream, final=final, utterance_end=final, heard_until_ms=until_ms)

    def finish(self) -> Iterator[Hypothesis]:
        """Return nothing: what never became final is not known to be said."""
        return iter(())


def _hypothesis(message: Message, offset_ms: int | None, until_ms: int | None) -> tuple[HeardWord, ...]:
    timed = tuple(map(_word, objects(message, "Words")))
    return timed or spread(words_of(text(message, "Text")), offset_ms, until_ms)


def _phrase(message: Message, offset_ms: int | None, until_ms: int | None) -> tuple[HeardWord, ...]:
    best = next(iter(objects(message, "NBest")), {})
    timed = tuple(map(_word, objects(best, "Words")))
    if timed:
        return timed
    lexical = words_of(text(best, "Lexical"))
    displayed = text(best, "Display") or text(message, "DisplayText")
    return spread(lexical or [bare for word in words_of(displayed) if (bare := unmarked(word))], offset_ms, until_ms)


def _word(word: Message) -> HeardWord:
    offset_ms, duration_ms = ticks_ms(word.get("Offset")), ticks_ms(word.get("Duration"))
    return HeardWord(
        text=text(word, "Word"),
        start_ms=offset_ms,
        end_ms=None if offset_ms is None or duration_ms is None else offset_ms + duration_ms,
        confidence=confidence(word, "Confidence"),
    )
