"""Google Cloud Speech-to-Text, versions 1 and 2, as JSON of the REST interface or of the client libraries.

Source: https://docs.cloud.google.com/speech-to-text/docs/reference/rest/v2/StreamingRecognitionResult and
https://docs.cloud.google.com/speech-to-text/docs/reference/rest/v2/projects.locations.recognizers/recognize

- A streaming answer's interim results are to be read as one: a stable beginning and an unstable rest, one result each,
  without times of words. ``stability`` is an estimate and no promise: such words wait for agreement or the final.
- Times are durations: ``"1.300s"``, or seconds and nanos; version 1 says ``startTime``, version 2 ``startOffset``, the
  libraries ``start_time``. Proto3 leaves out a start of zero. Words come only with ``enableWordTimeOffsets``.
- The Python library's ``to_dict`` and ``to_json`` write out what is not set (an empty ``speaker_label`` beside the
  ``speaker_tag``), and kinds of events as numbers.
- With speakers told apart (version 1) the last final has all words since the stream began, spoken again: those before
  the end of the last result are dropped. Of a recording only that last result says who spoke: it alone is read.
- Fillers are left out by most models, and there is no option that keeps them.
"""

from __future__ import annotations

from collections.abc import Iterator

from worker.feeds.hypothesis import HeardWord, Hypothesis
from worker.feeds.message_fields import Message, confidence, either, name_of, number, objects, text
from worker.feeds.times import duration_ms, spread
from worker.feeds.written_words import words_of

__all__ = ["Google", "recognises"]

_CHANNELS_KEPT = 1024
_FINAL = ("isFinal", "is_final")
_END = ("resultEndOffset", "result_end_offset", "resultEndTime", "result_end_time")
_EVENT = ("speechEventType", "speech_event_type")
_ACTIVITY_ENDS = ("SPEECH_ACTIVITY_END", 3)
_START_OF_WORD = ("startOffset", "start_offset", "startTime", "start_time")
_END_OF_WORD = ("endOffset", "end_offset", "endTime", "end_time")
_SPEAKER = ("speakerLabel", "speaker_label", "speakerTag", "speaker_tag")


def recognises(message: Message) -> bool:
    """Tell whether this is an answer of Google's."""
    if any(message.get(name) for name in _EVENT):
        return True
    results = message.get("results")
    first = results[0] if isinstance(results, list) and results else None
    return isinstance(first, dict) and "alternatives" in first and "IsPartial" not in first


class Google:
    """Reads answers. The words of a channel are final up to ``until``."""

    agreement = 3

    def __init__(self) -> None:
        self._until_ms: dict[str, int] = {}

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what an answer says. Raises UnreadableMessageError."""
        interim: dict[str, list[HeardWord]] = {}
        heard: dict[str, int | None] = {}
        results = objects(message, "results")
        streamed = any(either(result, *_FINAL, "stability") is not None for result in results)  # else a recording's
        for result in results if streamed else _recorded(results):
            stream = _channel(result)
            until_ms = duration_ms(either(result, *_END))
            words = self._words(result, stream, until_ms)
            if either(result, *_FINAL) is True or not streamed:
                yield Hypothesis(words=words, stream=stream, final=True, heard_until_ms=until_ms)
                self._heard(stream, words)
            else:
                interim.setdefault(stream, []).extend(words)
                heard[stream] = until_ms
        for stream, together in interim.items():
            yield Hypothesis(words=tuple(together), stream=stream, heard_until_ms=heard[stream])
        if either(message, *_EVENT) in _ACTIVITY_ENDS:
            yield Hypothesis(utterance_end=True)

    def finish(self) -> Iterator[Hypothesis]:
        """Return nothing: what never became final is not known to be said."""
        return iter(())

    def _heard(self, stream: str, words: tuple[HeardWord, ...]) -> None:
        """Note up to where a channel is final; the channel that was least lately heard goes where there are many."""
        until_ms = self._until_ms.pop(stream, 0)
        self._until_ms[stream] = max([until_ms, *(word.end_ms or 0 for word in words)])
        if len(self._until_ms) > _CHANNELS_KEPT:
            del self._until_ms[next(iter(self._until_ms))]

    def _words(self, result: Message, stream: str, until_ms: int | None) -> tuple[HeardWord, ...]:
        alternatives = objects(result, "alternatives")
        if not alternatives:
            return ()
        words = tuple(map(_word, objects(alternatives[0], "words")))
        if not words:
            texts = words_of(text(alternatives[0], "transcript"))
            final = either(result, *_FINAL) is True
            return spread(texts, self._until_ms.get(stream, 0), until_ms) if final else _untimed(texts)
        if any(word.speaker for word in words):
            begin_ms = self._until_ms.get(stream, 0)
            words = tuple(word for word in words if word.end_ms is None or word.end_ms > begin_ms)
        return words


def _channel(result: Message) -> str:
    return str(number(result, "channelTag") or number(result, "channel_tag") or "")


def _recorded(results: list[Message]) -> list[Message]:
    """Return a recording's results, less those of its channel that the last one has again, with speakers."""
    if not results or not _says_who(results[-1]) or any(map(_says_who, results[:-1])):
        return results
    return [*(one for one in results[:-1] if _channel(one) != _channel(results[-1])), results[-1]]


def _says_who(result: Message) -> bool:
    return any(_word(word).speaker for one in objects(result, "alternatives")[:1] for word in objects(one, "words"))


def _untimed(texts: list[str]) -> tuple[HeardWord, ...]:
    return tuple(HeardWord(text=one) for one in texts)


def _word(word: Message) -> HeardWord:
    start, end = either(word, *_START_OF_WORD), either(word, *_END_OF_WORD)
    speaker = next((word[name] for name in _SPEAKER if word.get(name)), None)
    return HeardWord(
        text=text(word, "word"),
        start_ms=duration_ms(start) if start is not None else (0 if end is not None else None),
        end_ms=duration_ms(end),
        confidence=confidence(word, "confidence") or None,  # proto3: 0 is "not set"
        speaker=name_of(speaker, "speakerTag"),
    )
