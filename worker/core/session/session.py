"""A session as a state machine without I/O: events and times in, label requests and segments out (docs/design.md).

    offer(event, origin), fire(now)   decide at once (``admission`` has the table), and queue the work
    request(now)                      works until labels are needed and returns the request; None if no work is left
    resolve(labels, now)              goes on with the labels
    take_segments()                   returns the segments that froze since the last call

Rules:

1. Queued work is done in order, each piece to its end.
2. When requests are resolved changes only ``frozen_ms``.
3. A snapshot is taken only while no work is queued. A restored session goes on as if it had never stopped.
"""

from __future__ import annotations

from collections import deque

from caesura.schemas.events import WordsEvent
from caesura.schemas.labels import Labels
from caesura.schemas.segments import Cause, Pause
from caesura.schemas.state import DecodingState, LedgerState, SessionState, SessionStatus
from caesura.schemas.tentative import Tentative
from caesura.worker.core.decoding.admission import Admission, AdmissionDecision, OfferOutcome, PassedGap, Timer
from caesura.worker.core.decoding.applied_event import AppliedEvent
from caesura.worker.core.decoding.context import DecodingContext, Origin
from caesura.worker.core.decoding.decoding import Decoder, Work
from caesura.worker.core.decoding.segment_writer import OutSegment, SegmentWriter
from caesura.worker.core.decoding.silence import arrival_pause
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.session.snapshot import ledger_record, replay_offset, restored, snapshot
from caesura.worker.core.session.tentative import tentative_words


class Session:
    """One speaker's stream."""

    __slots__ = (
        "_admission",
        "_context",
        "_decoder",
        "_queue",
        "_queued_words",
        "_request",
        "_wanted_ms",
        "_work",
        "_writer",
    )

    def __init__(self, context: DecodingContext, admission: Admission, writer: SegmentWriter, decoder: Decoder) -> None:
        self._context = context
        self._admission = admission
        self._writer = writer
        self._decoder = decoder
        self._queue: deque[AppliedEvent | Pause | Cause | None] = deque()
        self._queued_words = 0
        self._work: Work | None = None
        self._request: LabelRequest | None = None
        self._wanted_ms = 0

    @classmethod
    def open(cls, event: WordsEvent, origin: Origin, context: DecodingContext) -> Session:
        """Begin a session with its first event; offer the event next. ``since`` is its offset."""
        options = context.rules.choose(event.options)
        admission = Admission(rules=context.rules, options=options, activity_ms=origin.time_ms, event_ms=origin.time_ms)
        writer = SegmentWriter(context=context, session=event.session, since=origin.offset)
        context.counts.opened += 1
        return cls(context, admission, writer, Decoder(context, writer, options, DecodingState(lang=event.lang)))

    @classmethod
    def restore(cls, state: SessionState, context: DecodingContext) -> Session:
        """Go on from a snapshot."""
        return cls(context, *restored(state, context))

    @property
    def status(self) -> SessionStatus:
        """Return where the session is in its life, as of the last event offered or timer fired."""
        return self._admission.status

    @property
    def is_busy(self) -> bool:
        """Tell whether work is queued."""
        return bool(self._queue) or self._work is not None

    @property
    def due_ms(self) -> int | None:
        """Return the partition time at which ``fire`` next has something to do; None: never by itself."""
        timer = self._admission.next_timer
        return None if timer is None else timer[0]

    @property
    def waiting_since_ms(self) -> int:
        """Return the wall clock at which the running work began to need labels."""
        return self._wanted_ms

    @property
    def queued_words(self) -> int:
        """Return the number of words in events that wait for the running work."""
        return self._queued_words

    @property
    def latest_ms(self) -> int:
        """Return the latest partition time that the session knows of."""
        return max(self._admission.event_ms, self._admission.activity_ms, self._admission.closed_ms or 0)

    @property
    def replay_offset(self) -> int | None:
        """Return the first input offset that a rebuild needs in addition to the ledger; None: it needs no input."""
        return replay_offset(self._decoder)

    def offer(self, event: WordsEvent, origin: Origin) -> AdmissionDecision:
        """Decide about an event and queue it if it is accepted. Timers due at or before its time have fired."""
        admission, counts = self._admission, self._context.counts
        was, epoch = admission.status, admission.epoch
        decision = admission.admit(event, origin.time_ms)
        if decision.outcome is OfferOutcome.ACCEPTED:
            counts.events += 1
            if admission.status is not was or decision.gap is not None:
                self._count_change(was, decision.gap)
            applied = AppliedEvent(
                event=event,
                origin=origin,
                gap=decision.gap,
                has_audio_clock=admission.has_audio_clock,
                restarted=event.epoch > epoch,
                closed=admission.status is SessionStatus.CLOSED,
            )
            self._queue.append(applied)
            self._queued_words += len(event.words)
        elif decision.outcome is OfferOutcome.REPEAT:
            counts.repeats += 1
        return decision

    def fire(self, now_ms: int) -> bool:
        """Fire every timer that is due at partition time ``now_ms``; return whether one did."""
        fired = False
        while (due_ms := self.due_ms) is not None and due_ms <= now_ms:
            silence = arrival_pause(due_ms=due_ms, word_ms=self._admission.activity_ms)
            timer = self._admission.fire()
            fired = True
            self._context.counts.closed += timer is Timer.IDLE
            self._context.counts.forgotten += timer is Timer.FORGET
            if timer is not Timer.FORGET:
                self._queue.append(silence if timer is Timer.SILENCE else None)
        return fired

    def flush(self) -> bool:
        """Queue a flush of all unfrozen words, without a mark of ours at their end; False if there are none."""
        if self._decoder.has_unfrozen:
            self._queue.append(Cause.UTTERANCE)
        return self._decoder.has_unfrozen

    def replayed(self, now_ms: int) -> bool:
        """Note that its records were replayed up to partition time ``now_ms``. Nothing may be queued.

        If a silence after unpublished words were over by now, they would have been published. So the last word came
        later than the log can say (``replayed_time``), at the latest now. True: it is taken to have come now.
        """
        waits = self._decoder.has_unfrozen and (self.due_ms or 0) <= now_ms
        if waits:
            self._admission.spoke(now_ms)
        return waits

    def request(self, now_ms: int) -> LabelRequest | None:
        """Run until labels are needed and return the request, the same one until they come; None when idle.

        now_ms: wall clock, for ``frozen_ms`` of words that freeze without labels.
        """
        self._decoder.now_ms = now_ms
        while self._request is None:
            if self._work is None:
                if not self._queue:
                    return None
                self._work = self._begin(self._queue.popleft())
            self._go_on(None, now_ms)
        return self._request

    def resolve(self, labels: Labels, now_ms: int) -> None:
        """Go on with the requested labels. now_ms: wall clock, the ``frozen_ms`` of words that freeze now.

        ValueError if there is not one label of each kind for each word.
        """
        if self._request is None or not labels.fit(len(self._request.wanted)):
            raise ValueError("labels answer a request, one of each kind a wanted word")
        self._decoder.now_ms = now_ms
        self._go_on(labels, now_ms)

    def fall_back(self, now_ms: int) -> None:
        """Go on without the requested labels: the buffer freezes unlabelled, cause ``fallback``."""
        if self._request is None:
            raise ValueError("nothing is wanted")
        self._decoder.now_ms = now_ms
        self._go_on(None, now_ms)

    def take_segments(self) -> list[OutSegment]:
        """Return the segments written since the last call."""
        taken, self._writer.written = self._writer.written, []
        return taken

    def tentative(self, now_ms: int) -> Tentative:
        """Return the unfrozen words with their present labels; changes nothing. now_ms: wall clock."""
        return tentative_words(self._decoder, at_ms=now_ms)

    def said_before(self) -> tuple[str, ...]:
        """Return the model's view of the last few frozen words."""
        frozen = self._decoder.buffer.frozen
        return self._decoder.beside(frozen, frozen).before

    def snapshot(self) -> bytes:
        """Return the session as it is stored. Nothing may be queued, and its segments must have been taken."""
        assert not self.is_busy, "a snapshot is taken between works"
        return snapshot(self._admission, self._writer, self._decoder)

    def ledger_state(self) -> LedgerState:
        """Return the session's ledger record, without any word's text. Nothing may be queued."""
        assert not self.is_busy, "a ledger record is taken between works"
        return ledger_record(self._admission, self._writer, self._decoder)

    def _begin(self, item: AppliedEvent | Pause | Cause | None) -> Work:
        """Return the work of an event, of a silence (how long it is), of a flush for a cause, or of idleness."""
        if isinstance(item, AppliedEvent):
            self._queued_words -= len(item.event.words)
            return self._decoder.apply(item)
        if item is None:
            return self._decoder.clear(Cause.IDLE, session_end=True)
        if isinstance(item, Cause):
            return self._decoder.flush(item, sentence_end=0.0)
        return self._decoder.flush(Cause.SILENCE, pause=item)

    def _go_on(self, labels: Labels | None, now_ms: int) -> None:
        assert self._work is not None, "labels answer work"
        self._request = None
        try:
            self._request = self._work.send(labels)
            self._wanted_ms = now_ms
        except StopIteration:
            self._work = None

    def _count_change(self, was: SessionStatus, gap: PassedGap | None) -> None:
        counts, status = self._context.counts, self._admission.status
        if status is not was:
            counts.reopened += was is SessionStatus.CLOSED and status is SessionStatus.OPEN
            counts.closed += status is SessionStatus.ENDED
        if gap is not None:
            counts.gaps += 1
            counts.missed_events += gap.last_seq - gap.first_seq + 1
