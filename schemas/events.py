"""What producers send: one ASR word event a Kafka record, MessagePack, key = UTF-8 of ``session``.

Besides the bounds in the types, ``limits`` holds an event to those that a type cannot say.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from caesura.schemas.segments import NumberForm

MAX_WORD_CHARACTERS = 64
MAX_EVENT_WORDS = 2000
MAX_TARGETS = 32
MAX_OWN_PHRASES = 64
MAX_SPELLINGS = 64

# The largest integer that every language's JSON and most of its numbers hold exactly.
_Count = Annotated[int, Meta(ge=0, le=2**53 - 1)]
_Name = Annotated[str, Meta(max_length=128)]
Phrase = Annotated[str, Meta(min_length=1, max_length=64)]
"""A word or some words, as a session wants them left out, kept, or spelled."""

LanguageTag = Annotated[str, Meta(max_length=35, pattern=r"^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$")]
"""A language as BCP-47 writes it, ``_`` for ``-`` allowed; which of them is served is not said by it."""

TARGET_PATTERN = r"^[A-Za-z0-9._-]{1,64}$"
Target = Annotated[str, Meta(pattern=TARGET_PATTERN)]
"""What a translation route may be called, by producers and by the operator."""


class Emission(StrEnum):
    """When segments are published.

    ``sentence``: once its sentence has ended. ``clause``: also the settled words up to a mark, or at a length limit.
    ``settled``: also the settled words before any mark.
    """

    SENTENCE = "sentence"
    CLAUSE = "clause"
    SETTLED = "settled"


class Word(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One recogniser word that the producer will not revise.

    text: 1 to 64 characters, no white space. start_ms, end_ms: from the session's start, the end not before the start.
    confidence: 0 to 1.
    """

    text: Annotated[str, Meta(min_length=1, max_length=MAX_WORD_CHARACTERS)]
    start_ms: _Count | None = None
    end_ms: _Count | None = None
    confidence: Annotated[float, Meta(ge=0, le=1)] | None = None


class SessionOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a session may choose in its first event, within the operator's bounds; null takes the operator's value.

    own_fillers, kept_phrases (1.2): phrases that the fluent rendering leaves out, or never does, besides the
    operator's own; together at most 1 KiB of UTF-8. numbers (1.3): how they are rendered. spellings (1.3): what is said
    -> how it is rendered, besides the operator's own; together at most 4 KiB of UTF-8.
    """

    emission: Emission | None = None
    look_ahead_words: _Count | None = None
    flush_after_ms: Annotated[int, Meta(ge=1, le=2**53 - 1)] | None = None
    max_buffer_words: Annotated[int, Meta(ge=1, le=2**53 - 1)] | None = None
    punctuation: bool | None = None
    own_fillers: Annotated[tuple[Phrase, ...], Meta(max_length=MAX_OWN_PHRASES)] | None = None
    kept_phrases: Annotated[tuple[Phrase, ...], Meta(max_length=MAX_OWN_PHRASES)] | None = None
    numbers: NumberForm | None = None
    spellings: Annotated[dict[Phrase, Phrase], Meta(max_length=MAX_SPELLINGS)] | None = None


class WordsEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Words of one session, in order, perhaps none; ``epoch`` and ``seq`` number the events.

    Rules: docs/design.md, *Order of input*.

    session: 1 to 128 bytes of UTF-8. lang: BCP-47. heard_until_ms: audio heard so far, from the session's start.
    targets: translation routes, each once. attributes: at most 1 KiB of UTF-8, keys and values together. configure
    (1.1): wishes from this event's first word on, in any event; what is null stays as it is. role, channel (1.3): whose
    words they are in their conversation (agent, customer), and the audio channel that they were heard in.
    """

    version: str
    session: Annotated[str, Meta(min_length=1, max_length=128)]
    seq: _Count
    lang: LanguageTag
    epoch: _Count = 0
    words: Annotated[tuple[Word, ...], Meta(max_length=MAX_EVENT_WORDS)] = ()
    heard_until_ms: _Count | None = None
    utterance_end: bool = False
    session_end: bool = False
    targets: Annotated[tuple[Target, ...], Meta(max_length=MAX_TARGETS)] | None = None
    options: SessionOptions | None = None
    conversation: _Name | None = None
    speaker: _Name | None = None
    attributes: dict[str, str] | None = None
    configure: SessionOptions | None = None
    role: _Name | None = None
    channel: _Name | None = None
