"""ElevenLabs Scribe, the transcript of a recording and real-time messages.

Source: https://elevenlabs.io/docs/api-reference/speech-to-text/convert and
https://elevenlabs.io/docs/eleven-api/guides/how-to/speech-to-text/realtime/event-reference

- Items of ``words`` are of type ``word``, ``spacing`` or ``audio_event`` (``(laughter)``): only words are read.
- Several channels come as ``transcripts``, each with a ``channel_index``.
- A webhook has the same in ``data.transcription``.
- A committed transcript comes once, and once more with times where they were asked for: that one is read then.
- Times are seconds. A word has the logarithm of its probability, which is not read. Fillers are written as heard.
"""

from __future__ import annotations

from collections.abc import Iterator

from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis
from caesura.worker.feeds.message_fields import Message, either, name_of, objects, part, text
from caesura.worker.feeds.message_words import WordFields, spread_text
from caesura.worker.feeds.new_streams import StreamClock

_WORD = WordFields(speaker="speaker_id")
_NODE_WORD = WordFields(speaker="speakerId")
_WEBHOOK = "speech_to_text_transcription"
_COMMITTED, _TIMED = "committed_transcript", "committed_transcript_with_timestamps"


def recognises(message: Message) -> bool:
    """Tell whether this is a message of ElevenLabs'."""
    if message.get("message_type") in ("partial_transcript", _COMMITTED, _TIMED):
        return True
    if isinstance(transcripts := message.get("transcripts"), list):
        return bool(transcripts) and all(isinstance(one, dict) and recognises(one) for one in transcripts)
    if message.get("type") == _WEBHOOK:
        return True
    words = message.get("words")
    if not isinstance(words, list) or not isinstance(message.get("text"), str):
        return False
    typed = any(isinstance(word, dict) and word.get("type") in ("word", "spacing") for word in words)
    return "language_probability" in message or typed


class ElevenLabs:
    """Reads transcripts. What was committed waits for the same with times."""

    agreement = 2

    def __init__(self) -> None:
        self._committed: str | None = None
        self._connected = False
        self._clock = StreamClock()

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        kind = text(message, "message_type")
        if kind == _TIMED:
            self._committed = None
            said = _whole(message)
            if said.words and self._clock.began_anew("", said.words[-1].end_ms, final=True):
                yield Hypothesis(reconnected=True)
            yield said
        elif kind in (_COMMITTED, "partial_transcript", "session_started"):
            yield from self.finish()
            if kind == _COMMITTED:
                self._committed = text(message, "text")
            elif kind == "partial_transcript":
                yield Hypothesis(words=spread_text(text(message, "text")))
            elif self._connected:
                self._clock = StreamClock()
                yield Hypothesis(reconnected=True)
            self._connected = True
        elif not kind:
            whole = part(part(message, "data"), "transcription") if message.get("type") == _WEBHOOK else message
            transcripts = objects(whole, "transcripts") or [whole]
            for one in transcripts:
                channel = (
                    name_of(either(one, "channel_index", "channelIndex"), "channel_index")
                    if len(transcripts) > 1
                    else ""
                )
                yield _whole(one, channel)

    def finish(self) -> Iterator[Hypothesis]:
        """Return what was committed, and comes with no times."""
        if self._committed is not None:
            yield Hypothesis(words=spread_text(self._committed), final=True, utterance_end=True)
        self._committed = None


def _whole(message: Message, channel: str = "") -> Hypothesis:
    fields = _NODE_WORD if "languageCode" in message else _WORD
    words: tuple[HeardWord, ...] = fields.bare(
        one for one in objects(message, "words") if text(one, "type") in ("", "word")
    )
    if not objects(message, "words"):
        words = spread_text(text(message, "text"))
    return Hypothesis(words=words, stream=channel, final=True, utterance_end=True)
