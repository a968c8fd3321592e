"""Azure AI Speech: the service's JSON, as the Speech SDK's properties or the REST answers hold it; batch and fast.

Source: https://learn.microsoft.com/en-us/azure/ai-services/speech-service/get-speech-recognition-results,
https://learn.microsoft.com/en-us/azure/ai-services/speech-service/batch-transcription-get and
https://learn.microsoft.com/en-us/azure/ai-services/speech-service/fast-transcription-create

- Times are ticks of 100 ns. A result's ``Offset`` and ``Duration`` say where it lies; words have their own with word
  time stamps asked for, and never while recognition is in progress.
- A hypothesis (``Text`` without ``RecognitionStatus``) is lower case and without marks; a phrase has ``Lexical``,
  ``ITN``, ``MaskedITN`` and ``Display``, four writings of the same words. ``Words`` is the lexical one and is read;
  ``DisplayWords`` repeats it, formatted.
- ``PostProcessingOption=TrueText`` removes fillers from what is displayed: do not set it, and ask for detailed output.
- Conversation transcription tells speakers apart in phrases. A hypothesis has the ``SpeakerId`` ``Unknown`` or none,
  and is not read then: its words would go to another session than those of its phrase.
- ``EndOfDictation``, ``InitialSilenceTimeout`` and ``NoMatch`` have no words. The SDK for JavaScript writes
  ``RecognitionStatus`` as a number: 0 is ``Success``. Its results as JSON have the service's in ``privJson``.
- A batch has ``recognizedPhrases``, times as ticks and as ISO 8601; fast transcription has ``phrases`` in milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis
from caesura.worker.feeds.message_fields import Message, confidence, name_of, object_in_text, objects, text
from caesura.worker.feeds.message_words import WordFields, spread_text
from caesura.worker.feeds.new_streams import StreamClock
from caesura.worker.feeds.times import iso_ms, ms, spread, ticks_ms
from caesura.worker.feeds.written_words import unmarked, words_of


def recognises(message: Message) -> bool:
    """Tell whether this is a message of Azure's."""
    if {"RecognitionStatus", "recognizedPhrases", "combinedPhrases", "privJson"} & set(message):
        return True
    return isinstance(message.get("Text"), str) and "Offset" in message and "Duration" in message


class Azure:
    """Reads hypotheses and phrases."""

    agreement = 3

    def __init__(self) -> None:
        self._clock = StreamClock()

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        if "privJson" in message:
            message = object_in_text(message, "privJson")
        if "recognizedPhrases" in message or "phrases" in message:
            yield from _recorded(message)
            return
        offset_ms, duration_ms = ticks_ms(message.get("Offset")), ticks_ms(message.get("Duration"))
        until_ms = None if offset_ms is None or duration_ms is None else offset_ms + duration_ms
        status = _status(message)
        channel, speaker = message.get("Channel"), text(message, "SpeakerId")
        stream = name_of(channel, "Channel") if channel != 0 else ""
        if self._clock.began_anew(stream, until_ms, final=bool(status)):
            yield Hypothesis(reconnected=True)
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


def _status(message: Message) -> str:
    """Return how a phrase was recognised, empty of a hypothesis; only success has words."""
    written = message.get("RecognitionStatus")
    if isinstance(written, int) and not isinstance(written, bool):
        written = str(written)
    else:
        written = text(message, "RecognitionStatus")
    return "Success" if written == "0" else written


def _recorded(message: Message) -> Iterator[Hypothesis]:
    """Yield a hypothesis a phrase of a recording."""
    phrases = objects(message, "recognizedPhrases") or objects(message, "phrases")
    channels = {name_of(phrase.get("channel"), "channel") for phrase in phrases}
    for phrase in phrases:
        channel = name_of(phrase.get("channel"), "channel") if len(channels) > 1 else ""
        speaker = name_of(phrase.get("speaker"), "speaker")
        words = tuple(replace(word, speaker=speaker) for word in _phrase_words(phrase))
        yield Hypothesis(words=words, stream=channel, final=True, utterance_end=True)


def _phrase_words(phrase: Message) -> tuple[HeardWord, ...]:
    best = next(iter(objects(phrase, "nBest")), None)
    if best is None:
        start_ms, duration_ms = ms(phrase.get("offsetMilliseconds")), ms(phrase.get("durationMilliseconds"))
        fields = WordFields(start="offsetMilliseconds", duration="durationMilliseconds", ms=ms)
        timed = fields.bare(objects(phrase, "words"))
        written = text(phrase, "text")
    else:
        start_ms, duration_ms = _batch_ms(phrase, "offset"), _batch_ms(phrase, "duration")
        timed = tuple(map(_batch_word, objects(best, "words")))
        written = text(best, "lexical") or text(best, "display")
    end_ms = None if start_ms is None or duration_ms is None else start_ms + duration_ms
    return timed or spread_text(written, start_ms, end_ms)


def _batch_word(word: Message) -> HeardWord:
    start_ms, duration_ms = _batch_ms(word, "offset"), _batch_ms(word, "duration")
    return HeardWord(
        text=text(word, "word"),
        start_ms=start_ms,
        end_ms=None if start_ms is None or duration_ms is None else start_ms + duration_ms,
        confidence=confidence(word, "confidence"),
    )


def _batch_ms(message: Message, name: str) -> int | None:
    """Return a time of a batch, in ticks or as ISO 8601 writes a duration."""
    told = ticks_ms(message.get(f"{name}InTicks"))
    return iso_ms(message.get(name)) if told is None else told


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
