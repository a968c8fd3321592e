"""Makes numbered segments from frozen words; each session has its own writer (docs/design.md).

Rules:

1. Segments partition the words: each begins where the last one ended.
2. No segment has a sentence end inside; ``sentence_end`` is true exactly if its last word's mark ends a sentence.
3. The sentence number rises after a sentence's end, and when the buffer is cleared in mid-sentence.
4. A gap is listed in the segment of the word that follows it, or in the record that closes the session. The number of
   gaps is limited; the last one then covers the rest.
5. A segment goes to the session's present targets, a closing record to all routes that the session has used. Words
   never go to a route that the session has left. If there is such a route, the last words come in a segment first, and
   the closing record has no words.
6. With traces, a segment has the trace contexts of all events that brought its words; a closing record also has that of
   the event that ended the session.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import get_args

import msgspec
from msgspec.structs import replace

from caesura.schemas.events import WordsEvent
from caesura.schemas.labels import NO_LABELS, SENTENCE_ENDS, Labels
from caesura.schemas.segments import (
    CasingName,
    Cause,
    DisfluencyTag,
    Gap,
    ModelRef,
    Pause,
    Piece,
    PunctuationName,
    Segment,
    SegmentWord,
    Source,
    Timing,
)
from caesura.schemas.state import ChosenOptions, ModelWord
from caesura.schemas.versions import SEGMENT_VERSION
from caesura.worker.core.decoding.admission import PassedGap
from caesura.worker.core.decoding.context import DecodingContext, Origin
from caesura.worker.core.overlays.beside import NOTHING_BESIDE, Beside

_MARK_NAMES: tuple[PunctuationName, ...] = get_args(PunctuationName)
_TAG_NAMES: tuple[DisfluencyTag, ...] = get_args(DisfluencyTag)
_CASING_NAMES: tuple[CasingName, ...] = get_args(CasingName)  # the very texts: a default is left out by identity
_MAX_GAPS = 64
"""Gaps that wait for a segment one by one, so that a record stays far from its topic's limit whatever is left out."""

_MAX_TRACES = 1024
"""Trace contexts that a session keeps for words that wait; the oldest go first. No buffer waits for so many events."""

_PROBABILITIES: tuple[float | None, ...] = (None, *(percent / 100 for percent in range(101)))
_TURNS = (Cause.SILENCE, Cause.UTTERANCE)


class OutSegment(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A segment to publish. routes: where it goes besides the segments topic, with the index last sent there.

    traces: the trace contexts of its events, in the order of the input. beside: the words around its own, as far as
    they are known, for what a route redacts.
    """

    segment: Segment
    routes: dict[str, int | None]
    traces: tuple[str, ...] = ()
    beside: Beside = NOTHING_BESIDE


class FrozenWords(msgspec.Struct, frozen=True, gc=False):
    """Words that froze together, and their labels; and a few words beside them."""

    words: Sequence[ModelWord] = ()
    labels: Labels = NO_LABELS
    beside: Beside = NOTHING_BESIDE


@dataclass(slots=True, kw_only=True)
class SegmentWriter:
    """The part of a session's state that numbers segments; ``state`` says what each field is."""

    context: DecodingContext
    session: str
    since: int
    index: int = 0
    words: int = 0
    sentence: int = 0
    mid_sentence: bool = False
    targets: tuple[str, ...] = ()
    routes: dict[str, int] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()
    conversation: str | None = None
    speaker: str | None = None
    role: str | None = None
    channel: str | None = None
    attributes: dict[str, str] | None = None
    last_offset: int = 0
    last_appended_ms: int = 0
    last_polled_ms: int = 0
    traces: tuple[tuple[int, str], ...] = ()
    written: list[OutSegment] = field(default_factory=list)

    def note_event(self, event: WordsEvent, origin: Origin) -> None:
        """Take note of the record that is being applied, and of what passes through: the latest value given counts."""
        self.last_offset, self.last_appended_ms = origin.offset, origin.appended_ms
        self.last_polled_ms = origin.polled_ms
        if event.targets is not None:
            self.targets = tuple(dict.fromkeys(event.targets))
            self.context.counts.unknown_targets += any(name not in self.context.rules.routes for name in self.targets)
        if event.conversation is not None:
            self.conversation = event.conversation
        if event.speaker is not None:
            self.speaker = event.speaker
        if event.role is not None:
            self.role = event.role
        if event.channel is not None:
            self.channel = event.channel
        if event.attributes is not None:
            self.attributes = event.attributes
        self.traces = traces_with(self.traces, event, origin.offset, origin.trace)

    def note_gap(self, gap: PassedGap, pieces_ahead: int) -> None:
        """Take note of a gap that lies after ``pieces_ahead`` pieces that are not published yet.

        Beyond the limit the last one reaches on to this one, over the events that came between them; where it is of
        another epoch, the first one goes.
        """
        before_word = self.words + pieces_ahead
        noted = Gap(epoch=gap.epoch, first_seq=gap.first_seq, last_seq=gap.last_seq, before_word=before_word)
        if len(self.gaps) < _MAX_GAPS:
            self.gaps = (*self.gaps, noted)
        elif self.gaps[-1].epoch == gap.epoch:
            self.gaps = (*self.gaps[:-1], replace(self.gaps[-1], last_seq=gap.last_seq))
        else:
            self.gaps = (*self.gaps[1:], noted)

    def break_sentence(self) -> None:
        """Begin a new sentence, whether the last one ended or not."""
        self.sentence += self.mid_sentence
        self.mid_sentence = False

    def write(  # noqa: PLR0913 - a segment is made of these
        self,
        frozen: FrozenWords,
        *,
        cause: Cause,
        lang: str,
        model: str | None,
        frozen_ms: int,
        options: ChosenOptions,
        session_end: bool = False,
        pause: Pause | None = None,
    ) -> None:
        """Write one numbered segment of frozen words, perhaps none where it only says that the session closed."""
        if session_end and frozen.words and any(name not in self.targets for name in self.routes):
            self.write(frozen, cause=cause, lang=lang, model=model, frozen_ms=frozen_ms, options=options)
            frozen = FrozenWords()
        words = frozen.words
        published = published_words(words, frozen.labels)
        last = words[-1].pieces[-1] if words else None
        ends = bool(words) and frozen.labels.punctuation[-1] in SENTENCE_ENDS
        targets = self._targets(session_end=session_end)
        segment = Segment(
            version=SEGMENT_VERSION,
            session=self.session,
            since=self.since,
            index=self.index,
            first_word=self.words,
            sentence=self.sentence,
            sentence_start=bool(words) and not self.mid_sentence,
            sentence_end=ends,
            cause=cause,
            lang=lang,
            words=published,
            source=Source(
                topic=self.context.topic,
                partition=self.context.partition,
                first_offset=words[0].pieces[0].offset if words else self.last_offset,
                last_offset=last.offset if last else self.last_offset,
            ),
            timing=Timing(
                appended_ms=last.appended_ms if last else self.last_appended_ms,
                polled_ms=last.polled_ms if last else self.last_polled_ms,
                frozen_ms=frozen_ms,
            ),
            model=model_ref(model),
            gaps=self._take_gaps(self.words + len(published), all_of_them=session_end),
            session_end=session_end,
            unknown_targets=tuple([name for name in self.targets if name not in self.context.rules.routes]),
            conversation=self.conversation,
            speaker=self.speaker,
            role=self.role,
            channel=self.channel,
            attributes=self.attributes,
            punctuated=options.punctuation,
            pause=pause,
            own_fillers=options.own_fillers,
            kept_phrases=options.kept_phrases,
            turn_end=probability(frozen.labels.turn_end[-1:]) if cause in _TURNS else None,
            numbers=options.numbers,
            spellings=options.spellings,
        )
        routes = {name: self.routes.get(name) for name in targets}
        traces = self._take_traces(segment)
        self.written.append(OutSegment(segment=segment, routes=routes, traces=traces, beside=frozen.beside))
        if targets:
            self.routes = {**self.routes, **dict.fromkeys(targets, self.index)}
        self.index += 1
        self.words += len(published)
        if words:
            self.sentence += ends
            self.mid_sentence = not ends
        self.context.counts.segments[cause] += 1

    def _targets(self, *, session_end: bool) -> list[str]:
        wanted = dict.fromkeys((*self.targets, *self.routes)) if session_end else self.targets
        return [name for name in wanted if name in self.context.rules.routes]

    def _take_gaps(self, end: int, *, all_of_them: bool) -> tuple[Gap, ...]:
        if not self.gaps:
            return ()
        taken = tuple(gap for gap in self.gaps if all_of_them or gap.before_word < end)
        self.gaps = self.gaps[len(taken) :]
        return taken

    def _take_traces(self, segment: Segment) -> tuple[str, ...]:
        """Take the contexts of a segment's events; the last one stays, some of its words may still be to come."""
        if not self.traces:
            return ()
        source = segment.source
        last_offset = self.last_offset if segment.session_end else source.last_offset
        taken = tuple(trace for offset, trace in self.traces if source.first_offset <= offset <= last_offset)
        kept = () if segment.session_end else self.traces
        self.traces = tuple(one for one in kept if one[0] >= last_offset)
        return taken


def traces_with(
    traces: tuple[tuple[int, str], ...], event: WordsEvent, offset: int, trace: str
) -> tuple[tuple[int, str], ...]:
    """Return a session's trace contexts, by record offset, with that of an event whose words wait for a segment.

    The event that ends the session waits too, for the closing record. trace: "" where there is none.
    """
    if not trace or not (event.words or event.session_end):
        return traces
    return (*traces, (offset, trace))[-_MAX_TRACES:]


@lru_cache(maxsize=64)
def model_ref(model: str | None) -> ModelRef | None:
    """Return a model's published name; None where the words are unlabelled."""
    return None if model is None else ModelRef(id=model.partition("@")[0], version=model.partition("@")[2])


def published_words(words: Sequence[ModelWord], labels: Labels) -> tuple[SegmentWord, ...]:
    """Return the words' pieces, each word's labels spread over its own."""
    pieces = [piece for word in words for piece in word.pieces]
    if len(pieces) > len(words):  # seldom: nearly every word is one piece, and none has none
        labels = labels.over_pieces([len(word.pieces) for word in words])
    labels = labels.filled()
    return tuple(
        [
            SegmentWord(
                text=piece.text,
                punctuation=_MARK_NAMES[mark],
                disfluency=_TAG_NAMES[tag],
                start_ms=piece.start_ms,
                end_ms=piece.end_ms,
                confidence=piece.confidence,
                piece=None if piece.is_whole else Piece(start=piece.unit_start, of=piece.unit_length),
                casing=_CASING_NAMES[written],
                punctuation_probability=_PROBABILITIES[of_mark],
                disfluency_probability=_PROBABILITIES[of_tag],
            )
            for piece, mark, tag, written, of_mark, of_tag in zip(
                pieces,
                labels.punctuation,
                labels.disfluency,
                labels.casing,
                labels.punctuation_probability,
                labels.disfluency_probability,
                strict=True,
            )
        ]
    )


def probability(number: bytes) -> float | None:
    """Return the probability that a column has of one word (``labels.Labels``); None where it is not known."""
    return _PROBABILITIES[number[0]] if number else None
