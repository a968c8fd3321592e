"""Decides which events a session accepts, and when its timers are due: event numbers, its life, its timers.

Rules: docs/design.md, *Order of input*.

The life of a session, by what happens to it:

    status    words     no words  session_end  silence due  idle due  forget due
    open      open      open      ended        open         closed    -
    closed    open      closed    ended        -            -         forgotten
    ended     refused   refused   refused      -            -         forgotten

Event numbers: a lower epoch is ``stale_epoch``; a number in an earlier gap is ``late``; any other number below the next
one is a repeat; a number above it is accepted with a gap; a higher epoch starts again from 0. Events of an ended
session are ``session_ended``.

Timers count partition time: silence and idleness from the last word, forgetting from the closing. Events without words
do not keep a session open, or remembered. All this is decided when an event is offered or a timer fires, before any
labelling, so it does not depend on how far labelling has come.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

import msgspec

from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.events import WordsEvent
from caesura.schemas.state import ChosenOptions, SessionStatus
from caesura.worker.core.decoding.silence import audio_clock_after, listens_after, silence_due_ms
from caesura.worker.core.language.rules import DecodingRules

_MAX_KNOWN_GAPS = 64


class OfferOutcome(Enum):
    """What became of an offered event."""

    ACCEPTED = auto()
    REPEAT = auto()
    REFUSED = auto()


class PassedGap(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Events of an epoch that never came, inclusive."""

    epoch: int
    first_seq: int
    last_seq: int


class AdmissionDecision(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The answer to an event. reason: where it is refused. gap: what is missing before an accepted one."""

    outcome: OfferOutcome
    reason: DeadLetterReason | None = None
    gap: PassedGap | None = None


_ACCEPTED = AdmissionDecision(outcome=OfferOutcome.ACCEPTED)


def forgotten_at_ms(closed_ms: int | None, rules: DecodingRules) -> int:
    """Return the partition time at which a session is forgotten that closed then."""
    return (closed_ms or 0) + rules.forget_after_ms


class Timer(Enum):
    """A session's timers, in the order in which they fire at one instant."""

    SILENCE = 0
    IDLE = 1
    FORGET = 2


@dataclass(slots=True, kw_only=True)
class Admission:
    """The part of a session's state that decides about events and timers; ``state`` says what each is."""

    rules: DecodingRules
    options: ChosenOptions
    activity_ms: int
    event_ms: int
    status: SessionStatus = SessionStatus.OPEN
    epoch: int = 0
    next_seq: int = 0
    missed: tuple[tuple[int, int], ...] = ()
    missed_from: int = 0
    closed_ms: int | None = None
    listening: bool = False
    has_audio_clock: bool = False

    def admit(self, event: WordsEvent, time_ms: int) -> AdmissionDecision:
        """Decide about an event that is applied at partition time ``time_ms``, and take note of it if accepted."""
        if event.epoch < self.epoch:
            return AdmissionDecision(outcome=OfferOutcome.REFUSED, reason=DeadLetterReason.STALE_EPOCH)
        if event.epoch == self.epoch and event.seq < self.next_seq:
            if self._was_missed(event.seq):
                return AdmissionDecision(outcome=OfferOutcome.REFUSED, reason=DeadLetterReason.LATE)
            return AdmissionDecision(outcome=OfferOutcome.REPEAT)
        if self.status is SessionStatus.ENDED:
            return AdmissionDecision(outcome=OfferOutcome.REFUSED, reason=DeadLetterReason.SESSION_ENDED)
        gap = self._count(event)
        self._live(event, time_ms)
        return _ACCEPTED if gap is None else AdmissionDecision(outcome=OfferOutcome.ACCEPTED, gap=gap)

    @property
    def next_timer(self) -> tuple[int, Timer] | None:
        """Return when the next timer is due and which it is; None where none runs."""
        if self.status is SessionStatus.FORGOTTEN:
            return None
        if self.status is not SessionStatus.OPEN:
            return forgotten_at_ms(self.closed_ms, self.rules), Timer.FORGET
        idle_ms = self.activity_ms + self.rules.idle_after_ms
        silence_ms = self._silence_due_ms()
        if silence_ms is not None and silence_ms <= idle_ms:
            return silence_ms, Timer.SILENCE
        return idle_ms, Timer.IDLE

    def fire(self) -> Timer:
        """Let the next timer fire and return which it was; there is one."""
        timer = self.next_timer
        assert timer is not None, "a timer that fires is due"
        due_ms, which = timer
        if which is Timer.SILENCE:
            self.listening = False
        elif which is Timer.IDLE:
            self.status, self.closed_ms, self.listening = SessionStatus.CLOSED, due_ms, False
        else:
            self.status = SessionStatus.FORGOTTEN
        return which

    def spoke(self, time_ms: int) -> None:
        """Count as having spoken at partition time ``time_ms``; its last event's is the time of its record still."""
        self.activity_ms = time_ms

    def _silence_due_ms(self) -> int | None:
        if not self.listening:
            return None
        event_ms = max(self.event_ms, self.activity_ms)  # a rebuild may have it speak later (``spoke``)
        return silence_due_ms(
            self.rules, self.options, word_ms=self.activity_ms, event_ms=event_ms, has_audio_clock=self.has_audio_clock
        )

    def _was_missed(self, seq: int) -> bool:
        return seq < self.missed_from or any(first <= seq <= last for first, last in self.missed)

    def _count(self, event: WordsEvent) -> PassedGap | None:
        if event.epoch > self.epoch:
            self.epoch, self.next_seq, self.missed, self.missed_from = event.epoch, 0, (), 0
        expected, self.next_seq = self.next_seq, event.seq + 1
        if event.seq == expected:
            return None
        self.missed = (*self.missed, (expected, event.seq - 1))
        if len(self.missed) > _MAX_KNOWN_GAPS:
            # What is forgotten here answers "late" from now on: a repeat too many among the dead letters, never a
            # word dropped without a trace.
            self.missed_from = self.missed[0][1] + 1
            self.missed = self.missed[1:]
        return PassedGap(epoch=self.epoch, first_seq=expected, last_seq=event.seq - 1)

    def _live(self, event: WordsEvent, time_ms: int) -> None:
        self.event_ms = time_ms
        if event.configure is not None:
            self.options = self.rules.reconfigure(self.options, event.configure)
        self.has_audio_clock = audio_clock_after(event, has_audio_clock=self.has_audio_clock)
        self.listening = listens_after(event, listening=self.listening)
        if event.words:
            self.status, self.closed_ms, self.activity_ms = SessionStatus.OPEN, None, time_ms
        if event.session_end:
            self.status, self.closed_ms = SessionStatus.ENDED, time_ms
