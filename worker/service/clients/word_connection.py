"""One client that speaks: its events to the decoding thread, what comes of them to its send queue.

Nothing a client sends is dropped: while too many of its words wait for labels, or too many segments for it to read
them, its socket is not read, and so TCP tells it to wait. Unfrozen words are what gives way.

A message is read in slices (``reading_thread``), and no slice while too many words wait: so a message
of many words waits as well. What a message costs is counted as its words are; who has used more than its share is read
more slowly.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Final, Protocol, TypeVar

from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.events import SessionOptions, WordsEvent
from caesura.schemas.segments import Segment
from caesura.schemas.tentative import Tentative
from caesura.worker.core.overlays.beside import Beside
from caesura.worker.ports.observer import Observer
from caesura.worker.ports.service_events import ClientRefused, ClientWordsTaken, UnfrozenReported
from caesura.worker.service.clients.client_event import ClientEvent
from caesura.worker.service.clients.decoding_thread import MAY_COME_AGAIN, DecodingThread
from caesura.worker.service.clients.reading import FrameReader, too_many_sessions
from caesura.worker.service.clients.reading_thread import ReadingThread, Slice, pulled
from caesura.worker.service.server.client_socket import ClientGoneError
from caesura.worker.service.server.messages import (
    CloseCode,
    Ended,
    Opening,
    RefusalReason,
    Refused,
    ServeReason,
    ServerMessage,
)
from caesura.worker.service.server.rate_limit import RateLimit
from caesura.worker.service.server.rendered import ServedTexts
from caesura.worker.settings.serving import ServeSettings

_Waited = TypeVar("_Waited")
_SMALL_FRAME = 4096
"""A frame of events that is no longer is read at once: that takes less time than to hand it over."""

_End = tuple[int, RefusalReason, str]
_FAILED: _End = (CloseCode.FAILED, RefusalReason.FAILED, "the service cannot go on")
_DRAINED: _End = (
    CloseCode.RESTART,
    RefusalReason.DRAINING,
    "the service stops; every session has ended, connect again to go on",
)
_TOO_MANY_REFUSED: _End = (
    CloseCode.TOO_MANY_REFUSED,
    RefusalReason.TOO_MANY_REFUSED,
    "more messages were refused than may be",
)
_DETAILS: Final[dict[ServeReason, str]] = {
    RefusalReason.REPEAT: "an event of this number was taken before",
    DeadLetterReason.SESSION_ENDED: "the session has ended; its name is free once `ended` has come",
    DeadLetterReason.TOO_MANY_SESSIONS: "session: as many are open as the service holds; try again",
}


class Outbox(Protocol):
    """What a client is told."""

    def put(self, message: ServerMessage) -> None:
        """Take a message."""
        ...

    def close(self) -> None:
        """Take nothing more."""
        ...

    async def has_room(self) -> None:
        """Wait until messages can be taken."""
        ...


class Client(Protocol):
    """A client's end: a WebSocket, or requests that come one by one."""

    observer: Observer

    @property
    def send_queue(self) -> Outbox:
        """Return what the client is told with."""
        ...

    async def receive(self, timeout_s: float | None) -> str | bytes:
        """Return the next frame. TimeoutError, ClientGoneError."""
        ...

    async def write_all(self) -> None:
        """Send what comes until the send_queue is closed and empty. ClientGoneError."""
        ...

    async def close(self, code: int, reason: ServeReason, detail: str) -> None:
        """Say why it is over."""
        ...


class WordConnection:
    """A connection on ``/v1/words``; ``run`` lasts as long as it does. Its other methods are the ``Outlet``.

    What the decoding thread says of a session holds for ``_open`` only if nothing newer is on its way to that session.
    """

    def __init__(  # noqa: PLR0913 - its parts
        self,
        number: int,
        client: Client,
        opening: Opening,
        *,
        reader: FrameReader,
        reading: ReadingThread,
        decoding: DecodingThread,
        settings: ServeSettings,
        texts: ServedTexts,
    ) -> None:
        self._number = number
        self._client = client
        self._outbox = client.send_queue
        self._reader = reader
        self._reading = reading
        self._decoding = decoding
        self._settings = settings
        self._texts = texts
        self._loop = asyncio.get_running_loop()
        self._pace = RateLimit(settings.max_words_per_second, self._loop.time())
        self._cost = RateLimit(settings.max_reading_share, self._loop.time())
        self._at_once = opening.format is None
        self._waiting: Counter[str] = Counter()
        self._open: dict[str, ClientEvent] = {}
        self._over: dict[str, ClientEvent] = {}
        self._moved = asyncio.Event()
        self._why_over: _End | None = None
        self._ending = asyncio.Event()
        self._refused_messages: set[int] = set()
        self._refused_sessions: set[str] = set()  # of the message that is being taken: what follows in it is not taken
        self._messages = 0
        self._slice: asyncio.Future[Slice] | None = None
        self._ended_meanwhile: list[str] = []
        self._tentative = opening.tentative
        self._options = opening.options

    async def run(self) -> None:
        """Serve the client until it goes, breaks the rules, or the service drains."""
        self._decoding.connect(self._number, self)
        writing = asyncio.create_task(self._client.write_all())
        reading = asyncio.create_task(self._read_all())
        try:
            await asyncio.wait({writing, reading}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done() and (end := _outcome(reading)) is not None:
                self._outbox.close()
                await asyncio.wait({writing})  # each message has its time
                await self._client.close(*end)
        finally:
            self._decoding.disconnect(self._number)
            for task in (reading, writing):
                task.cancel()
            await asyncio.gather(reading, writing, return_exceptions=True)

    def drain(self) -> None:
        """Take no more words, end every session, send what is frozen, and close."""
        self._end_with(_DRAINED)

    @property
    def is_open(self) -> bool:
        """Tell whether any session is open."""
        return bool(self._open)

    async def settled(self) -> bool:
        """Wait until all that was taken is dealt with and every session that was ended is over; False: it failed."""
        await self._until(lambda: not self._waiting.total() and not self._over)
        return self._why_over is not _FAILED

    def _end_with(self, end: _End) -> None:
        if self._why_over is None or end is _FAILED:
            self._why_over = end
        self._ending.set()

    async def _read_all(self) -> _End:
        while self._why_over is None:
            await self._unless_over(self._outbox.has_room())
            await self._unless_over(self._until(self._has_room))
            try:
                frame = await self._unless_over(self._client.receive(self._settings.idle_timeout_s))
            except TimeoutError:
                detail = f"no message came for {self._settings.idle_timeout_s:g} s"
                self._end_with((CloseCode.IDLE, RefusalReason.IDLE, detail))
            else:
                if frame is not None:
                    self._messages += 1
                    await self._take(self._reader.read(frame), at_once=self._at_once and len(frame) <= _SMALL_FRAME)
        await self._take(self._reader.finish(), at_once=False)  # these words will not come again
        self._decoding.end_sessions(self._number)
        await self._until(lambda: not self._open)
        return self._why_over

    async def _unless_over(self, waited: Coroutine[Any, Any, _Waited]) -> _Waited | None:
        """Return what is waited for; None where the connection is to end first."""
        task = asyncio.create_task(waited)
        ending = asyncio.create_task(self._ending.wait())
        try:
            await asyncio.wait({task, ending}, return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() else None
        finally:
            task.cancel()
            ending.cancel()
            await asyncio.gather(task, ending, return_exceptions=True)

    async def _take(self, read: Iterator[ClientEvent], *, at_once: bool) -> None:
        """Offer what a message says, slice by slice, to the sessions that there is room for."""
        refused: set[DeadLetterReason] = set()
        self._refused_sessions.clear()
        more = True
        while more and self._why_over is not _FAILED:
            await self._until(self._has_room)
            part = pulled(read) if at_once else await self._pulled(read)
            words = 1  # a message counts as one that says nothing
            for said in part.events:
                words += len(said.event.words) or 1
                if said.event.session in self._refused_sessions:
                    self._reader.refused(said)
                elif (reason := self._why_not(said.event)) is None:
                    self._offer(self._messages, said)
                else:
                    refused.add(reason)
                    self._refused_sessions.add(said.event.session)
                    self._reader.refused(said)
            if part.refused is not None:
                self._refuse(self._messages, part.refused.reason, part.refused.detail)
            if part.fault is not None:
                raise part.fault
            more = not part.over
            now_s = self._loop.time()
            wait_s = max(self._pace.wait_s(words, now_s), self._cost.wait_s(part.spent_s, now_s))
            await self._unless_over(asyncio.sleep(wait_s))
        for reason in sorted(refused):
            most = too_many_sessions(self._settings.max_sessions_per_connection)
            detail = most if reason is DeadLetterReason.TOO_MANY_SESSIONS else _DETAILS[reason]
            self._refuse(self._messages, reason, detail)

    async def _pulled(self, read: Iterator[ClientEvent]) -> Slice:
        """Return the next slice, read in the thread; what ended meanwhile, and was not spoken in again, is over."""
        self._slice = self._reading.pull(read, self._cost.used(self._loop.time()))
        try:
            part = await self._slice
        finally:
            self._slice = None
        spoken = {said.event.session for said in part.events}
        for session in self._ended_meanwhile:
            if session not in spoken:
                self._reader.ended(session)
        self._ended_meanwhile.clear()
        return part

    def _has_room(self) -> bool:
        return self._waiting.total() < self._settings.max_queued_words

    def _why_not(self, event: WordsEvent) -> DeadLetterReason | None:
        """Return why there is no room for an event; None: there is."""
        if event.session not in self._open:
            is_full = len(self._open) >= self._settings.max_sessions_per_connection
            return DeadLetterReason.TOO_MANY_SESSIONS if is_full else None
        over = self._over.get(event.session)
        is_over = over is not None and event.epoch == over.event.epoch  # `ended` is on its way
        return DeadLetterReason.SESSION_ENDED if is_over else None

    def _offer(self, number: int, said: ClientEvent) -> None:
        event = said.event
        self._open[event.session] = said
        if event.session_end:
            self._over[event.session] = said
        self._waiting[event.session] += len(event.words) or 1
        self._client.observer.note(ClientWordsTaken(words=len(event.words)))
        self._decoding.offer(self._number, number, said)

    def _refuse(self, number: int, reason: ServeReason, detail: str) -> None:
        self._refused_messages.add(number)
        if len(self._refused_messages) > self._settings.max_refused_messages:
            self._end_with(_TOO_MANY_REFUSED)
        self._client.observer.note(ClientRefused(reason=reason))
        self._outbox.put(Refused(message=number, reason=reason, detail=detail))

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds() and self._why_over is not _FAILED:
            self._moved.clear()
            await self._moved.wait()

    # --- the outlet: called in the decoding thread, done in the event loop

    @property
    def tentative_interval_ms(self) -> int | None:
        """Return how often unfrozen words are wanted; None: never."""
        return self._settings.tentative_interval_ms if self._tentative else None

    @property
    def options(self) -> SessionOptions | None:
        """Return the opening's options."""
        return self._options

    def frozen(self, segment: Segment, beside: Beside) -> None:
        """Send a segment."""
        self._loop.call_soon_threadsafe(self._outbox.put, self._texts.segment(segment, beside))

    def revisable(self, tentative: Tentative, before: tuple[str, ...]) -> None:
        """Send a session's unfrozen words, if there is nothing better to send."""
        self._client.observer.note(UnfrozenReported(offered=1))
        self._loop.call_soon_threadsafe(self._outbox.put, self._texts.tentative(tentative, before))

    def refused(self, number: int, said: ClientEvent, reason: ServeReason) -> None:
        """Say that a session did not take an event."""
        self._loop.call_soon_threadsafe(self._refuse_offered, number, said, reason)

    def at_rest(self, session: str) -> None:
        """Make room for more words."""
        self._loop.call_soon_threadsafe(self._rest, session)

    def ended(self, last: ClientEvent) -> None:
        """Say that a session is over."""
        self._loop.call_soon_threadsafe(self._end, last)

    def failed(self) -> None:
        """Close: nothing more will come."""
        self._loop.call_soon_threadsafe(self._fail)

    def _rest(self, session: str) -> None:
        del self._waiting[session]
        self._moved.set()

    def _refuse_offered(self, number: int, said: ClientEvent, reason: ServeReason) -> None:
        session = said.event.session
        is_known = number == self._messages and session in self._refused_sessions
        if reason in MAY_COME_AGAIN:
            self._reader.refused(said)
            if number == self._messages:
                self._refused_sessions.add(session)
        if reason is DeadLetterReason.TOO_MANY_SESSIONS:
            self._forget(said)
        elif reason is not DeadLetterReason.SESSION_ENDED and self._over.get(said.event.session) is said:
            del self._over[said.event.session]  # it ended nothing
        if not is_known:
            self._refuse(number, reason, _DETAILS.get(reason, "the session does not take this event any more"))

    def _end(self, last: ClientEvent) -> None:
        self._forget(last)
        self._outbox.put(Ended(session=last.event.session))

    def _forget(self, last: ClientEvent) -> None:
        """Let a session go whose last event this was, if none has been offered since."""
        session = last.event.session
        if self._open.get(session) is last:
            del self._open[session]
            self._over.pop(session, None)
            if self._slice is None:
                self._reader.ended(session)
            else:
                self._ended_meanwhile.append(session)
            self._moved.set()

    def _fail(self) -> None:
        self._end_with(_FAILED)
        self._moved.set()


def _outcome(reading: asyncio.Task[_End]) -> _End | None:
    """Return why the connection ends; None where the client has gone."""
    try:
        return reading.result()
    except ClientGoneError:
        return None
