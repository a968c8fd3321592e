"""IBM Watson Speech to Text, WebSocket messages and the answer for a recording.

Source: https://cloud.ibm.com/docs/speech-to-text?topic=speech-to-text-basic-response and
https://cloud.ibm.com/docs/speech-to-text?topic=speech-to-text-speaker-labels

- ``results[].final`` tells final results; ``result_index`` numbers the first of a message. Times are
  ``[word, start, end]`` in seconds, in final results where they were asked for.
- ``speaker_labels`` say who speaks from when on; they are read where they come with the words.
- A recognition that was asked for by a job has such messages as its ``results``.
- ``%HESITATION`` is a filler and is kept.
"""

from __future__ import annotations

from collections.abc import Iterator

from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis
from caesura.worker.feeds.message_fields import Message, flag, name_of, number, objects, text
from caesura.worker.feeds.times import seconds_ms


def recognises(message: Message) -> bool:
    """Tell whether this is a message of Watson's."""
    results = message.get("results")
    if not isinstance(results, list):
        return False
    first = results[0] if results else None
    if isinstance(first, dict) and "results" in first:
        return recognises(first)
    return "result_index" in message or (isinstance(first, dict) and "final" in first and "alternatives" in first)


class Watson:
    """Reads results; a message that is no list of them has no words."""

    agreement = 3

    def __init__(self) -> None:
        self._listened = False
        self._next = 0

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        nested = [one for one in objects(message, "results") if "results" in one]
        for one in nested:
            yield from self.read(one)
        if nested or "results" not in message:
            return
        first = number(message, "result_index") or 0
        if first < self._next - 1 or (first < self._next and not objects(message, "results")):
            self._next = 0
            yield Hypothesis(reconnected=True)
        speakers = {
            seconds_ms(label.get("from")): name_of(label.get("speaker"), "speaker")
            for label in objects(message, "speaker_labels")
        }
        for place, result in enumerate(objects(message, "results"), start=first):
            self._next = max(self._next, place + 1)
            best = next(iter(objects(result, "alternatives")), {})
            words = _words(best, speakers)
            final = flag(result, "final")
            yield Hypothesis(words=words, utterance=f"result {place}", final=final, utterance_end=final)

    def finish(self) -> Iterator[Hypothesis]:
        """Return nothing: what never became final is not known to be said."""
        return iter(())


def _words(best: Message, speakers: dict[int | None, str]) -> tuple[HeardWord, ...]:
    stamps = best.get("timestamps")
    timed = [one for one in stamps if isinstance(one, list) and len(one) == 3] if isinstance(stamps, list) else []
    if not timed:
        return tuple(HeardWord(text=word) for word in text(best, "transcript").split())
    words = []
    for written, start, end in timed:
        start_ms = seconds_ms(start)
        spelt = text({"timestamps": written}, "timestamps")
        words.append(
            HeardWord(text=spelt, start_ms=start_ms, end_ms=seconds_ms(end), speaker=speakers.get(start_ms, ""))
        )
    return tuple(words)
