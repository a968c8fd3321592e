"""Decides when a session is silent, on which clock, and what its segment says of it (docs/design.md, *Silence*).

Rules:

1. A session can fall silent from its first word until its utterance or the session ends.
2. A session that has sent ``heard_until_ms`` is silent when ``flush_after_ms`` of audio have been heard since its last
   word. An event (``heard_pause``) or the next word's start shows this. By arrival it is silent only if no event came
   for ``stall_after_ms``.
3. Any other session is silent when ``flush_after_ms`` of partition time (``timeline``) have passed since its last word
   was applied.
4. The audio clock never goes back; a new epoch resets it. A word without times counts as said at its event's
   ``heard_until_ms``.
"""

from __future__ import annotations

from caesura.schemas.events import Word, WordsEvent
from caesura.schemas.segments import Pause
from caesura.schemas.state import ChosenOptions
from caesura.worker.core.language.rules import DecodingRules


def listens_after(event: WordsEvent, *, listening: bool) -> bool:
    """Tell whether a session listens for silence, once this event of it is applied."""
    if event.utterance_end or event.session_end:
        return False
    return listening or bool(event.words)


def audio_clock_after(event: WordsEvent, *, has_audio_clock: bool) -> bool:
    """Tell whether a session's silence is counted on its audio clock, as of this event."""
    return has_audio_clock or event.heard_until_ms is not None


def silence_due_ms(
    rules: DecodingRules, options: ChosenOptions, *, word_ms: int, event_ms: int, has_audio_clock: bool
) -> int:
    """Return the partition time at which a session that listens is silent by arrival.

    word_ms, event_ms: when its last word, and its last event, were applied.
    """
    if has_audio_clock:
        return event_ms + max(rules.stall_after_ms, options.flush_after_ms)
    return word_ms + options.flush_after_ms


def arrival_pause(*, due_ms: int, word_ms: int) -> Pause:
    """Return what a segment says of a silence by arrival, as far as it is known when it is due."""
    return Pause(ms=due_ms - word_ms, clock="arrival")


def heard_pause(
    heard_ms: int | None, audio_end_ms: int | None, options: ChosenOptions, *, speaking: bool = False
) -> Pause | None:
    """Return the silence up to ``heard_ms`` on the audio clock; None: too short, or one of the times is not known.

    audio_end_ms: where the last word ended. speaking: a word begins at ``heard_ms``, so the silence is over.
    """
    if heard_ms is None or audio_end_ms is None:
        return None
    silent_ms = heard_ms - audio_end_ms
    return Pause(ms=silent_ms, clock="audio", ended=speaking) if silent_ms >= options.flush_after_ms else None


def last_word_end_ms(audio_end_ms: int | None, word: Word) -> int | None:
    """Return where the last word ended, ``word`` one more, as far as it says: the clock never goes back."""
    end_ms = word.start_ms if word.end_ms is None else word.end_ms
    return audio_end_ms if end_ms is None else max(end_ms, audio_end_ms or 0)


def untimed_until_ms(audio_end_ms: int | None, event: WordsEvent) -> int | None:
    """Return the same behind an event's words whose last one says nothing of its end: it was heard by then."""
    heard_ms = event.heard_until_ms
    if heard_ms is None or not event.words:
        return audio_end_ms
    last = event.words[-1]
    timed = last.start_ms is not None or last.end_ms is not None
    return audio_end_ms if timed else max(heard_ms, audio_end_ms or 0)
