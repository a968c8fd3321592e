"""Rev.ai, the transcript of a recording and streaming hypotheses.

Source: https://docs.rev.ai/api/asynchronous/transcripts/ and https://docs.rev.ai/api/streaming/responses/

- ``elements`` are of type ``text``, ``punct`` or ``unknown``; marks and what was not understood are dropped.
- Times (``ts``, ``end_ts``) are seconds. A ``partial`` hypothesis has neither; a ``final`` one begins anew.
- Filler words are removed where that was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis
from caesura.worker.feeds.message_fields import Message, name_of, objects, text
from caesura.worker.feeds.message_words import WordFields
from caesura.worker.feeds.times import seconds_ms

_WORD = WordFields(text="value", start="ts", end="end_ts")


def recognises(message: Message) -> bool:
    """Tell whether this is a message of Rev.ai's."""
    return "monologues" in message or (message.get("type") in ("partial", "final") and "elements" in message)


class RevAi:
    """Reads monologues and hypotheses."""

    agreement = 3

    def __init__(self) -> None:
        self._connected = False

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        for monologue in objects(message, "monologues"):
            speaker = name_of(monologue.get("speaker"), "speaker")
            words = tuple(replace(word, speaker=speaker) for word in _words(monologue))
            yield Hypothesis(words=words, final=True, utterance_end=True)
        kind = text(message, "type")
        if kind == "connected":
            if self._connected:
                yield Hypothesis(reconnected=True)
            self._connected = True
        elif kind in ("partial", "final"):
            final = kind == "final"
            yield Hypothesis(
                words=_words(message),
                final=final,
                utterance_end=final,
                heard_until_ms=seconds_ms(message.get("end_ts")),
            )

    def finish(self) -> Iterator[Hypothesis]:
        """Return nothing: what never became final is not known to be said."""
        return iter(())


def _words(message: Message) -> tuple[HeardWord, ...]:
    return _WORD.bare(one for one in objects(message, "elements") if text(one, "type") == "text")
