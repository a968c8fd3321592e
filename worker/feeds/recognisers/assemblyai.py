"""AssemblyAI, Universal-Streaming (version 3), its older real-time messages, and the transcript of a recording.

Source: https://www.assemblyai.com/docs/universal-streaming/message-sequence,
https://www.assemblyai.com/docs/api-reference/transcripts/get and
https://www.assemblyai.com/docs/speech-to-text/pre-recorded-audio/multichannel-transcription

- Each ``Turn`` has all words of the turn so far; ``word_is_final`` marks those that will not change, in the order
  spoken, the last one perhaps half a word until it is marked.
- With ``format_turns`` the ended turn comes a second time, formatted (``turn_is_formatted``): dropped, by its number.
  Where a model formats at once, its only ended turn is formatted, and is read.
- Times are milliseconds. ``utterance`` filled says that the speaker paused, ``end_of_turn`` that the turn is over.
- With speakers told apart a final word has a ``speaker``, ``PENDING`` while that is not decided; the turn has the one
  who said most of it, ``speaker_label``. A word without a speaker when its turn ends gets the turn's.
- ``Begin`` starts a connection. Turns count from 0 in each.
- A recording's transcript has ``words``, and the same ones again in ``utterances`` where speakers or channels were told
  apart: those are read where they are there. A channel's number stands in ``speaker`` too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis
from caesura.worker.feeds.message_fields import Message, confidence, flag, name_of, objects, text
from caesura.worker.feeds.spoken_text import spoken_words
from caesura.worker.feeds.times import ms

_NO_SPEAKER = ("", "PENDING", "UNKNOWN")
_OLD_FINAL, _OLD_PARTIAL = "FinalTranscript", "PartialTranscript"


def recognises(message: Message) -> bool:
    """Tell whether this is a message of AssemblyAI's."""
    if message.get("message_type") in (_OLD_FINAL, _OLD_PARTIAL, "SessionBegins"):
        return True
    if message.get("type") == "Turn" or (message.get("type") == "Begin" and "expires_at" in message):
        return True
    return _is_recording(message)


def _is_recording(message: Message) -> bool:
    """Tell whether this is a recording's transcript, and no word event of ours that has such fields of its own."""
    named = isinstance(message.get("id"), str) and isinstance(message.get("status"), str)
    return named and isinstance(message.get("words"), list) and not {"session", "seq"} & set(message)


class AssemblyAi:
    """Reads turns; none is read twice."""

    agreement = 0

    def __init__(self) -> None:
        self._connected = False

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        kind = text(message, "type") or text(message, "message_type")
        if kind in ("Begin", "SessionBegins"):
            if self._connected:
                yield Hypothesis(reconnected=True)
            self._connected = True
        elif kind == "Turn":
            ended = flag(message, "end_of_turn")
            yield Hypothesis(
                words=_turn(message, ended=ended),
                utterance=f"turn {name_of(message.get('turn_order'), 'turn_order')}",
                final=ended,
                utterance_end=ended or bool(text(message, "utterance")),
            )
        elif kind in (_OLD_FINAL, _OLD_PARTIAL):
            final = kind == _OLD_FINAL
            words = tuple(map(_word, objects(message, "words")))
            yield Hypothesis(words=words, final=final, utterance_end=final, heard_until_ms=ms(message.get("audio_end")))

        elif _is_recording(message):
            yield from _recorded(message)

    def finish(self) -> Iterator[Hypothesis]:
        """Return nothing: what never became final is not known to be said."""
        return iter(())


def _recorded(message: Message) -> Iterator[Hypothesis]:
    """Yield a hypothesis an utterance, or a single one."""
    utterances = [one for one in objects(message, "utterances") if one.get("words")] or [message]
    channels = {text(one, "channel") for one in utterances}
    for utterance in utterances:
        channel = text(utterance, "channel") if len(channels) > 1 else ""
        words = tuple(map(_word, objects(utterance, "words")))
        if channel:
            words = tuple(replace(one, speaker="" if one.speaker == channel else one.speaker) for one in words)
        yield Hypothesis(words=words, stream=channel, final=True, utterance_end=True)


def _turn(message: Message, *, ended: bool) -> tuple[HeardWord, ...]:
    """Return a turn's words; before it ends, some may have a speaker that is not decided."""
    label = text(message, "speaker_label")
    turns = "" if label in _NO_SPEAKER or not ended else label
    words = []
    for one in objects(message, "words"):
        word = _word(one)
        undecided = word.speaker in _NO_SPEAKER and bool(word.speaker or label)
        words.append(replace(word, speaker=turns, undecided=not ended) if undecided else word)
    return spoken_words(words)


def _word(word: Message) -> HeardWord:
    return HeardWord(
        text=text(word, "text"),
        start_ms=ms(word.get("start")),
        end_ms=ms(word.get("end")),
        confidence=confidence(word, "confidence"),
        stable=flag(word, "word_is_final"),
        speaker=text(word, "speaker"),
    )
