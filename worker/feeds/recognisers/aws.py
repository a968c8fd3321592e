"""Amazon Transcribe, streaming and batch.

Source: https://docs.aws.amazon.com/transcribe/latest/dg/streaming-partial-results.html and
https://docs.aws.amazon.com/transcribe/latest/APIReference/API_streaming_Item.html

- A result's name (``ResultId``) holds until its ``IsPartial`` is false; then all its words are final. With partial
  results stabilisation on, items marked ``Stable`` are final at once.
- Items are words and, as items of their own, ``punctuation``: those are no words, and dropped.
- The reference says that an item's times are milliseconds; every example has seconds, and so has the service.
  In a batch's file they are seconds too, written as text, and a mark has none; channels stand there by themselves
  (``channel_labels``), and once more mixed.
- Fillers are left out unless the language model hears them as words; vocabulary filters that remove words hide more.
"""

from __future__ import annotations

from collections.abc import Iterator

from worker.feeds.hypothesis import HeardWord, Hypothesis
from worker.feeds.message_fields import Message, confidence, either, flag, objects, part, text
from worker.feeds.times import seconds_ms

__all__ = ["Aws", "recognises"]


def recognises(message: Message) -> bool:
    """Tell whether this is a message of Amazon Transcribe's."""
    if "TranscriptEvent" in message or "jobName" in message:
        return True
    transcript = message.get("Transcript")
    return isinstance(transcript, dict) and "Results" in transcript


class Aws:
    """Reads transcript events, and a batch's file."""

    agreement = 0

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        if "results" in message:
            results = part(message, "results")
            for one in objects(part(results, "channel_labels"), "channels") or [results]:
                stream = text(one, "channel_label").removeprefix("ch_")
                words = tuple(_words(objects(one, "items")))
                yield Hypothesis(words=words, stream=stream, final=True, utterance_end=True)
            return
        event = part(message, "TranscriptEvent") or message
        for result in objects(part(event, "Transcript"), "Results"):
            alternatives = objects(result, "Alternatives")
            final = not flag(result, "IsPartial")
            channel = text(result, "ChannelId")
            yield Hypothesis(
                words=tuple(_words(objects(alternatives[0], "Items"))) if alternatives else (),
                stream=channel.removeprefix("ch_"),
                utterance=text(result, "ResultId"),
                final=final,
                heard_until_ms=seconds_ms(result.get("EndTime")),
            )

    def finish(self) -> Iterator[Hypothesis]:
        """Return nothing: what never became final is not known to be said."""
        return iter(())


def _words(items: list[Message]) -> Iterator[HeardWord]:
    for item in items:
        if (text(item, "Type") or text(item, "type")) == "punctuation":
            continue
        best = next(iter(objects(item, "alternatives")), {})
        speaker = text(item, "Speaker") or text(item, "speaker_label")
        yield HeardWord(
            text=text(item, "Content") or text(best, "content"),
            start_ms=seconds_ms(either(item, "StartTime", "start_time")),
            end_ms=seconds_ms(either(item, "EndTime", "end_time")),
            confidence=confidence(item, "Confidence"),
            stable=flag(item, "Stable"),
            speaker=speaker.removeprefix("spk_"),
        )
