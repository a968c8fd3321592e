"""What goes over the WebSockets of ``caesura serve`` and ``caesura view``, as JSON text or MessagePack frames.

A client's first message is an ``Opening``; on ``/v1/words`` its others are word events, of which much may be left out.
The server's messages have a ``type``: ``ready``, ``segment``, ``tentative``, ``ended``, ``error``, ``closing``.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.events import LanguageTag, SessionOptions
from caesura.schemas.segments import Segment
from caesura.schemas.tentative import Tentative
from caesura.schemas.wire import WireFormat
from caesura.worker.core.overlays.redaction import Redacted
from caesura.worker.feeds.recognisers.catalogue import RecogniserName

PROTOCOL_VERSION = "1.0"


class RefusalReason(StrEnum):
    """Why the service itself refuses a message, or ends a connection. They are published, and keep their meaning.

    What an event is refused for wherever it comes in has its reason in ``dead_letters``.
    """

    # A message.
    BAD_OPENING = "bad_opening"
    OPENING_EXPECTED = "opening_expected"
    REPEAT = "repeat"
    UNKNOWN_FIELD = "unknown_field"
    # A request.
    BUSY = "busy"
    UNKNOWN_SESSION = "unknown_session"
    # A connection, before or after its opening.
    DRAINING = "draining"
    FAILED = "failed"
    IDLE = "idle"
    TOO_MANY_CONNECTIONS = "too_many_connections"
    TOO_MANY_REFUSED = "too_many_refused"
    TOO_SLOW = "too_slow"
    UNKNOWN_HOST = "unknown_host"
    UNKNOWN_ORIGIN = "unknown_origin"
    WRONG_TOKEN = "wrong_token"


ServeReason: TypeAlias = RefusalReason | DeadLetterReason


class CloseCode:
    """Why a connection was closed (RFC 6455, and 4000 on for reasons of ours); the ``closing`` message says it too."""

    NORMAL = 1000
    TOO_SLOW = 1008
    FAILED = 1011
    RESTART = 1012
    TRY_AGAIN = 1013
    BAD_OPENING = 4000
    UNAUTHORISED = 4001
    TOO_MANY_REFUSED = 4002
    IDLE = 4003


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """A client's first message.

    format: the recogniser whose own messages follow; left out: word events follow. lang, session: of events that name
    none. options: of every session, unless its first event has its own. redact: what no message of this connection
    carries, besides the operator's ``serve.redact``. tentative: whether words are told before they are frozen. wire:
    how the server writes, JSON as text frames or MessagePack as binary ones; a client may send either, always. token:
    what the operator asks for, where no header can carry it.
    """

    format: RecogniserName | None = None
    lang: LanguageTag = "en"
    session: Annotated[str, Meta(min_length=1, max_length=100)] = "1"
    options: SessionOptions | None = None
    redact: Annotated[tuple[Redacted, ...], Meta(max_length=len(Redacted))] = ()
    tentative: bool = False
    wire: WireFormat = WireFormat.JSON
    token: Annotated[str, Meta(max_length=1024)] = ""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a client may ask of the server."""

    message_bytes: int
    words_per_second: int
    sessions: int


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="ready"):
    """The answer to an opening. models: language -> ``id@version``. state: where sessions live, and die with it.

    notice: there where no model is for the opening's language: such words come out unlabelled.
    """

    version: str
    models: dict[str, str]
    limits: Limits | None
    state: str
    notice: str | msgspec.UnsetType = msgspec.UNSET


class SegmentMessage(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="segment"):
    """A frozen segment. text: rendered fluently, for a reader or translator. marked: every word, with its labels.

    spans: [index of the word, start, end] in code points of ``marked``.
    """

    text: str
    marked: str
    spans: tuple[tuple[int, int, int], ...]
    segment: Segment


class TentativeMessage(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="tentative"):
    """A session's words that are not frozen; it replaces the last one. marked, spans: as those of a segment."""

    marked: str
    spans: tuple[tuple[int, int, int], ...]
    tentative: Tentative


class Ended(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="ended"):
    """A session has ended or was closed for its silence; the name is free again."""

    session: str


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="error"):
    """A message that was not taken. message: its number, the opening being 0. reason: a stable name of why."""

    message: int
    reason: ServeReason
    detail: str


class Closing(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="closing"):
    """The last message of a connection."""

    reason: ServeReason
    detail: str


class PostAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a request of ``/v1/sessions/``. taken, repeated: messages of the body, and such as came before.

    next: how many segments there have been. segments: those that the client does not have. ended: the session is over.
    """

    taken: int | msgspec.UnsetType = msgspec.UNSET
    repeated: int | msgspec.UnsetType = msgspec.UNSET
    ended: bool | msgspec.UnsetType = msgspec.UNSET
    next: int | msgspec.UnsetType = msgspec.UNSET
    segments: list[SegmentMessage] | msgspec.UnsetType = msgspec.UNSET
    errors: list[Refused]
    closing: Closing | msgspec.UnsetType = msgspec.UNSET


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What the page asks first. shows: ``words`` (serve: it speaks for itself) or ``topics`` (view: it watches)."""

    shows: str
    version: str
    models: dict[str, str]
    source: str
    token_wanted: bool


ServerMessage = Ready | SegmentMessage | TentativeMessage | Ended | Refused | Closing
