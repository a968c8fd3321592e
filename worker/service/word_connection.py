"""One client that speaks: its events to the decoding thread, what comes of them to its outbox.

Nothing a client sends is dropped: while too many of its words wait for labels, or too many segments for it to read
them, its socket is not read, and so TCP tells it to wait. Unfrozen words are what gives way.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from schemas.dead_letters import DeadLetterReason
from schemas.events import SessionOptions, WordsEvent
from schemas.segments import Segment
from schemas.tentative import Tentative
from worker.core.cleaning import Cleaning
from worker.ports.service_events import ClientRefused, ClientWordsTaken, UnfrozenTold
from worker.service.client_event import ClientEvent
from worker.service.client_socket import ClientGoneError, ClientSocket
from worker.service.decoding_thread import DecodingThread
from worker.service.messages import CloseCode, Ended, Opening, RefusalReason, Refused, ServeReason
from worker.service.pace import WordPace
from worker.service.reading import FrameReader, RefusedMessageError
from worker.service.rendered import segment_message, tentative_message
from worker.settings.serving import ServeSettings

__all__ = ["WordConnection"]

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


class WordConnection:
    """A connection on ``/v1/words``; ``run`` lasts as long as it does. Its other methods are the ``Outlet``.

    What the decoding thread says of a session holds for ``_open`` only if nothing newer is on its way to that session.
    """

    def __init__(
        self,
        number: int,
        client: ClientSocket,
        opening: Opening,
        *,
        reader: FrameReader,
        decoding: DecodingThread,
        settings: ServeSettings,
        cleaning: Cleaning,
    ) -> None:
        self._number = number
        self._client = client
        self._outbox = client.outbox
        self._reader = reader
        self._decoding = decoding
        self._settings = settings
        self._cleaning = cleaning
        self._loop = asyncio.get_running_loop()
        self._pace = WordPace(settings.max_words_per_second, self._loop.time())
        self._waiting: Counter[str] = Counter()
        self._open: dict[str, ClientEvent] = {}
        self._over: dict[str, ClientEvent] = {}
        self._moved = asyncio.Event()
        self._draining = asyncio.Event()
        self._failed = False
        self._refused_messages: set[int] = set()
        self._too_many_refused = asyncio.Event()
        self._messages = 0
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
        self._draining.set()

    async def _read_all(self) -> _End:
        draining = asyncio.create_task(self._draining.wait())
        refused = asyncio.create_task(self._too_many_refused.wait())
        reading = asyncio.create_task(self._read_until_refused())
        try:
            await asyncio.wait({draining, refused, reading}, return_when=asyncio.FIRST_COMPLETED)
            end = reading.result() if reading.done() else _TOO_MANY_REFUSED if refused.done() else _DRAINED
        finally:
            for task in (draining, refused, reading):
                task.cancel()
            await asyncio.gather(draining, refused, reading, return_exceptions=True)
        self._take(self._messages, self._reader.finish())  # nobody will say it again
        self._decoding.end_sessions(self._number)
        await self._until(lambda: not self._open)
        return _FAILED if self._failed else end

    async def _read_until_refused(self) -> _End:
        while not self._failed and not self._too_many_refused.is_set():
            await self._outbox.has_room()
            await self._until(lambda: self._waiting.total() < self._settings.max_queued_words)
            try:
                frame = await self._client.receive(self._settings.idle_timeout_s)
            except TimeoutError:
                return CloseCode.IDLE, RefusalReason.IDLE, f"no message came for {self._settings.idle_timeout_s:g} s"
            self._messages += 1
            words = self._take(self._messages, self._reader.read(frame))
            await asyncio.sleep(self._pace.wait_s(words, self._loop.time()))
        return _FAILED if self._failed else _TOO_MANY_REFUSED

    def _take(self, number: int, read: Iterator[ClientEvent]) -> int:
        """Offer what a message says to the sessions that there is room for; return how many words it had."""
        words = 0
        refused: set[DeadLetterReason] = set()
        try:
            for said in read:
                words += len(said.event.words)
                if (reason := self._why_not(said.event)) is None:
                    self._offer(number, said)
                else:
                    refused.add(reason)
        except RefusedMessageError as error:
            self._refuse(number, error.reason, error.detail)
        for reason in sorted(refused):
            most = f"session: expected at most {self._settings.max_sessions_per_connection} open ones a connection"
            self._refuse(number, reason, most if reason is DeadLetterReason.TOO_MANY_SESSIONS else _DETAILS[reason])
        return words

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
        self._reader.taken(event.session)
        self._waiting[event.session] += len(event.words)
        self._client.observer.note(ClientWordsTaken(words=len(event.words)))
        self._decoding.offer(self._number, number, said)

    def _refuse(self, number: int, reason: ServeReason, detail: str) -> None:
        self._refused_messages.add(number)
        if len(self._refused_messages) > self._settings.max_refused_messages:
            self._too_many_refused.set()
        self._client.observer.note(ClientRefused(reason=reason))
        self._outbox.put(Refused(message=number, reason=reason, detail=detail))

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds() and not self._failed:
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

    def frozen(self, segment: Segment) -> None:
        """Send a segment."""
        self._loop.call_soon_threadsafe(self._outbox.put, segment_message(segment, self._cleaning))

    def revisable(self, tentative: Tentative) -> None:
        """Send a session's unfrozen words, if there is nothing better to send."""
        self._client.observer.note(UnfrozenTold(offered=1))
        self._loop.call_soon_threadsafe(self._outbox.put, tentative_message(tentative))

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
        if reason is DeadLetterReason.TOO_MANY_SESSIONS:
            self._forget(said)
        elif reason is not DeadLetterReason.SESSION_ENDED and self._over.get(said.event.session) is said:
            del self._over[said.event.session]  # it ended nothing
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
            self._reader.ended(session)
            self._moved.set()

    def _fail(self) -> None:
        self._failed = True
        self._draining.set()
        self._moved.set()


def _outcome(reading: asyncio.Task[_End]) -> _End | None:
    """Return why the connection ends; None where the client has gone."""
    try:
        return reading.result()
    except ClientGoneError:
        return None
