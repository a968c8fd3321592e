"""What is stored of a session: its snapshot in Redis, and the ledger record derived from it (docs/exactly-once.md).

A snapshot is taken between events only, so it holds values, never work. Words stand in it as they came; the ledger
record holds the same facts without any word's text (promise 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TypeVar

import msgspec

from caesura.schemas.errors import InvalidEventError
from caesura.schemas.events import Emission
from caesura.schemas.labels import NO_LABELS, Labels
from caesura.schemas.segments import Gap, NumberForm
from caesura.schemas.structure import check_structure

STATE_VERSION = "2.0"
"""The version that is written. Every minor version of its major is read; a minor version adds optional fields."""


class Unit(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A recogniser's word as it came, and from where: record offset, place among the event's words, its times."""

    text: str
    start_ms: int | None
    end_ms: int | None
    confidence: float | None
    offset: int
    position: int
    appended_ms: int
    polled_ms: int


class ModelWordPiece(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """What is published as one word: a unit, or the part of it that one model word covers.

    text: the part's text. unit_start, unit_length: where the part starts in the unit and how long the unit is, in
    code points; a whole unit has 0 and its own length. The rest is the unit's.
    """

    text: str
    start_ms: int | None
    end_ms: int | None
    confidence: float | None
    offset: int
    position: int
    appended_ms: int
    polled_ms: int
    unit_start: int
    unit_length: int

    @property
    def is_whole(self) -> bool:
        """Tell whether the piece is its whole unit."""
        return len(self.text) == self.unit_length


class ModelWord(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """One word as the model counts them (F, L and T count these): its view of it, and the published pieces."""

    view: str
    pieces: tuple[ModelWordPiece, ...]


class HeldBack(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """Units that a segmenter keeps, because later ones may still join them.

    given_code_points: how much of the first unit has already gone out in a piece.
    """

    units: tuple[Unit, ...] = ()
    given_code_points: int = 0


class ChosenOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session's options after its first event: its choices within the operator's bounds, else the operator's own.

    own_fillers, kept_phrases, numbers, spellings: the session's own wishes, which are no words that were said.
    """

    emission: Emission
    look_ahead_words: int
    flush_after_ms: int
    max_buffer_words: int
    punctuation: bool
    own_fillers: tuple[str, ...] = ()
    kept_phrases: tuple[str, ...] = ()
    numbers: NumberForm = NumberForm.WORDS
    spellings: dict[str, str] | None = None

    @property
    def rendering(self) -> tuple[tuple[str, ...], tuple[str, ...], NumberForm, dict[str, str] | None]:
        """What the session wishes of its renderings: what is left out, what never is, how numbers and words are."""
        return self.own_fillers, self.kept_phrases, self.numbers, self.spellings


class SessionStatus(StrEnum):
    """Open; closed (idle: speaks again and goes on); ended (for good); forgotten (a tombstone, never stored)."""

    OPEN = "open"
    CLOSED = "closed"
    ENDED = "ended"
    FORGOTTEN = "forgotten"


class AdmissionState(msgspec.Struct, frozen=True, omit_defaults=True):
    """What decides about a session's events and timers.

    options: after its first event and each ``configure``. epoch, next_seq: the next event expected. missed: passed gaps
        of this epoch, inclusive; below ``missed_from`` they are no longer known one by one.
    activity_ms: partition time at the last word. event_ms: at the last event. closed_ms: when it closed.
    listening: the silence timer is armed. has_audio_clock: the session has sent ``heard_until_ms``.
    """

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


class OutputState(msgspec.Struct, frozen=True, omit_defaults=True):
    """What numbers a session's segments, and what passes through into them.

    index, words, sentence: next segment, published words and sentence so far. mid_sentence: part of the sentence is
        out.
    routes: index last published to each route. gaps: not yet in a segment.
    last_offset, last_appended_ms, last_polled_ms: of the last record applied.
    """

    index: int = 0
    words: int = 0
    sentence: int = 0
    mid_sentence: bool = False
    targets: tuple[str, ...] = ()
    routes: dict[str, int] = {}
    gaps: tuple[Gap, ...] = ()
    conversation: str | None = None
    speaker: str | None = None
    role: str | None = None
    channel: str | None = None
    attributes: dict[str, str] | None = None
    last_offset: int = 0
    last_appended_ms: int = 0
    last_polled_ms: int = 0


class DecodingState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a session is decoded.

    lang: as the last event gave it. model: what labelled the buffer last. tag: the last frozen disfluency tag.
    audio_end_ms: where its last word ends in the audio.
    unrecorded_offset: where the words started that were not in the past when the first record since the last segment
        was applied, else that record.
    model_words: all that the model counted, those in the buffer included. labelled_start: the count of model words
        before the buffer as of its last labelling.
    frozen, settled: how many of the buffer's first words are frozen, and how many the last step's labels settle.
    labels: of the buffer's first words.
    """

    lang: str
    model: str | None = None
    tag: int = 0
    audio_end_ms: int | None = None
    unrecorded_offset: int | None = None
    model_words: int = 0
    labelled_start: int = -1
    frozen: int = 0
    settled: int = 0
    labels: Labels = NO_LABELS


class SessionFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What snapshot and ledger record share, a structure a part of the session; no word's text is in it.

    since: input offset of the session's first event.
    """

    version: str
    session: str
    since: int
    admission: AdmissionState
    output: OutputState
    decoding: DecodingState


_Stored = TypeVar("_Stored", bound=SessionFacts)
_NOTHING_HELD = HeldBack()
NO_WORDS = msgspec.Raw(b"\x90")
"""An empty array."""


class SessionState(SessionFacts, frozen=True, kw_only=True, omit_defaults=True):
    """A session's snapshot.

    buffer: model words since the last cut, and left context before it. held: what the segmenter keeps. traces: (offset,
    trace context) of events with words that are not published yet, where traces are on; as opaque to core as the
    records' bytes.
    """

    buffer: tuple[ModelWord, ...] = ()
    held: HeldBack = _NOTHING_HELD
    traces: tuple[tuple[int, str], ...] = ()


class EncodedState(SessionFacts, frozen=True, kw_only=True, omit_defaults=True):
    """A ``SessionState`` whose words are MessagePack already (``stored_words``): written as the same bytes."""

    buffer: msgspec.Raw = NO_WORDS
    held: HeldBack = _NOTHING_HELD
    traces: tuple[tuple[int, str], ...] = ()


class LedgerState(SessionFacts, frozen=True, kw_only=True, omit_defaults=True):
    """A session's ledger record: all of its state but the words' text, which is read again from the input.

    start_offset, start_position, start_code_point: record, word in the event and code point in the word where the
    buffer, else the held tail, starts; None where both are empty. lengths: code points of each word of the buffer.
    """

    start_offset: int | None = None
    start_position: int = 0
    start_code_point: int = 0
    lengths: tuple[int, ...] = ()


_ENCODER = msgspec.msgpack.Encoder()
_STATE_DECODER = msgspec.msgpack.Decoder(SessionState)
_LEDGER_DECODER = msgspec.msgpack.Decoder(LedgerState)
_ANY_DECODER = msgspec.msgpack.Decoder()


def encode_state(state: SessionState | EncodedState) -> bytes:
    """Return the snapshot as MessagePack."""
    return _ENCODER.encode(state)


def decode_state(data: bytes) -> SessionState:
    """Read a snapshot; ValueError where it is none, or of another major version. Never quotes what it read."""
    return _decode(_STATE_DECODER, data, "snapshot")


def encode_ledger(record: LedgerState) -> bytes:
    """Return the ledger record as MessagePack."""
    return _ENCODER.encode(record)


def decode_ledger(data: bytes) -> LedgerState:
    """Read a ledger record; ValueError where it is none, or of another major version. Never quotes what it read."""
    return _decode(_LEDGER_DECODER, data, "ledger record")


def _decode(decoder: msgspec.msgpack.Decoder[_Stored], data: bytes, what: str) -> _Stored:
    try:
        stored = decoder.decode(data)
        # Bytes that are written again as they were have no field twice. Those of another minor version are walked at
        # the latest.
        if _ENCODER.encode(stored) != data and _ENCODER.encode(_ANY_DECODER.decode(data)) != data:
            check_structure(data)
    except (msgspec.MsgspecError, InvalidEventError, UnicodeError, RecursionError):
        raise ValueError(f"unreadable {what}") from None
    _check_version(stored.version)
    return stored


def _check_version(version: str) -> None:
    if version.partition(".")[0] != STATE_VERSION.partition(".")[0]:
        raise ValueError("stored state of another major version")


def encode_word(word: ModelWord) -> bytes:
    """Return a word as MessagePack."""
    return _ENCODER.encode(word)


def word_array(words: Sequence[bytes]) -> msgspec.Raw:
    """Return encoded words as one array, as the codec writes it."""
    return msgspec.Raw(b"".join((_array_header(len(words)), *words))) if words else NO_WORDS


def _array_header(size: int) -> bytes:
    """Return what a MessagePack array of so many values begins with."""
    if size < 1 << 4:
        return bytes((0x90 | size,))
    return b"\xdc" + size.to_bytes(2, "big") if size < 1 << 16 else b"\xdd" + size.to_bytes(4, "big")
