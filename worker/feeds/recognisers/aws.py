"""Amazon Transcribe, streaming and batch, its Call Analytics, and Amazon Connect's Contact Lens.

Source: https://docs.aws.amazon.com/transcribe/latest/dg/streaming-partial-results.html,
https://docs.aws.amazon.com/transcribe/latest/APIReference/API_streaming_Item.html,
https://docs.aws.amazon.com/transcribe/latest/dg/tca-output-batch.html and
https://docs.aws.amazon.com/connect/latest/adminguide/contact-lens-example-output-files.html

- A result's name (``ResultId``) holds until its ``IsPartial`` is false; then all its words are final. With partial
  results stabilisation on, items marked ``Stable`` are final at once.
- Items are words and, as items of their own, ``punctuation``: those are no words, and dropped.
- The reference says that an item's times are milliseconds; every example has seconds, and so has the service.
  In a batch's file they are seconds too, written as text, and a mark has none; channels stand there by themselves
  (``channel_labels``), and once more mixed. Older files say who speaks only beside the items (``speaker_labels``), by
  their start.
- Calls have turns with a role or a participant and times in milliseconds (``Transcript``, ``Segments``,
  ``UtteranceEvent``). Contact Lens has no times of words; its ``Utterance`` is a part of what follows and not read.
- Fillers are left out unless the language model hears them as words; vocabulary filters that remove words hide more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator

from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis
from caesura.worker.feeds.message_fields import Message, confidence, either, flag, objects, part, text
from caesura.worker.feeds.message_words import spread_text
from caesura.worker.feeds.new_streams import StreamClock
from caesura.worker.feeds.times import ms, seconds_ms


def recognises(message: Message) -> bool:
    """Tell whether this is a message of Amazon's."""
    if {"TranscriptEvent", "UtteranceEvent", "jobName"} & set(message):
        return True
    results = message.get("results")
    if isinstance(results, dict) and {"transcripts", "items"} <= set(results):
        return True
    transcript, segments = message.get("Transcript"), message.get("Segments")
    if isinstance(transcript, dict):
        return "Results" in transcript
    turns = transcript if isinstance(transcript, list) else segments
    return isinstance(turns, list) and any(isinstance(one, dict) and _is_turn(one) for one in turns)


def _is_turn(turn: Message) -> bool:
    return bool({"BeginOffsetMillis", "Transcript", "Utterance"} & set(turn))


class Aws:
    """Reads transcript events, and the files of batches and calls."""

    agreement = 0

    def __init__(self) -> None:
        self._clock = StreamClock()

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        if "results" in message:
            yield from _recorded(part(message, "results"))
        elif "UtteranceEvent" in message:
            yield _turn(part(message, "UtteranceEvent"), {}, live=True)
        elif isinstance(message.get("Transcript"), list) or "Segments" in message:
            names = {
                text(one, "ParticipantId"): text(one, "ParticipantRole") for one in objects(message, "Participants")
            }
            turns = objects(message, "Transcript") or [part(one, "Transcript") for one in objects(message, "Segments")]
            for turn in turns:
                if turn:
                    yield _turn(turn, names, live=False)
        else:
            yield from self._live(message)

    def finish(self) -> Iterator[Hypothesis]:
        """Return nothing: what never became final is not known to be said."""
        return iter(())

    def _live(self, message: Message) -> Iterator[Hypothesis]:
        event = part(message, "TranscriptEvent") or message
        for result in objects(part(event, "Transcript"), "Results"):
            alternatives = objects(result, "Alternatives")
            final = not flag(result, "IsPartial")
            stream, until_ms = text(result, "ChannelId").removeprefix("ch_"), seconds_ms(result.get("EndTime"))
            if self._clock.began_anew(stream, until_ms, final=final):
                yield Hypothesis(reconnected=True)
            yield Hypothesis(
                words=tuple(_words(objects(alternatives[0], "Items"))) if alternatives else (),
                stream=stream,
                utterance=text(result, "ResultId"),
                final=final,
                heard_until_ms=until_ms,
            )


def _recorded(results: Message) -> Iterator[Hypothesis]:
    """Yield a hypothesis a channel of a batch."""
    speaker_at = _speakers(objects(part(results, "speaker_labels"), "segments"))
    for one in objects(part(results, "channel_labels"), "channels") or [results]:
        stream = text(one, "channel_label").removeprefix("ch_")
        words = tuple(_words(objects(one, "items"), speaker_at))
        yield Hypothesis(words=words, stream=stream, final=True, utterance_end=True)


def _speakers(segments: list[Message]) -> Callable[[int | None], str]:
    """Return who speaks at a time: by the item that begins then, else by the last segment that has begun."""
    items = {
        seconds_ms(item.get("start_time")): text(item, "speaker_label")
        for one in segments
        for item in objects(one, "items")
    }
    begun = sorted((seconds_ms(one.get("start_time")) or 0, text(one, "speaker_label")) for one in segments)
    starts = [start_ms for start_ms, _ in begun]

    def at(start_ms: int | None) -> str:
        place = bisect_right(starts, start_ms or 0)
        return items.get(start_ms) or (begun[place - 1][1] if place else "")

    return at


def _turn(turn: Message, names: dict[str, str], *, live: bool) -> Hypothesis:
    """Return what one party of a call says in a turn. names: the role of each participant."""
    participant = text(turn, "ParticipantId")
    role = text(turn, "ParticipantRole") or names.get(participant) or participant
    start_ms, end_ms = ms(turn.get("BeginOffsetMillis")), ms(turn.get("EndOffsetMillis"))
    words = tuple(_words(objects(turn, "Items"))) or spread_text(
        text(turn, "Content") or text(turn, "Transcript"), start_ms, end_ms
    )
    return Hypothesis(
        words=words,
        stream=role,
        utterance=(text(turn, "UtteranceId") or text(turn, "Id")),
        final=not (live and flag(turn, "IsPartial")),
        utterance_end=not live or not flag(turn, "IsPartial"),
        heard_until_ms=end_ms if live else None,
    )


def _words(items: list[Message], speaker_at: Callable[[int | None], str] | None = None) -> Iterator[HeardWord]:
    for item in items:
        if (text(item, "Type") or text(item, "type") or text(item, "ItemType")) == "punctuation":
            continue
        best = next(iter(objects(item, "alternatives") or objects(item, "Alternatives")), {})
        known = speaker_at(seconds_ms(item.get("start_time"))) if speaker_at is not None else ""
        speaker = text(item, "Speaker") or text(item, "speaker_label") or known
        millis = "BeginOffsetMillis" in item
        scored = next((one for one in (item, best) if "Confidence" in one), None)
        yield HeardWord(
            text=text(item, "Content") or text(best, "content") or text(best, "Content"),
            start_ms=ms(item["BeginOffsetMillis"]) if millis else seconds_ms(either(item, "StartTime", "start_time")),
            end_ms=ms(item.get("EndOffsetMillis")) if millis else seconds_ms(either(item, "EndTime", "end_time")),
            confidence=confidence(best, "confidence") if scored is None else confidence(scored, "Confidence"),
            stable=flag(item, "Stable"),
            speaker=speaker.removeprefix("spk_"),
        )
