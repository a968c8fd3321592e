"""Whisper: openai-whisper, faster-whisper, WhisperX, whisper.cpp, WhisperLive, Hugging Face, the API's answers.

Source: https://github.com/openai/whisper, https://platform.openai.com/docs/api-reference/audio/verbose-json-object,
https://github.com/ggml-org/whisper.cpp, https://github.com/collabora/WhisperLive and
https://huggingface.co/docs/transformers/main_classes/pipelines#transformers.AutomaticSpeechRecognitionPipeline

- ``segments`` with ``words`` (word time stamps asked for), else text, whose times are spread over the segment.
- Times are seconds; WhisperLive writes them as text, whisper.cpp as ``offsets`` in milliseconds.
- A word begins with a space; one without belongs to the word before it (``" twenty"``, ``"-one"``). So do whisper.cpp's
  pieces: ``--max-len`` parts at tokens, within words, too.
- WhisperLive sends its last segments again with every message; ``completed`` marks those that stay, and a completed one
  is known by its start. One that is not completed may be gone in the next message; one that begins after its end is
  another. Its messages without segments (its state, the language, a translation) say nothing. Another ``uid`` is
  another connection.
- Hugging Face's pipeline writes ``chunks``, each a segment or a word with a ``timestamp``; the last end may be null.
  Where speakers were told apart, ``speakers`` has the same text with their names.
- Segments, chunks and WhisperX's words may come alone, a line or an item each. The API streams
  ``transcript.text.delta`` and a whole ``…done``; with speakers told apart also segments, which are read instead.
- ``speaker`` stands at a segment, and at its words where WhisperX could align them: not at ``"58."``.
- vCon's transcripts (WTF, draft-howe-vcon-wtf-extension) have segments and, beside them, words, which their numbers
  name.
- ``[BLANK_AUDIO]``, ``[MUSIC]``, ``(applause)`` and notes are no words, and dropped.
- Whisper leaves most fillers and repeats out, and no option keeps them all; a prompt with fillers in it helps.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis
from caesura.worker.feeds.message_fields import Message, either, flag, name_of, objects, part, text
from caesura.worker.feeds.message_words import bare_words, spread_text
from caesura.worker.feeds.speaker_labels import SpeakerLabels
from caesura.worker.feeds.spoken_text import CUE_END, spoken_cues, spoken_pieces, spoken_words
from caesura.worker.feeds.times import ends_guessed, ms, seconds_ms
from caesura.worker.feeds.token_words import Token, words_of_tokens
from caesura.worker.feeds.written_words import is_written

_LONE_WORD = frozenset(("word", "start", "end", "score", "probability", "speaker"))
_OTHERS = frozenset(
    ("type", "session", "seq", "word", "channel", "is_final", "final", "confidence", "alternatives", "transcript")
)


def recognises(message: Message) -> bool:
    """Tell whether this is a transcript of Whisper's."""
    if isinstance(kind := message.get("type"), str) and kind.startswith(_STREAMED):
        return True
    if _is_lone_word(message):
        return True
    if "transcription" in message or "word_segments" in message or _is_plain(message) or _is_chunked(message):
        return isinstance(message.get("transcription"), list | None)
    segments = message.get("segments", [message] if "avg_logprob" in message or _is_bare(message) else None)
    if not isinstance(segments, list):
        return message.get("task") == "transcribe"
    return all(isinstance(one, dict) and "text" in one and "start" in one for one in segments)


def _is_plain(message: Message) -> bool:
    """Tell whether this is the API's plain answer: a text with marks or capitals, and perhaps what it cost."""
    if set(message) == {"text"}:
        return is_written(message["text"])
    return isinstance(message.get("text"), str) and bool({"usage", "logprobs"} & set(message)) and "type" not in message


def _is_chunked(message: Message) -> bool:
    chunks = message.get("chunks", [message])
    return isinstance(chunks, list) and all(
        isinstance(one, dict) and isinstance(one.get("text"), str) and _is_stretch(one.get("timestamp"))
        for one in chunks
    )


def _is_stretch(times: object) -> bool:
    """Tell whether this is a beginning and an end, which may be null; FunASR's are a list of such."""
    return isinstance(times, list) and len(times) == 2 and not any(isinstance(one, list) for one in times)


def _is_bare(message: Message) -> bool:
    """Tell whether this is a segment alone, and nothing that others write with a start, an end and a text."""
    times = all(seconds_ms(message.get(name)) is not None for name in ("start", "end"))
    return times and isinstance(message.get("text"), str) and not _OTHERS & set(message)


def _is_lone_word(message: Message) -> bool:
    """Tell whether this is one of the words that WhisperX aligned."""
    scored = set(message) <= _LONE_WORD and bool({"score", "probability"} & set(message))
    return scored and isinstance(message.get("word"), str)


_STREAMED = "transcript.text."


class Whisper:
    """Reads transcripts and live messages."""

    agreement = 2

    def __init__(self) -> None:
        self._done_ms = -1
        self._open_until_ms: int | None = None
        self._connection = ""
        self._segmented = False

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a transcript or a live message says. Raises UnreadableMessageError."""
        if "transcription" in message:
            pieces = list(_whole_words(objects(message, "transcription")))
            spoken = spoken_cues([written for written, *_ in pieces])
            for said, (_, start_ms, end_ms, speaker) in zip(spoken, pieces, strict=True):
                yield Hypothesis(words=spread_text(said, start_ms, end_ms, speaker=speaker), final=True)
        elif any("completed" in one for one in objects(message, "segments")):
            connection = name_of(message.get("uid"), "uid")
            if self._connection not in ("", connection):
                self._done_ms, self._open_until_ms = -1, None
                yield Hypothesis(reconnected=True)
            self._connection = connection
            yield from self._live(objects(message, "segments"))
        elif (kind := text(message, "type")).startswith(_STREAMED):
            if kind == f"{_STREAMED}segment":
                self._segmented = True
                yield Hypothesis(words=_segment(message), final=True, utterance_end=True)
            elif kind == f"{_STREAMED}done" and not self._segmented:
                yield Hypothesis(words=spread_text(text(message, "text")), final=True, utterance_end=True)
        elif "word" in message:
            yield Hypothesis(words=bare_words(spoken_words((_whole(message),))), final=True)
        elif _is_chunked(message):
            chunks = objects(message, "speakers") or objects(message, "chunks") or [message]
            yield Hypothesis(words=_chunked(chunks), final=True)
        else:
            yield from _recorded(message)

    def finish(self) -> Iterator[Hypothesis]:
        """Return nothing: what was never completed is not known to be said."""
        return iter(())

    def _live(self, segments: Sequence[Message]) -> Iterator[Hypothesis]:
        for one in segments:
            start_ms = seconds_ms(one.get("start"))
            if start_ms is None or start_ms <= self._done_ms:
                continue
            if self._open_until_ms is not None and start_ms >= self._open_until_ms:
                yield Hypothesis(final=True)  # what stood there before was no speech after all
            completed, end_ms = flag(one, "completed"), seconds_ms(one.get("end"))
            if completed:
                self._done_ms = start_ms
            self._open_until_ms = None if completed else end_ms
            yield Hypothesis(words=_segment(one), final=completed, heard_until_ms=end_ms)


def _recorded(message: Message) -> Iterator[Hypothesis]:
    segments = objects(message, "segments") or ([message] if "avg_logprob" in message or _is_bare(message) else [])
    beside = [one for one in objects(message, "words") if not one.get("is_punctuation")]
    written = sum(len(text(one, "text").split()) for one in segments)
    if any(map(_timed, segments)) or not beside or 2 * len(beside) < written:  # else an excerpt stands beside them
        for one, words in zip(segments, _of_segments(segments), strict=True):
            yield Hypothesis(words=words, final=True, heard_until_ms=seconds_ms(one.get("end")))
    else:  # the API's answer has the words beside the segments, each whole and without its marks
        words = _with_speakers(bare_words(map(_whole, beside)), segments)
        yield Hypothesis(words=spoken_words(words), final=True)
    if text(message, "text") and not segments and not objects(message, "words"):
        yield Hypothesis(words=spread_text(text(message, "text")), final=True)


def _chunked(chunks: Sequence[Message]) -> tuple[HeardWord, ...]:
    """Return the words of chunks, each a word or several. An end that is missing is guessed."""
    written = [text(chunk, "text") for chunk in chunks]
    times = [[*_list(chunk.get("timestamp")), None, None][:2] for chunk in chunks]
    speakers = [name_of(chunk.get("speaker"), "speaker") for chunk in chunks]
    if all(len(one.split()) <= 1 for one in written):
        tokens = [
            Token(text=said, start_ms=seconds_ms(start), end_ms=seconds_ms(end), speaker=speaker)
            for said, (start, end), speaker in zip(spoken_pieces(written), times, speakers, strict=True)
        ]
        return ends_guessed(words_of_tokens(tokens))
    words: list[HeardWord] = []
    for said, (start, end), speaker in zip(spoken_cues(written), times, speakers, strict=True):
        start_ms, end_ms = seconds_ms(start), seconds_ms(end)
        if start_ms is not None and end_ms is None:
            end_ms = start_ms + sum(word.end_ms or 0 for word in ends_guessed([HeardWord(text=said, start_ms=0)]))
        words += spread_text(said, start_ms, end_ms, speaker=speaker)
    return tuple(words)


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _whole_words(pieces: Sequence[Message]) -> Iterator[tuple[str, int | None, int | None, str]]:
    """Yield text, times and speaker of whisper.cpp's pieces, those that were parted within a word put together."""
    parts: list[str] = []
    begin_ms = until_ms = None
    who = ""
    spaced = any(text(piece, "text").startswith(" ") for piece in pieces)  # else they were stripped
    for piece in pieces:
        offsets, written = part(piece, "offsets"), text(piece, "text")
        speaker = text(piece, "speaker").replace("?", "")
        start_ms, end_ms = ms(offsets.get("from")), ms(offsets.get("to"))
        if parts and not (spaced and speaker == who and _goes_on(parts[-1], written)):
            yield "".join(parts), begin_ms, until_ms, who
            parts = []
        if not parts:
            begin_ms, who = start_ms, speaker
        parts.append(written)
        until_ms = end_ms
    if parts:
        yield "".join(parts), begin_ms, until_ms, who


def _goes_on(before: str, after: str) -> bool:
    """Tell whether a piece goes on with the word before it; only scripts with spaces and capitals are known to."""
    ends = (before[-1:], after[:1])
    return all(one and not one.isspace() and (one.isascii() or one.lower() != one.upper()) for one in ends)


def _with_speakers(words: Sequence[HeardWord], segments: Sequence[Message]) -> tuple[HeardWord, ...]:
    """Return words that name no speaker with that of the segment in which they begin."""
    said_by = [
        (seconds_ms(one.get("start")) or 0, name_of(one.get("speaker"), "speaker"))
        for one in sorted(segments, key=lambda one: seconds_ms(one.get("start")) or 0)
    ]
    if not any(speaker for _, speaker in said_by):
        return tuple(words)
    starts = [start_ms for start_ms, _ in said_by]
    return tuple(
        replace(word, speaker=word.speaker or said_by[max(0, bisect_right(starts, word.start_ms or 0) - 1)][1])
        for word in words
    )


def _segment(segment: Message) -> tuple[HeardWord, ...]:
    return next(_of_segments([segment]))


def _of_segments(segments: Sequence[Message]) -> Iterator[tuple[HeardWord, ...]]:
    """Yield the words of each segment; a bracket may go over several. A label in the text names the speaker."""
    spelt, labels = _unlabelled([_pieces(one) for one in segments], [one.get("speaker") for one in segments])
    spoken = iter(spoken_pieces([piece for pieces in spelt for piece in (*pieces, CUE_END)]))
    for segment, pieces, label in zip(segments, spelt, labels, strict=True):
        said = list(islice(spoken, len(pieces) + 1))[:-1]
        timed, speaker = _timed(segment), name_of(segment.get("speaker"), "speaker") or label
        if timed:
            yield words_of_tokens([_token(word, one, speaker) for word, one in zip(timed, said, strict=True)])
        else:
            start_ms, end_ms = seconds_ms(segment.get("start")), seconds_ms(segment.get("end"))
            yield spread_text(said[0], start_ms, end_ms, speaker=speaker)


def _unlabelled(spelt: Sequence[list[str]], speakers: Sequence[object]) -> tuple[list[list[str]], list[str]]:
    """Return the pieces of segments with blanks for speakers' labels, and who speaks in each by its label."""
    if len(spelt) < 2 or any(speaker is not None for speaker in speakers):
        return list(spelt), [""] * len(spelt)
    known = SpeakerLabels(line for pieces in spelt for line in ("".join(pieces), ""))
    rest: list[list[str]] = []
    names: list[str] = []
    for pieces in spelt:
        found = known.find("".join(pieces))
        end = found.end if found is not None and found.labelled else 0
        names.append(found.name if found is not None and found.labelled else names[-1] if names else "")
        kept: list[str] = []
        for piece in pieces:
            kept.append(" " * min(end, len(piece)) + piece[end:])
            end = max(0, end - len(piece))
        rest.append(kept)
    return rest, names


def _timed(segment: Message) -> list[Message]:
    """Return a segment's words; none where numbers name those beside the segments, as in WTF."""
    given = segment.get("words")
    return [] if isinstance(given, list) and all(isinstance(one, int) for one in given) else objects(segment, "words")


def _pieces(segment: Message) -> list[str]:
    """Return the text of a segment: its words, each with the space before it, or all of it."""
    timed = _timed(segment)
    if not timed:
        return [text(segment, "text")]
    spaced = any(_spelt(word).startswith(" ") for word in timed)
    return [_spelt(word) if spaced else f" {_spelt(word)}" for word in timed]


def _token(word: Message, said: str, speaker: str) -> Token:
    score = either(word, "probability", "score")
    return Token(
        text=said,
        start_ms=seconds_ms(word.get("start")),
        end_ms=seconds_ms(word.get("end")),
        confidence=float(score) if isinstance(score, int | float) and 0 <= score <= 1 else None,
        speaker=name_of(word.get("speaker"), "speaker") or speaker,
    )


def _whole(word: Message) -> HeardWord:
    token = _token(word, _spelt(word).strip(), "")
    return HeardWord(
        text=token.text,
        start_ms=token.start_ms,
        end_ms=token.end_ms,
        confidence=token.confidence,
        speaker=token.speaker,
    )


def _spelt(word: Message) -> str:
    return text(word, "word") or text(word, "text")
