"""What consumers read: frozen, labelled segments, and the same rendered for a translation route."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import msgspec

PunctuationName = Literal["none", "comma", "period", "question", "enumeration_comma"]
DisfluencyTag = Literal["O", "B-RM", "I-RM", "B-IM", "I-IM"]
OverlayKind = Literal["number", "spelling", "redaction"]
CasingName = Literal["as_given", "small", "capital_first", "all_capitals"]


class NumberForm(StrEnum):
    """How numbers are rendered: as they were said, or with digits where they are sure."""

    WORDS = "words"
    DIGITS = "digits"


class Cause(StrEnum):
    """Why a segment ends where it does. Only ``sentence`` means that a sentence end was found."""

    SENTENCE = "sentence"
    SETTLED = "settled"
    SILENCE = "silence"
    UTTERANCE = "utterance"
    LENGTH = "length"
    LANGUAGE = "language"
    END = "end"
    IDLE = "idle"
    FALLBACK = "fallback"


class Piece(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where a published piece lies in the recogniser's unit: ``start`` and ``of`` in code points (ADR 0002)."""

    start: int
    of: int


class SegmentWord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A published word: the recogniser's text untouched, its times, and its frozen labels.

    casing: how to write the word wherever it stands, since 1.1; ``as_given`` where its model does not say.
    punctuation_probability, disfluency_probability: how probably the mark, and what the tag makes of the word (taken
    back, filler, neither), are right, 0 to 1 in steps of 0.01, since 1.3; None where that is not wanted, where a rule
    and not the model decided, or where the model is not calibrated.
    """

    text: str
    punctuation: PunctuationName
    disfluency: DisfluencyTag
    start_ms: int | None = None
    end_ms: int | None = None
    confidence: float | None = None
    piece: Piece | None = None
    casing: CasingName = "as_given"
    punctuation_probability: float | None = None
    disfluency_probability: float | None = None


class Gap(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Events that never came: ``first_seq`` to ``last_seq`` of ``epoch``, before the session's word ``before_word``."""

    epoch: int
    first_seq: int
    last_seq: int
    before_word: int


class Pause(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The silence that ended a segment, since 1.2, in milliseconds without a word after its last one.

    clock: ``audio`` where the session says how far it has heard, from the end of the last word (its start, where it
    has no end); else ``arrival``, by the times of the records. ended: the next word has begun, so ``ms`` is all of the
    pause; else it was at least so long when the segment froze.
    """

    ms: int
    clock: Literal["audio", "arrival"]
    ended: bool = False


class ModelRef(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The model that labelled a segment."""

    id: str
    version: str


class Source(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Input records that a segment's words came from; offsets are inclusive."""

    topic: str
    partition: int
    first_offset: int
    last_offset: int


class Timing(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Milliseconds since the epoch: append of the last word's record, its poll, and the freeze."""

    appended_ms: int
    polled_ms: int
    frozen_ms: int


class Segment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A run of frozen words; identity is ``session`` + ``since`` + ``index``. Nothing in it will ever change.

    first_word: the session's count of published words (pieces) before it. sentence: number of the sentence;
    pieces of one sentence share it. sentence_end: true exactly if the last word's frozen mark ends a sentence.
    ``words`` may be empty where the segment only says that the session closed (``session_end``). model: None where the
    words are unlabelled. punctuated: false where the session wants no marks of ours. Since 1.2: pause, where the cause
    is ``silence``; own_fillers, kept_phrases: the session's own, as of these words, for whoever renders them. Since
    1.3: role, channel, as the producer gave them; turn_end, how probably the speaker had finished at the last word, 0
    to 1, where the cause is ``silence`` or ``utterance``: a guess from the words alone, that what follows may prove
    wrong; numbers, spellings (said -> written): the session's own wishes.
    """

    version: str
    session: str
    since: int
    index: int
    first_word: int
    sentence: int
    sentence_start: bool
    sentence_end: bool
    cause: Cause
    lang: str
    words: tuple[SegmentWord, ...]
    source: Source
    timing: Timing
    model: ModelRef | None = None
    gaps: tuple[Gap, ...] = ()
    session_end: bool = False
    unknown_targets: tuple[str, ...] = ()
    conversation: str | None = None
    speaker: str | None = None
    attributes: dict[str, str] | None = None
    punctuated: bool = True
    pause: Pause | None = None
    own_fillers: tuple[str, ...] = ()
    kept_phrases: tuple[str, ...] = ()
    role: str | None = None
    channel: str | None = None
    turn_end: float | None = None
    numbers: NumberForm = NumberForm.WORDS
    spellings: dict[str, str] | None = None


class TextOverlay(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A text in place of words, since 1.3: ``words[first_word]`` to ``words[last_word]``, inclusive.

    start, end: where it stands, in code points of the text.
    """

    kind: OverlayKind
    first_word: int
    last_word: int
    start: int
    end: int


class TranslationSegment(Segment, frozen=True, kw_only=True, omit_defaults=True):
    """A segment on a translation route: rendered text and where each rendered word stands in it.

    spans: [index of the word in ``words``, start, end] in code points of ``text``; words that an overlay stands for
    have its place, all of them. overlays, since 1.3: in their order. previous_index: the index last published to this
    route for this session and ``since``, None for the first, so that a consumer sees a loss.
    """

    target: str
    text: str
    spans: tuple[tuple[int, int, int], ...]
    previous_index: int | None = None
    overlays: tuple[TextOverlay, ...] = ()
