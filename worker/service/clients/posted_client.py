"""One client that posts its words: what ``WordConnection`` serves where requests come instead of a WebSocket's frames.

A body is read as a frame is, with the same limits. Segments are kept until a request says that it has them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from urllib.parse import parse_qsl

import msgspec

from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.errors import InvalidEventError
from caesura.schemas.json_structure import decode_json
from caesura.worker.ports.observer import Observer
from caesura.worker.service.clients.client_event import ClientEvent
from caesura.worker.service.clients.reading import FrameReader, RefusedMessageError
from caesura.worker.service.clients.word_connection import WordConnection
from caesura.worker.service.server.messages import (
    Closing,
    Ended,
    Opening,
    Refused,
    SegmentMessage,
    ServeReason,
    ServerMessage,
)
from caesura.worker.settings.serving import ServeSettings

_KEPT_ENDED_S = 60.0
"""So long the numbers and segments of a session that has ended are kept for requests that are sent again."""

_LINES = ("application/x-ndjson", "application/jsonl", "application/x-jsonlines")
_FORM = "application/x-www-form-urlencoded"
_MOST_FORM_FIELDS = 100


class BodyReader:
    """Reads bodies of one path: a message, an array of them, one a line, or a form; up to the first that is refused.

    A numbered event that was read before is passed over, also after its session's end; one that its session refused may
    come again. taken, repeated: messages of the last body; of events those that were not refused.
    """

    def __init__(self, frames: FrameReader, opening: Opening) -> None:
        self._frames = frames
        self._opening = opening
        self._highest: tuple[int, int] | None = None
        self._refused: tuple[int, int] | None = None
        self.content_type = ""
        self.repeated = self.refused_events = self._read = 0

    @property
    def taken(self) -> int:
        """Return how many messages of the last body were taken."""
        return self._read - (self.refused_events if self._opening.format is None else 0)

    def read(self, frame: str | bytes) -> Iterator[ClientEvent]:
        """Yield the events of a body. RefusedMessageError."""
        self.repeated = self.refused_events = self._read = 0
        if self._refused is not None:
            self._highest, self._refused = self._refused, None
        messages = _messages(frame, self.content_type)
        for place, message in enumerate(messages):
            repeated = self.repeated
            try:
                yield from filter(self._is_new, self._frames.read(message))
            except RefusedMessageError as error:
                where = f"messages[{place}]: " if len(messages) > 1 else ""
                raise RefusedMessageError(error.reason, where + error.detail) from None
            self._read += repeated == self.repeated

    def _is_new(self, said: ClientEvent) -> bool:
        event = said.event
        if self._opening.format is None and event.session != self._opening.session:
            raise RefusedMessageError(DeadLetterReason.KEY_MISMATCH, "session: expected the path's, or none")
        if not said.numbered:
            return True
        number = (event.epoch, event.seq)
        if self._highest is not None and number <= self._highest:
            self.repeated += 1
            return False
        self._highest = number
        return True

    def finish(self) -> Iterator[ClientEvent]:
        """Yield what is kept of the bodies so far."""
        return self._frames.finish()

    def ended(self, session: str) -> None:
        """Take note that a session is over; its numbers are kept."""
        self._frames.ended(session)

    def refused(self, said: ClientEvent) -> None:
        """Take note that an event was not taken, nor any later one of its body: they may come again."""
        self.refused_events += 1
        if said.numbered:
            before = (said.event.epoch, said.event.seq - 1)
            self._refused = before if self._refused is None else min(before, self._refused)


def _messages(body: str | bytes, content_type: str) -> list[str]:
    """Return a body's messages, each as JSON. RefusedMessageError."""
    try:
        text = (body if isinstance(body, str) else body.decode()).strip()
        if text.startswith("["):
            values = decode_json(text)
            return [msgspec.json.encode(value).decode() for value in values] if isinstance(values, list) else []
        if content_type == _FORM and not text.startswith("{"):
            fields = parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FORM_FIELDS)
            return [msgspec.json.encode(dict(fields)).decode()]
    except InvalidEventError as error:
        raise RefusedMessageError(error.reason, error.detail.replace("the event:", "the body:", 1)) from None
    except ValueError:
        detail = f"the body: expected UTF-8, and of a form at most {_MOST_FORM_FIELDS} fields"
        raise RefusedMessageError(DeadLetterReason.MALFORMED, detail) from None
    return [line for line in text.splitlines() if line.strip()] if content_type in _LINES else [text]


class SegmentLog:
    """What a client was told: segments, each with its number, until it has them; and refusals, until they are told."""

    def __init__(self, limit: int, on_message: Callable[[ServerMessage], None]) -> None:
        self._limit = limit
        self._on_message = on_message
        self._first = 0
        self._segments: list[SegmentMessage] = []
        self._refused: list[Refused] = []
        self._changed = asyncio.Event()
        self.told: int | None = None
        self.is_closed = False

    @property
    def end(self) -> int:
        """Return the number of the next segment."""
        return self._first + len(self._segments)

    def put(self, message: ServerMessage) -> None:
        """Take a message."""
        if isinstance(message, SegmentMessage):
            self._segments.append(message)
        elif isinstance(message, Refused):
            self._refused.append(message)
        self._on_message(message)
        self.changed()

    def close(self) -> None:
        """Take note that nothing more comes."""
        self.is_closed = True
        self.changed()

    def changed(self) -> None:
        """Wake those who wait."""
        self._changed.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds."""
        while not holds():
            self._changed.clear()
            await self._changed.wait()

    async def has_room(self) -> None:
        """Wait until segments can be taken again."""
        await self.until(lambda: len(self._segments) < self._limit)

    def forget_before(self, after: int) -> None:
        """Let the segments go that the client has."""
        gone = max(0, min(after, self.end) - self._first)
        del self._segments[:gone]
        self._first += gone
        self.changed()

    def tell(self) -> list[SegmentMessage]:
        """Return the segments that are kept."""
        self.told = self.end
        self.changed()
        return list(self._segments)

    def tell_refused(self) -> list[Refused]:
        """Return what was refused since this was asked last."""
        refused, self._refused = self._refused, []
        return refused


class PostedClient:
    """What a ``WordConnection`` takes for its client; one body at a time."""

    def __init__(self, reader: BodyReader, settings: ServeSettings, observer: Observer) -> None:
        self.observer = observer
        self.reader = reader
        self.send_queue = SegmentLog(settings.max_unsent_messages, self._note)
        self.closing: Closing | None = None
        self._send_timeout_s = settings.send_timeout_s
        self._body: tuple[bytes, str] | None = None
        self._came = asyncio.Event()
        self._waits = False
        self._ended = False
        self._limit: asyncio.Timeout | None = None
        self.connection: WordConnection | None = None

    @property
    def is_free(self) -> bool:
        """Tell whether every body was taken, or none will be any more."""
        return self.closing is not None or (self._waits and self._body is None)

    @property
    def is_over(self) -> bool:
        """Tell whether a session has ended here and no other is open."""
        return self._ended and (self.connection is None or not self.connection.is_open)

    @property
    def is_left_over(self) -> bool:
        """Tell whether the last body was never taken."""
        return self._body is not None

    def hand_over(self, body: bytes, content_type: str) -> None:
        """Take a body; the client must be free."""
        self._body = (body, content_type.partition(";")[0].strip().lower())
        self._came.set()

    async def receive(self, timeout_s: float | None) -> bytes:
        """Return the next body. TimeoutError."""
        self._waits = True
        self.send_queue.changed()
        try:
            async with asyncio.timeout(timeout_s) as self._limit:
                self._expire_ended()
                await self._came.wait()
        finally:
            self._limit = None
        self._came.clear()
        self._waits = False
        body, self.reader.content_type = self._body or (b"", "")
        self._body = None
        return body

    def _note(self, message: ServerMessage) -> None:
        if isinstance(message, Ended):
            self._ended = True
            self._expire_ended()

    def _expire_ended(self) -> None:
        """Give a session that has ended less time than a silent one."""
        if self.is_over and self._limit is not None:
            due_s = asyncio.get_running_loop().time() + _KEPT_ENDED_S
            when_s = self._limit.when()
            self._limit.reschedule(due_s if when_s is None else min(due_s, when_s))

    async def write_all(self) -> None:
        """Wait until nothing more comes: requests ask for it."""
        await self.send_queue.until(lambda: self.send_queue.is_closed)

    async def close(self, code: int, reason: ServeReason, detail: str) -> None:
        """Say why it is over; a client that has asked for segments has some time to ask for the last ones."""
        del code
        self.closing = Closing(reason=reason, detail=detail)
        log = self.send_queue
        log.changed()
        if log.told is not None:
            try:
                async with asyncio.timeout(self._send_timeout_s):
                    await log.until(lambda: log.told == log.end)
            except TimeoutError:
                return
