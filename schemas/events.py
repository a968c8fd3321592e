"""What producers send: one ASR word event a Kafka record, MessagePack, key = UTF-8 of ``session``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

__all__ = ["Emission", "SessionOptions", "Word", "WordsEvent"]


class Emission(StrEnum):
    """When segments are published: ``sentence`` once a cut, ``settled`` also the settled prefix before it."""

    SENTENCE = "sentence"
    SETTLED = "settled"


class Word(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One recogniser word that the producer will not revise.

    text: 1 to 64 characters, no white space. start_ms, end_ms: from the session's start. confidence: 0 to 1.
    """

    text: Annotated[str, Meta(min_length=1, max_length=64)]
    start_ms: Annotated[int, Meta(ge=0)] | None = None
    end_ms: Annotated[int, Meta(ge=0)] | None = None
    confidence: Annotated[float, Meta(ge=0, le=1)] | None = None


class SessionOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a session may choose in its first event, within the operator's bounds; null takes the operator's value."""

    emission: Emission | None = None
    look_ahead_words: Annotated[int, Meta(ge=0)] | None = None
    flush_after_ms: Annotated[int, Meta(ge=1)] | None = None
    max_buffer_words: Annotated[int, Meta(ge=1)] | None = None
    punctuation: bool | None = None


class WordsEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Words of one session, in order, perhaps none; ``epoch`` and ``seq`` number the events (DESIGN section 2)."""

    version: str
    session: Annotated[str, Meta(min_length=1, max_length=128)]
    seq: Annotated[int, Meta(ge=0)]
    lang: Annotated[str, Meta(min_length=2, max_length=35)]
    epoch: Annotated[int, Meta(ge=0)] = 0
    words: tuple[Word, ...] = ()
    heard_until_ms: Annotated[int, Meta(ge=0)] | None = None
    utterance_end: bool = False
    session_end: bool = False
    targets: tuple[str, ...] | None = None
    options: SessionOptions | None = None
    conversation: Annotated[str, Meta(max_length=128)] | None = None
    speaker: Annotated[str, Meta(max_length=128)] | None = None
    attributes: dict[str, str] | None = None
