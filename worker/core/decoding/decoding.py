"""Turns a session's input into frozen words: steps, cuts and flushes.

Rules: docs/design.md, *Decoding*; CT-Transformer, section 3.3.

Each method that may need labels is a generator. It yields a ``LabelRequest``, is sent ``Labels`` (or None if they
cannot be had) and goes on. So the code shows the rules in the order in which they apply, and does not know the engine.

Rules:

1. A step happens whenever the session's count of model words is a multiple of F, also inside an event, and on a flush.
2. A step labels the buffer and cuts at each sentence end with T words after it. It publishes settled words (emission
   ``settled``) or words up to a mark with enough words after it (``clause``), and cuts by length if another step would
   not fit. After a cut the rest is labelled at the next step. A step asks only for labels that it can use and that are
   not settled yet: of words with T or L words after them, and of words that a cut by length may free.
3. Frozen words of ended sentences stay as left context (ADR 0014; the paper keeps none). When they are more than
   ``max_context_words``, all but the last ``context_words`` go. If the buffer is full, left context goes first.
4. A flush freezes the rest with the labels of its step. After a silence or the end of an utterance the words stay as
   left context; a change of language and the end of a session clear the buffer.
5. Before words freeze, ``kept_words`` removes tags from words that must stay. It reads only the buffer, so a replay
   decides the same.
6. At a session's end the last word gets a sentence mark, by the model's scores; at other flushes an offset decides.
7. A model is chosen when the buffer's start has moved; until then the buffer keeps its model.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from caesura.schemas.events import Emission, WordsEvent
from caesura.schemas.labels import Disfluency, Labels
from caesura.schemas.segments import Cause, Pause
from caesura.schemas.state import ChosenOptions, DecodingState, ModelWord
from caesura.worker.core.decoding.applied_event import AppliedEvent
from caesura.worker.core.decoding.buffer import Buffer
from caesura.worker.core.decoding.buffer_labels import BufferLabels
from caesura.worker.core.decoding.context import DecodingContext, Origin
from caesura.worker.core.decoding.segment_writer import FrozenWords, SegmentWriter
from caesura.worker.core.decoding.silence import heard_pause, last_word_end_ms, untimed_until_ms
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import primary_language
from caesura.worker.core.language.words import HeldBack, WordSegmenter
from caesura.worker.core.overlays.beside import Beside

_BESIDE_WORDS = 12
"""So many words before and behind a segment's are told to what renders it."""

Work = Generator[LabelRequest, Labels | None, None]


_NOTHING_HELD = HeldBack()


class Decoder:
    """The part of a session's state that words pass through; ``state`` says what each field is."""

    __slots__ = ("audio_end_ms", "buffer", "context", "labels", "lang", "now_ms", "options", "segmenter", "tag",
                 "unrecorded_offset", "writer")  # fmt: skip

    def __init__(
        self,
        context: DecodingContext,
        writer: SegmentWriter,
        options: ChosenOptions,
        state: DecodingState,
        *,
        words: Sequence[ModelWord] = (),
        held: HeldBack = _NOTHING_HELD,
    ) -> None:
        """Begin, or go on from a state. words: the buffer's. held: what the segmenter keeps."""
        self.context = context
        self.writer = writer
        self.options = options
        self.lang = state.lang
        self.buffer = Buffer(
            words,
            start=state.model_words - len(words),
            labelled_start=state.labelled_start,
            frozen=state.frozen,
            settled=state.settled,
            labels=state.labels,
        )
        self.segmenter: WordSegmenter = context.segmenters(primary_language(state.lang), held)
        self.labels = BufferLabels(context, writer.session, self.buffer, state.model)
        self.tag = state.tag
        self.audio_end_ms = state.audio_end_ms
        self.unrecorded_offset = state.unrecorded_offset
        self.now_ms = 0

    @property
    def state(self) -> DecodingState:
        """How far the session is decoded."""
        buffer = self.buffer
        return DecodingState(
            lang=self.lang,
            model=self.labels.model,
            tag=self.tag,
            audio_end_ms=self.audio_end_ms,
            unrecorded_offset=self.unrecorded_offset,
            model_words=buffer.end,
            labelled_start=buffer.labelled_start,
            frozen=buffer.frozen,
            settled=buffer.settled,
            labels=buffer.labels.compact(),
        )

    @property
    def start(self) -> tuple[int, int, int] | None:
        """Return record, word and code point at which the words start that are not in the past: buffer, else tail."""
        if self.buffer.words:
            piece = self.buffer.words[0].pieces[0]
            return piece.offset, piece.position, piece.unit_start
        held = self.segmenter.held
        if held.units:
            return held.units[0].offset, held.units[0].position, held.given_code_points
        return None

    @property
    def has_unfrozen(self) -> bool:
        """Tell whether words wait that are not published, or what may become a word."""
        return self.buffer.unfrozen > 0 or bool(self.segmenter.held.units)

    def apply(self, applied: AppliedEvent) -> Work:
        """Take an event's words, with the steps and the silences among them, and do what it asks for."""
        event, origin = applied.event, applied.origin
        if self.unrecorded_offset is None and not applied.closed:  # else a ledger record is due (``unrecorded``)
            self._note_unrecorded(origin)
        if applied.gap is not None or event.lang != self.lang or event.configure is not None or applied.restarted:
            yield from self._turn(applied)
        self.writer.note_event(event, origin)
        append, step_words, has_audio_clock = self.buffer.append, self.context.rules.step_words, applied.has_audio_clock
        for position, word in enumerate(event.words):
            if has_audio_clock and (
                pause := heard_pause(word.start_ms, self.audio_end_ms, self.options, speaking=True)
            ):
                yield from self.flush(Cause.SILENCE, pause=pause)
            for model_word in self.segmenter.push((origin.unit(word, position),)):
                if append(model_word) % step_words == 0:
                    yield from self._step()
            self.audio_end_ms = last_word_end_ms(self.audio_end_ms, word)
        self.audio_end_ms = untimed_until_ms(self.audio_end_ms, event)
        if has_audio_clock and (pause := heard_pause(event.heard_until_ms, self.audio_end_ms, self.options)):
            yield from self.flush(Cause.SILENCE, pause=pause)
        if event.session_end:
            yield from self.clear(Cause.END, session_end=True)
        elif event.utterance_end:
            yield from self.flush(Cause.UTTERANCE)

    def _turn(self, applied: AppliedEvent) -> Work:
        """Settle what an event ends that is no more of what came before it: a gap, another language, other wishes."""
        event = applied.event
        if applied.gap is not None:
            yield from self._settle_tail()
            self.writer.note_gap(applied.gap, self._unfrozen_pieces())
        if event.lang.casefold() != self.lang.casefold():
            yield from self.clear(Cause.LANGUAGE)
            self.segmenter = self.context.segmenters(primary_language(event.lang), HeldBack())
        self.lang = event.lang
        if event.configure is not None:
            yield from self._configure(event)
        if applied.restarted:
            self.audio_end_ms = None

    def _note_unrecorded(self, origin: Origin) -> None:
        """Note where the last ledger record's buffer starts at the latest: a cut among frozen words writes no other."""
        start = self.start
        self.unrecorded_offset = origin.offset if start is None else start[0]

    def _configure(self, event: WordsEvent) -> Work:
        """Take the wishes of an event, from its first word on.

        Marks of ours begin or end there exactly, and the session's wishes of its renderings count from there: what was
        said before freezes as it was wished. The other options say how the next step decides, and freeze nothing.
        """
        options = self.context.rules.reconfigure(self.options, event.configure)
        if options.rendering != self.options.rendering:
            yield from self.flush(Cause.UTTERANCE, sentence_end=0.0)
        if options.punctuation != self.options.punctuation:
            yield from self.flush(Cause.UTTERANCE, sentence_end=0.0)
            self.buffer.drop(len(self.buffer))  # labels with marks are no left context of words without, nor they of it
            self.tag = Disfluency.O.value
        self.options = options

    def flush(
        self,
        cause: Cause,
        *,
        session_end: bool = False,
        pause: Pause | None = None,
        sentence_end: float | None = None,
    ) -> Work:
        """Freeze all that is there; the words stay as left context. pause: of a silence, as far as it is known.

        sentence_end: the offset of the last word's sentence marks; None: the rules' own for this cause.
        """
        yield from self._settle_tail()
        if self.buffer.unfrozen:
            offset = self.context.rules.sentence_end_offset(cause) if sentence_end is None else sentence_end
            yield from self._label_last(offset)
        self._publish(len(self.buffer), cause, session_end=session_end, pause=pause)

    def _label_last(self, sentence_end: float) -> Work:
        """Label the buffer to its last word, and cut. sentence_end: the offset of that word's sentence marks."""
        if sentence_end or not self.buffer.is_labelled:
            yield from self._step(flush=True, sentence_end=sentence_end)
        else:
            self._cut_sentences()

    def clear(self, cause: Cause, *, session_end: bool = False) -> Work:
        """Freeze all that is there, and begin anew with an empty buffer and a new sentence."""
        yield from self.flush(cause, session_end=session_end)
        self.buffer.drop(len(self.buffer))
        self.tag = Disfluency.O.value
        self.writer.break_sentence()

    def _unfrozen_pieces(self) -> int:
        return sum(len(word.pieces) for word in self.buffer.words[self.buffer.frozen :])

    def _settle_tail(self) -> Work:
        for word in self.segmenter.flush():
            if self.buffer.append(word) % self.context.rules.step_words == 0:
                yield from self._step()

    def _step(self, *, flush: bool = False, sentence_end: float = 0.0) -> Work:
        """Label the buffer, then Algorithm 1 until no cut is left. flush: up to its last word, and no more.

        sentence_end: the offset of the last word's sentence marks; whatever is known of that word is asked again.
        """
        self._choose_model()
        buffer, look_ahead = self.buffer, self.labels.look_ahead
        size = len(buffer.words)
        first = max(buffer.frozen, min(buffer.known, size - 1)) if sentence_end else buffer.known
        end = size if flush else max(first, self._labels_end(look_ahead))
        if first < end or (first < size and self.context.looks_ahead):
            labels = None if sentence_end else self.labels.known(first, end)
            if labels is None:
                request = self.labels.request(first, end, sentence_end=sentence_end)
                answer = None if request is None else (yield request)
                labels = self.labels.take(answer, first, end, punctuation=self.options.punctuation, lang=self.lang)
            if first < end:
                self._take(labels, first, look_ahead)
        if flush:
            return
        if self.options.emission is Emission.SETTLED:
            self._publish_settled(len(buffer) - look_ahead)
        elif self.options.emission is Emission.CLAUSE:
            self._publish_clause(len(buffer) - self._words_after_marks)
        if (too_many := self._too_many()) > 0:
            self._cut_by_length(look_ahead, too_many)

    def _take(self, labels: Labels | None, first: int, look_ahead: int) -> None:
        """Take the labels of the words from ``first`` on, and cut by them; None: there was no answer."""
        if labels is None:
            self._fall_back()
        else:
            self.buffer.relabel(labels, first=first, look_ahead_words=look_ahead)
            self._cut_sentences()

    def _cut_sentences(self) -> None:
        """Apply Algorithm 1 until no cut is left, and let go of left context that is too long."""
        buffer, rules = self.buffer, self.context.rules
        for cut in buffer.cuts(self._words_after_marks):
            self._publish(cut, Cause.SENTENCE)
        past = buffer.past(more_than=max(rules.max_context_words, rules.context_words))
        if past:
            buffer.drop(past - rules.context_words)

    def _labels_end(self, look_ahead: int) -> int:
        """Return the end of the words whose labels a step can use: to cut, to settle, or to make room."""
        size = len(self.buffer.words)
        return max(size - min(look_ahead, self._words_after_marks), min(self._too_many(), size))

    @property
    def _words_after_marks(self) -> int:
        """Return how many words follow a mark before the words up to it are published."""
        asked = self.options.look_ahead_words
        if self.options.emission is Emission.CLAUSE:
            return min(asked, self.labels.look_ahead, self.context.rules.clause_look_ahead_words)
        return asked

    def _too_many(self) -> int:
        """Return how many words must go before another step fits; at most zero: none."""
        return len(self.buffer.words) + self.context.rules.step_words - self.options.max_buffer_words

    def _choose_model(self) -> None:
        if self.labels.is_bound:
            if self.labels.is_served:
                return
            self._publish(self.buffer.settled, Cause.SETTLED)
            self.context.counts.takeovers += 1
        self.labels.choose(self.lang)

    def _fall_back(self) -> None:
        """Freeze what could not be labelled, and let it go, so that the next step is not asked about it again."""
        self.labels.give_up()
        self.buffer.relabel(Labels.none(self.buffer.unfrozen), first=self.buffer.frozen, look_ahead_words=0)
        self._cut(len(self.buffer), Cause.FALLBACK)
        self.context.counts.fallbacks += 1

    def _publish_settled(self, end: int) -> None:
        self._publish_ended_sentences(end)
        if end - self.buffer.frozen >= self.context.rules.min_settled_words:
            self._publish(end, Cause.SETTLED)

    def _publish_clause(self, end: int) -> None:
        """Publish the words before ``end`` up to their last mark, or all of them where they are too many.

        A mark counts only with ``min_clause_words`` before it: a translator does badly with a word or two.
        """
        self._publish_ended_sentences(end)
        rules = self.context.rules
        clause = self.buffer.last_mark(self.buffer.frozen + rules.min_clause_words, end)
        if clause is not None:
            self._publish(clause, Cause.SETTLED)
        if end - self.buffer.frozen >= rules.max_clause_words:
            self._publish(end, Cause.SETTLED)

    def _publish_ended_sentences(self, end: int) -> None:
        ends = self.buffer.sentence_ends(self.buffer.frozen, end)
        if ends:
            self._publish(ends[-1], Cause.SENTENCE)

    def _cut_by_length(self, look_ahead: int, too_many: int) -> None:
        """Make room for another step: ``too_many`` words go. Left context goes first, then as far as a comma."""
        buffer = self.buffer
        spare = buffer.frozen - self.context.rules.context_words
        if spare >= too_many:
            buffer.drop(spare)
            return
        past = buffer.sentence_ends(0, buffer.frozen)
        if past and past[-1] >= too_many:
            buffer.drop(past[-1])
            return
        comma = buffer.last_comma(self.options.look_ahead_words, too_many)
        self._cut(comma or min(max(len(buffer) - look_ahead, too_many), len(buffer)), Cause.LENGTH)

    def beside(self, start: int, stop: int) -> Beside:
        """Return the words around those of the buffer from ``start`` to ``stop``, as far as they are there."""
        views = self.buffer.views
        return Beside(tuple(views[max(0, start - _BESIDE_WORDS) : start]), tuple(views[stop : stop + _BESIDE_WORDS]))

    def _cut(self, end: int, cause: Cause) -> None:
        self._publish(end, cause)
        self.buffer.drop(end)

    def _publish(self, end: int, cause: Cause, *, session_end: bool = False, pause: Pause | None = None) -> None:
        """Freeze the words before ``end`` and write them, split where a sentence ends and where they are too many."""
        buffer, start = self.buffer, self.buffer.frozen
        if end <= start and not session_end:
            return
        self.tag = buffer.freeze(end, self.tag, self.lang)
        self._count_frozen(start, end, cause)
        ends = buffer.sentence_ends(start, end - 1)
        for stop in _within((*ends, max(start, end)), start, self.context.limit.words):
            self.writer.write(
                FrozenWords(buffer.words[start:stop], buffer.labels.part(start, stop), self.beside(start, stop)),
                cause=Cause.SENTENCE if stop in ends else cause,
                lang=self.lang,
                model=self.labels.model,
                frozen_ms=self.now_ms,
                session_end=session_end and stop >= end,
                options=self.options,
                pause=pause if stop >= end else None,
            )
            start = stop
        self.unrecorded_offset = None

    def _count_frozen(self, start: int, end: int, cause: Cause) -> None:
        counts, size = self.context.counts, len(self.buffer.words)
        counts.freeze_delay_words.update(range(size - end, size - start))
        if self.labels.model is None and cause is not Cause.FALLBACK:
            counts.unmodelled_words += max(end - start, 0)


def _within(stops: Sequence[int], start: int, most: int) -> Iterator[int]:
    """Yield the stops, and more of them where one is further than ``most`` words from the one before."""
    for stop in stops:
        while stop - start > most:
            start += most
            yield start
        yield stop
        start = stop
