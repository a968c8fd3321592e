"""Frameworks for calls and voice agents, which pass on what some recogniser heard.

Source: https://github.com/QuentinFuxa/WhisperLiveKit, https://docs.livekit.io/agents/build/text/,
https://docs.pipecat.ai/client/rtvi-standard, https://www.twilio.com/docs/voice/twiml/transcription,
https://docs.jambonz.org/verbs/verbs/transcribe, https://dev.bandwidth.com/docs/voice/bxml/startTranscription,
https://www.twilio.com/docs/voice/conversationrelay/websocket-messages and
https://learn.microsoft.com/en-us/azure/communication-services/concepts/call-automation/audio-streaming-concept

- WhisperLiveKit sends all its ``lines`` with each message, or (``mode=diff``) those that are new; the last one grows,
  and is final when another comes, or at ``ready_to_stop``. Long ago ones are dropped from the list. Its
  ``buffer_transcription`` may change and is not read. A speaker below 1 is silence or unknown.
- LiveKit's segments have an ``id`` and are ``final`` in the end; times are milliseconds. Its agents have
  ``user_input_transcribed`` (https://docs.livekit.io/reference/agents/events/); what the agent says is not read.
- pipecat's ``user-transcription`` has a text and ``final``; what the bot says is not read.
- Twilio posts forms, here as objects: ``TranscriptionData`` is JSON in a text, ``Track`` tells the sides apart. Its
  ``transcription-stopped`` ends a session that is served, and so does Bandwidth's ``realTimeTranscriptionStopped``.
  ConversationRelay's ``prompt`` has ``voicePrompt`` and ``last``. Its Conversational Intelligence has ``sentences``,
  which its library for Node names otherwise. A recording's callback has ``TranscriptionText``, one of ``<Gather>``
  ``SpeechResult``.
- jambonz posts ``speech`` with Google's ``alternatives``, whatever recogniser it uses; ``channel_tag`` tells the sides
  apart. Over its WebSocket the same stands in ``data``, with several ``transcripts``.
- Bandwidth sends Amazon's items with a ``track``; times are dates. What it posts has no words but a link. A
  recording's ``transcripts`` have speakers.
- Azure Communication Services writes times as ticks, and phrases for display.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from caesura.worker.feeds.hypothesis import MAX_GROWING_CHARACTERS, HeardWord, Hypothesis, UnreadableMessageError
from caesura.worker.feeds.message_fields import (
    Message,
    confidence,
    either,
    flag,
    name_of,
    number,
    object_in_text,
    object_or_empty,
    objects,
    part,
    text,
)
from caesura.worker.feeds.message_words import WordFields, bare_words, spread_text
from caesura.worker.feeds.times import clock_ms, date_ms, ms, seconds_ms, ticks_ms

_LONGEST_CALL_MS = 10 * 365 * 24 * 3_600_000
_LINES_KEPT = 64
_AGENTS_USER = "user_input_transcribed"
_PARTICIPANT = (
    "transcribedParticipantIdentity",
    "transcribed_participant_identity",
    "participantIdentity",
    "participant_identity",
)
_TWILIO_WORD = WordFields(text="word", start="start_time", end="end_time")
_TWILIO_NODE_WORD = WordFields(text="word", start="startTime", end="endTime")
_REAL_TIME = "realTimeTranscription"
_AZURE_WORD = WordFields(start="offset", duration="duration", ms=ticks_ms)


def recognises_whisperlivekit(message: Message) -> bool:
    """Tell whether this is a message of WhisperLiveKit's."""
    lines = isinstance(message.get("lines"), list) or message.get("type") == "diff"
    return lines and "buffer_transcription" in message


def recognises_livekit(message: Message) -> bool:
    """Tell whether this is a transcription of LiveKit's."""
    segments = isinstance(message.get("segments"), list) and either(message, *_PARTICIPANT) is not None
    return segments or (message.get("type") == _AGENTS_USER and isinstance(message.get("transcript"), str))


def recognises_pipecat(message: Message) -> bool:
    """Tell whether this is a message of RTVI's, which pipecat speaks."""
    return message.get("label") == "rtvi-ai" and isinstance(message.get("type"), str)


def recognises_twilio(message: Message) -> bool:
    """Tell whether this is a message of Twilio's."""
    sentences = message.get("sentences")
    relayed = message.get("type") == "prompt" and "voicePrompt" in message
    intelligence = isinstance(sentences, list) and all(isinstance(one, dict) and _is_sentence(one) for one in sentences)
    whole = "TranscriptionSid" in message and "TranscriptionText" in message
    one = _is_sentence(message) and either(message, "sentence_index", "sentenceIndex") is not None
    gathered = "SpeechResult" in message and "CallSid" in message
    return "TranscriptionEvent" in message or relayed or whole or one or gathered or (intelligence and bool(sentences))


def _is_sentence(message: Message) -> bool:
    """Tell whether this is a sentence of Twilio's Conversational Intelligence."""
    return either(message, "media_channel", "mediaChannel") is not None and "transcript" in message


def recognises_jambonz(message: Message) -> bool:
    """Tell whether this is what jambonz posts or sends of speech."""
    speech = object_or_empty(message.get("speech") or object_or_empty(message.get("data")).get("speech"))
    return isinstance(speech.get("alternatives"), list) or isinstance(speech.get("transcripts"), list)


def recognises_bandwidth(message: Message) -> bool:
    """Tell whether this is a message of Bandwidth's."""
    live = message.get("eventType") == "transcription" and "track" in message
    whole = message.get("transcripts")
    recorded = isinstance(whole, list) and any(
        isinstance(one, dict) and {"speaker", "text"} <= set(one) for one in whole
    )
    return live or _REAL_TIME in message or ("tracks" in message and "transcriptionId" in message) or recorded


def recognises_azure_communication(message: Message) -> bool:
    """Tell whether this is a message of Azure Communication Services'."""
    return message.get("kind") in ("TranscriptionData", "TranscriptionMetadata")


class _Reader:
    """A reader that keeps nothing."""

    agreement = 2

    def finish(self) -> Iterator[Hypothesis]:
        """Return nothing: what never became final is not known to be said."""
        return iter(())


class WhisperLiveKit:
    """Reads lines; the last one's hypothesis is kept until another begins."""

    agreement = 0

    def __init__(self) -> None:
        self._open: Hypothesis | None = None
        self._begin()

    def _begin(self) -> None:
        self._count = self._first = self._held = 0
        self._starts: list[object] = []
        self._lines: list[Message] = []

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        kind = text(message, "type")
        if kind == "ready_to_stop":
            yield from self.finish()
        if kind == "config" and self._count:
            yield from self.finish()
            self._begin()
            yield Hypothesis(reconnected=True)
        lines = [one for one in self._all_lines(message) if text(one, "text").strip()]
        self._note_dropped([either(one, "start", "beg") for one in lines])
        for place, line in enumerate(lines, start=self._first):
            if place < self._count - 1:
                continue
            speaker = name_of(line.get("speaker"), "speaker")
            words = spread_text(
                text(line, "text"),
                _clock_ms(either(line, "start", "beg")),
                _clock_ms(line.get("end")),
                speaker="" if speaker.startswith("-") or speaker == "0" else speaker,
            )
            if place >= self._count:
                yield from self.finish()
                self._count = place + 1
            self._open = Hypothesis(words=words, utterance=f"line {place}")
        if self._open is not None:
            yield self._open

    def _all_lines(self, message: Message) -> list[Message]:
        """Return a message's lines; of a difference also the last ones before it, silences among them."""
        if text(message, "type") != "diff":
            lines = objects(message, "lines")
            self._held = len(lines)
        else:
            new = objects(message, "new_lines")
            total = number(message, "n_lines") or 0
            held = self._held - (number(message, "lines_pruned") or 0)
            dropped = held - (total - len(new))
            if dropped < 0:
                raise UnreadableMessageError("n_lines: expected no more lines than messages before this one had")
            lines = [*self._lines[: len(self._lines) - dropped], *new]
            self._held = total
        self._lines = lines[-_LINES_KEPT:]
        return lines

    def _note_dropped(self, starts: list[object]) -> None:
        """Count the lines of the message before that the server keeps no longer."""
        before = self._starts
        if starts:
            kept = (at for at in range(len(before)) if before[at:] == starts[: len(before) - at])
            self._first += next(kept, 0)
            self._starts = starts

    def finish(self) -> Iterator[Hypothesis]:
        """Return the last line as its final: its words were validated."""
        if self._open is not None:
            yield Hypothesis(words=self._open.words, utterance=self._open.utterance, final=True, utterance_end=True)
        self._open = None


class LiveKit(_Reader):
    """Reads transcriptions of participants."""

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        if text(message, "type") == _AGENTS_USER:
            final = either(message, "is_final", "isFinal") is True
            speaker = name_of(either(message, "speaker_id", "speakerId"), "speaker_id")
            words = spread_text(text(message, "transcript"), speaker=speaker)
            yield Hypothesis(words=words, final=final, utterance_end=final)
        who = name_of(either(message, *_PARTICIPANT), "transcribedParticipantIdentity")
        for segment in objects(message, "segments"):
            start_ms = ms(either(segment, "startTime", "start_time"))
            end_ms = ms(either(segment, "endTime", "end_time"))
            final = flag(segment, "final")
            yield Hypothesis(
                words=spread_text(text(segment, "text"), start_ms if end_ms else None, end_ms or None),
                stream=who,
                utterance=f"segment {name_of(segment.get('id'), 'id')}",
                final=final,
                utterance_end=final,
            )


class Pipecat(_Reader):
    """Reads what users say."""

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        if text(message, "type") == "user-transcription":
            data = part(message, "data")
            final = flag(data, "final")
            who = name_of(data.get("user_id"), "user_id")
            yield Hypothesis(words=spread_text(text(data, "text")), stream=who, final=final, utterance_end=final)


class Twilio(_Reader):
    """Reads webhooks' fields, relayed prompts, and the sentences of a recording."""

    def __init__(self) -> None:
        self._prompt = ""

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        if text(message, "TranscriptionEvent") == "transcription-content":
            final = str(message.get("Final", "true")).lower() == "true"
            written = object_in_text(message, "TranscriptionData")
            track = text(message, "Track").removesuffix("_track")
            words = spread_text(text(written, "transcript"))
            yield Hypothesis(words=words, stream=track, final=final, utterance_end=final)
        elif text(message, "type") == "prompt":
            prompt, last = self._prompt + text(message, "voicePrompt"), message.get("last") is not False
            if not last and len(prompt) > MAX_GROWING_CHARACTERS:
                raise UnreadableMessageError(
                    f"oversized: voicePrompt: expected at most {MAX_GROWING_CHARACTERS} characters before the last"
                )
            self._prompt = "" if last else prompt
            yield Hypothesis(words=spread_text(prompt), final=last, utterance_end=last)
        elif text(message, "TranscriptionEvent") == "transcription-stopped":
            yield Hypothesis(stopped=True)
        elif (whole := either(message, "TranscriptionText", "SpeechResult")) is not None:
            yield Hypothesis(words=spread_text(str(whole)), final=True, utterance_end=True)
        for sentence in objects(message, "sentences") or ([message] if _is_sentence(message) else []):
            start_ms = seconds_ms(either(sentence, "start_time", "startTime"))
            end_ms = seconds_ms(either(sentence, "end_time", "endTime"))
            fields = _TWILIO_WORD if "media_channel" in sentence else _TWILIO_NODE_WORD
            words = fields.bare(objects(sentence, "words"))
            yield Hypothesis(
                words=words or spread_text(text(sentence, "transcript"), start_ms, end_ms),
                stream=name_of(either(sentence, "media_channel", "mediaChannel"), "media_channel"),
                final=True,
                utterance_end=True,
            )


class Jambonz(_Reader):
    """Reads speech that was posted, or sent over a WebSocket."""

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        speech = part(message, "speech") or part(part(message, "data"), "speech")
        for one in objects(speech, "transcripts") or [speech]:
            best = next(iter(objects(one, "alternatives")), None)
            if best is None:
                continue
            final = flag(one, "is_final")
            score = confidence(best, "confidence") or None
            words = tuple(replace(word, confidence=score) for word in spread_text(text(best, "transcript")))
            channel = name_of(either(one, "channel_tag", "channel"), "channel_tag")
            yield Hypothesis(words=words, stream=channel, final=final, utterance_end=final)


class Bandwidth(_Reader):
    """Reads transcriptions of a call's tracks. Times count from the first of them."""

    def __init__(self) -> None:
        self._first_ms: int | None = None

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        if message.get("eventType") == "transcription":
            final = not flag(message, "isPartial")
            start_ms, end_ms = self._ms(message, "startTime"), self._ms(message, "endTime")
            items = [one for one in objects(message, "items") if text(one, "type").upper() != "PUNCTUATION"]
            words = bare_words(self._word(one) for one in items)
            yield Hypothesis(
                words=words or spread_text(text(message, "transcript"), start_ms, end_ms),
                stream=text(message, "track"),
                final=final,
                utterance_end=final,
                heard_until_ms=end_ms,
            )
        elif message.get("eventType") == f"{_REAL_TIME}Stopped":
            yield Hypothesis(stopped=True)
        for track in objects(message, "tracks"):
            words = spread_text(text(track, "transcript"))
            yield Hypothesis(words=words, stream=text(track, "track"), final=True, utterance_end=True)
        for said in objects(message, "transcripts"):
            words = spread_text(text(said, "text"), speaker=name_of(said.get("speaker"), "speaker"))
            yield Hypothesis(words=words, final=True, utterance_end=True)

    def _word(self, item: Message) -> HeardWord:
        return HeardWord(
            text=text(item, "content"),
            start_ms=self._ms(item, "startTime"),
            end_ms=self._ms(item, "endTime"),
            confidence=confidence(item, "confidence"),
            stable=flag(item, "stable"),
        )

    def _ms(self, message: Message, name: str) -> int | None:
        at_ms = date_ms(message.get(name))
        if at_ms is None:
            return None
        self._first_ms = at_ms if self._first_ms is None else self._first_ms
        return max(0, at_ms - self._first_ms)


class AzureCommunication(_Reader):
    """Reads transcription data of a call's participants. Times that are dates count from the first of them."""

    def __init__(self) -> None:
        self._first_ms: int | None = None

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        data = part(message, "transcriptionData")
        if text(message, "kind") != "TranscriptionData":
            return
        start_ms, length_ms = ticks_ms(data.get("offset")), ticks_ms(data.get("duration"))
        end_ms = None if start_ms is None or length_ms is None else start_ms + length_ms
        final = name_of(either(data, "resultState", "resultStatus"), "resultState").lower() != "intermediate"
        timed = _AZURE_WORD.bare(objects(data, "words"))
        if start_ms is not None and end_ms is not None and start_ms > _LONGEST_CALL_MS:
            first_ms = self._first_ms = start_ms if self._first_ms is None else self._first_ms
            start_ms, end_ms = max(0, start_ms - first_ms), max(0, end_ms - first_ms)
            timed = tuple(
                replace(
                    word, start_ms=max(0, (word.start_ms or 0) - first_ms), end_ms=max(0, (word.end_ms or 0) - first_ms)
                )
                for word in timed
            )
        yield Hypothesis(
            words=timed or spread_text(text(data, "text"), start_ms, end_ms),
            stream=name_of(either(data, "participantRawID", "participantRawId"), "participantRawID"),
            final=final,
            utterance_end=final,
        )


def _clock_ms(value: object) -> int | None:
    return clock_ms(value) if isinstance(value, str) else seconds_ms(value)
