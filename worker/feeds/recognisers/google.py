"""Google Cloud Speech-to-Text, versions 1 and 2, as JSON of the REST interface or of the client libraries; Riva.

Source: https://docs.cloud.google.com/speech-to-text/docs/reference/rest/v2/StreamingRecognitionResult and
https://docs.cloud.google.com/speech-to-text/docs/reference/rest/v2/projects.locations.recognizers/recognize

- A streaming answer's interim results are to be read as one: a stable beginning and an unstable rest, one result each,
  without times of words. ``stability`` is an estimate and no promise: such words wait for agreement or the final.
- JSON leaves ``isFinal`` and ``stability`` out where they are false and 0: a lone result without them, without words
  and confidence may be interim, or a recording. Such are interim once a later one shows that this is a stream; else
  they are final at the end, less those that grow into the next one.
- Times are durations: ``"1.300s"``, or seconds and nanos; version 1 says ``startTime``, version 2 ``startOffset``, the
  libraries ``start_time``. Proto3 leaves out a start of zero. Words come only with ``enableWordTimeOffsets``.
- The Python library's ``to_dict`` and ``to_json`` write out what is not set (an empty ``speaker_label`` beside the
  ``speaker_tag``), and kinds of events as numbers.
- With speakers told apart (version 1) the last final has all words since the stream began, spoken again: those before
  the end of the last result are dropped. Of a recording only that last result says who spoke: it alone is read.
- A stream ends after 305 seconds at most: another ``requestId``, or times that go back, begin a new one.
- A long-running operation has its answer in ``response``; a batch (version 2) has one a file. The library for Node
  writes seconds as two halves, and its answer as a list with nulls.
- Models of version 2 may leave their mark for a word's beginning (U+2581) in words: dropped.
- Fillers are left out by most models, and there is no option that keeps them.

NVIDIA Riva's answers have the same shape, with times in whole milliseconds and ``audioProcessed``
(https://docs.nvidia.com/deeplearning/riva/user-guide/docs/reference/protos/riva_asr.proto.html).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from caesura.worker.feeds.hypothesis import MAX_KEPT_CHARACTERS, HeardWord, Hypothesis, UnreadableMessageError
from caesura.worker.feeds.message_fields import (
    Message,
    confidence,
    either,
    name_of,
    number,
    object_or_empty,
    objects,
    text,
)
from caesura.worker.feeds.new_streams import StreamClock
from caesura.worker.feeds.times import duration_ms, ms, seconds_ms, spread
from caesura.worker.feeds.written_words import words_of

_CHANNELS_KEPT = 1024
_WORD_MARK = "\u2581"
_FINAL = ("isFinal", "is_final")
_END = ("resultEndOffset", "result_end_offset", "resultEndTime", "result_end_time", "audioProcessed", "audio_processed")
_EVENT = ("speechEventType", "speech_event_type")
_OTHERS = frozenset(("IsPartial", "final", "type"))
_BILLED = ("totalBilledTime", "total_billed_time", "totalBilledDuration", "total_billed_duration", "response")
_ACTIVITY_ENDS = ("SPEECH_ACTIVITY_END", 3)
_START_OF_WORD = ("startOffset", "start_offset", "startTime", "start_time")
_END_OF_WORD = ("endOffset", "end_offset", "endTime", "end_time")
_SPEAKER = ("speakerLabel", "speaker_label", "speakerTag", "speaker_tag")


def recognises(message: Message) -> bool:
    """Tell whether this is an answer of Google's."""
    if any(message.get(name) for name in _EVENT):
        return True
    results = [result for _, several in _answers(message) if isinstance(several, list) for result in several]
    return "result_index" not in message and bool(results) and _is_result(results[0]) and not _is_rivas(results)


def recognises_riva(message: Message) -> bool:
    """Tell whether this is an answer of Riva's."""
    results = message.get("results")
    return isinstance(results, list) and _is_rivas(results)


def _is_result(result: object) -> bool:
    """Tell whether a result has what Google's has, and nothing that only others have."""
    if not isinstance(result, dict) or "alternatives" not in result or _OTHERS & set(result):
        return False
    alternatives = result["alternatives"]
    first = alternatives[0] if isinstance(alternatives, list) and alternatives else {}
    return isinstance(first, dict) and not {"content", "timestamps"} & set(first)


def _is_rivas(results: list[object]) -> bool:
    """Tell whether results say how much audio was processed, or have times of words as numbers: milliseconds."""
    for one in filter(None, map(object_or_empty, results)):
        if "audioProcessed" in one or "audio_processed" in one:
            return True
        alternatives = one.get("alternatives")
        for best in map(object_or_empty, alternatives if isinstance(alternatives, list) else ()):
            words = best.get("words")
            for word in map(object_or_empty, words if isinstance(words, list) else ()):
                end = either(word, *_END_OF_WORD)
                return isinstance(end, int) and not isinstance(end, bool)
    return False


def _answers(message: Message) -> Iterator[tuple[str, object]]:
    """Yield the results of an answer, of an operation's, or of each file of a batch with its number."""
    response = object_or_empty(message.get("response"))
    results = response.get("results") if response else message.get("results")
    if not isinstance(results, Mapping):
        yield "", results
        return
    for count, file in enumerate(map(object_or_empty, results.values()), start=1):
        inline = object_or_empty(either(file, "inlineResult", "inline_result")) or file
        if (found := object_or_empty(inline.get("transcript")).get("results")) is not None:
            yield (f"file {count}" if len(results) > 1 else ""), found


class Google:
    """Reads answers. The words of a channel are final up to ``until``."""

    agreement = 3
    _duration_ms: Callable[[object], int | None] = staticmethod(duration_ms)
    _result_end_ms: Callable[[object], int | None] = staticmethod(duration_ms)

    def __init__(self) -> None:
        self._until_ms: dict[str, int] = {}
        self._clock = StreamClock()
        self._request = ""
        self._streamed = False
        self._undecided: list[tuple[str, int | None, list[str]]] = []  # of results: channel, end, words
        self._kept = 0

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what an answer says. Raises UnreadableMessageError."""
        request = name_of(either(message, "requestId", "request_id", "requestID"), "requestId")
        if request not in ("", "0", self._request):
            yield from self._decided()
            yield from self._anew(anew=bool(self._request))
            self._request = request
        billed = bool(either(message, *_BILLED) or either(object_or_empty(message.get("metadata")), *_BILLED))
        for file, results in _answers(message):
            yield from self._results(objects({"results": results}, "results"), file, billed=billed)
        if either(message, *_EVENT) in _ACTIVITY_ENDS:
            yield Hypothesis(utterance_end=True)

    def _results(self, results: list[Message], file: str, *, billed: bool) -> Iterator[Hypothesis]:
        interim: dict[str, list[HeardWord]] = {}
        heard: dict[str, int | None] = {}
        if any(either(result, *_FINAL, "stability") is not None for result in results):
            self._streamed = True
            self._undecided, self._kept = [], 0
        undecided = not (self._streamed or billed) and len(results) == 1 and _is_bare(results[0])
        streamed = self._streamed or undecided
        if undecided:
            texts = _texts(results[0])
            self._undecided.append((_channel(results[0]), self._result_end_ms(either(results[0], *_END)), texts))
            self._kept += 1 + sum(1 + len(one) for one in texts)
            if self._kept > MAX_KEPT_CHARACTERS:
                yield from self._decided()
        for result in results if streamed else _recorded(results):
            if _OTHERS & set(result):
                raise UnreadableMessageError(
                    "results: expected Google's, and these have a field of another recogniser's"
                )
            stream = file or _channel(result)
            until_ms = self._result_end_ms(either(result, *_END))
            final = either(result, *_FINAL) is True or not streamed
            yield from self._anew(anew=self._streamed and self._clock.began_anew(stream, until_ms, final=final))
            words = self._words(result, stream, until_ms, final=final)
            if final:
                yield Hypothesis(words=words, stream=stream, final=True, heard_until_ms=until_ms)
                self._heard(stream, words, until_ms)
            else:
                interim.setdefault(stream, []).extend(words)
                heard[stream] = until_ms
        for stream, together in interim.items():
            yield Hypothesis(words=tuple(together), stream=stream, heard_until_ms=heard[stream])

    def _anew(self, *, anew: bool) -> Iterator[Hypothesis]:
        """Begin a new stream, where there is one: its words are not those of the one before."""
        if anew:
            self._until_ms.clear()
            yield Hypothesis(reconnected=True)

    def finish(self) -> Iterator[Hypothesis]:
        """Return what may be final; what is known not to be is not known to be said."""
        return self._decided()

    def _decided(self) -> Iterator[Hypothesis]:
        """Yield the lone results that nothing showed to be interim, and that are not the beginning of the next one."""
        results, self._undecided, self._kept = self._undecided, [], 0
        for (stream, until_ms, texts), (_, _, following) in pairwise([*results, ("", None, [])]):
            if texts != following[: len(texts)]:
                words = spread(texts, self._until_ms.get(stream, 0), until_ms)
                yield Hypothesis(words=words, stream=stream, final=True, heard_until_ms=until_ms)
                self._heard(stream, words, until_ms)

    def _heard(self, stream: str, words: tuple[HeardWord, ...], until_ms: int | None) -> None:
        """Note up to where a channel is final; the channel that was least lately heard goes where there are many."""
        before_ms = self._until_ms.pop(stream, 0)
        ends = [word.end_ms or 0 for word in words if not word.end_guessed] or [until_ms or 0]
        self._until_ms[stream] = max([before_ms, *ends])
        if len(self._until_ms) > _CHANNELS_KEPT:
            del self._until_ms[next(iter(self._until_ms))]

    def _words(self, result: Message, stream: str, until_ms: int | None, *, final: bool) -> tuple[HeardWord, ...]:
        alternatives = objects(result, "alternatives")
        if not alternatives:
            return ()
        words = tuple(_word(word, self._duration_ms) for word in objects(alternatives[0], "words"))
        if not words:
            texts = _texts(result)
            return spread(texts, self._until_ms.get(stream, 0), until_ms) if final else _untimed(texts)
        if any(word.speaker for word in words):
            begin_ms = self._until_ms.get(stream, 0)
            words = tuple(word for word in words if word.end_ms is None or word.end_ms > begin_ms)
        return words


def _is_bare(result: Message) -> bool:
    """Tell whether a result has nothing but a transcript: neither words nor a confidence."""
    return all(not one.get("words") and not one.get("confidence") for one in objects(result, "alternatives"))


def _texts(result: Message) -> list[str]:
    """Return the words of a result's transcript."""
    best = next(iter(objects(result, "alternatives")), {})
    return words_of(text(best, "transcript").replace(_WORD_MARK, " "))


def _channel(result: Message) -> str:
    return str(number(result, "channelTag") or number(result, "channel_tag") or "")


def _recorded(results: list[Message]) -> list[Message]:
    """Return a recording's results, less those of its channel that the last one has again, with speakers."""
    if not results or not _says_who(results[-1]) or any(map(_says_who, results[:-1])):
        return results
    return [*(one for one in results[:-1] if _channel(one) != _channel(results[-1])), results[-1]]


def _says_who(result: Message) -> bool:
    return any(_speaker(word) for one in objects(result, "alternatives")[:1] for word in objects(one, "words"))


def _untimed(texts: list[str]) -> tuple[HeardWord, ...]:
    return tuple(HeardWord(text=one) for one in texts)


def _word(word: Message, duration: Callable[[object], int | None]) -> HeardWord:
    start, end = either(word, *_START_OF_WORD), either(word, *_END_OF_WORD)
    return HeardWord(
        text=text(word, "word").strip(_WORD_MARK),
        start_ms=duration(start) if start is not None else (0 if end is not None else None),
        end_ms=duration(end),
        confidence=confidence(word, "confidence") or None,  # proto3: 0 is "not set"
        speaker=_speaker(word),
    )


def _speaker(word: Message) -> str:
    return name_of(next((word[name] for name in _SPEAKER if word.get(name)), None), "speakerTag")


class Riva(Google):
    """Reads answers of Riva's: words in milliseconds, the audio that was processed in seconds."""

    _duration_ms = staticmethod(ms)
    _result_end_ms = staticmethod(seconds_ms)
