"""The one thread that owns the session pool: takes events from connections, gives back what comes of them.

A connection is a number and an ``Outlet``; its sessions are its own, whatever they are called, so strangers never meet.
What an outlet is told comes in the order in which it happened, and always from this thread.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import msgspec

from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.events import SessionOptions, WordsEvent
from caesura.schemas.segments import Segment
from caesura.schemas.tentative import Tentative
from caesura.worker.core.decoding.admission import OfferOutcome
from caesura.worker.core.overlays.beside import Beside
from caesura.worker.core.partition.paced_looks import PacedLooks
from caesura.worker.ports.clock import Clock
from caesura.worker.runtime.settings.deadline import Deadline
from caesura.worker.service.clients.client_event import ClientEvent
from caesura.worker.service.clients.session_pool import PoolTurn, SessionPool, end_event
from caesura.worker.service.server.messages import RefusalReason, ServeReason

MAY_COME_AGAIN = (DeadLetterReason.TOO_MANY_SESSIONS, DeadLetterReason.SESSION_ENDED)
"""Why a session takes no event now, and takes the same one later."""

_TURN_S = 0.1
"""How long sessions that have much to do may keep a new event waiting, and new events the sessions."""

_LONGEST_WAIT_S = 1.0


class Outlet(Protocol):
    """Where a connection's results go. Called from the decoding thread; must not block."""

    @property
    def tentative_interval_ms(self) -> int | None:
        """Return the least time between two looks at a session's unfrozen words; None: none are wanted.

        It is the same for as long as the connection lasts.
        """
        ...

    def frozen(self, segment: Segment, beside: Beside) -> None:
        """Take a segment, its session named as the connection named it, and the words around its own."""
        ...

    def revisable(self, tentative: Tentative, before: tuple[str, ...]) -> None:
        """Take a session's unfrozen words of now, and the model's view of frozen words before them."""
        ...

    @property
    def options(self) -> SessionOptions | None:
        """Return the options of a session whose first event names none."""
        ...

    def refused(self, number: int, said: ClientEvent, reason: ServeReason) -> None:
        """Take note that the session does not take the event that came with this message."""
        ...

    def at_rest(self, session: str) -> None:
        """Take note that all that was sent to a session has been dealt with."""
        ...

    def ended(self, last: ClientEvent) -> None:
        """Take note that a session is over, and its name free again. last: the last event that was offered to it."""
        ...

    def failed(self) -> None:
        """Take note that nothing more will come: decoding has ended for good."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offered:
    connection: int
    number: int
    said: ClientEvent


@dataclass(frozen=True, slots=True)
class _Ending:
    """All sessions of a connection are to end."""

    connection: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Last:
    """What was offered to a session last, and the event of the highest number that went to it."""

    said: ClientEvent
    event: WordsEvent


class DecodingThread:
    """Runs a pool. ``on_fault`` is told, in the thread, what ended it if it was not ``stop``."""

    def __init__(self, pool: SessionPool, *, clock: Clock, on_fault: Callable[[Exception], None]) -> None:
        self._pool = pool
        self._clock = clock
        self._on_fault = on_fault
        self._changed = threading.Condition()
        self._inbox: deque[_Offered | _Ending | int] = deque()
        self._outlets: dict[int, Outlet] = {}
        self._stopping = False
        self._sessions: dict[int, dict[str, _Last]] = {}
        self._looks: dict[int, PacedLooks[str]] = {}
        self._refused: dict[int, tuple[int, str, DeadLetterReason]] = {}
        """A connection's message and session that may come again: what follows in it must not be taken before it."""
        self._thread = threading.Thread(target=self._run, name="decoding", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; what waits is not dealt with. Blocks until the running inference is over."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join()

    def connect(self, connection: int, outlet: Outlet) -> None:
        """Take note of a connection."""
        with self._changed:
            self._outlets[connection] = outlet

    def offer(self, connection: int, number: int, said: ClientEvent) -> None:
        """Take an event of a connection, the message's number with it. Does not block."""
        self._tell(_Offered(connection=connection, number=number, said=said))

    def end_sessions(self, connection: int) -> None:
        """End every session of a connection, in whatever epoch it is. Does not block."""
        self._tell(_Ending(connection))

    def disconnect(self, connection: int) -> None:
        """Let a connection and its sessions go: nothing more is told. Does not block."""
        self._tell(connection)

    def _tell(self, item: _Offered | _Ending | int) -> None:
        with self._changed:
            self._inbox.append(item)
            self._changed.notify()

    def _run(self) -> None:
        try:
            while self._take():
                self._give(self._pool.turn(_TURN_S))
        except Exception as error:  # noqa: BLE001 - whatever ends this thread ends the service, which says it
            with self._changed:
                outlets = list(self._outlets.values())
            for outlet in outlets:
                outlet.failed()
            self._on_fault(error)

    def _take(self) -> bool:
        """Wait for work, take in what has come for as long as a turn may last, and return whether to go on."""
        with self._changed:
            if not self._inbox and not self._stopping and not self._pool.is_busy:
                self._changed.wait(self._wait_s())
            if self._stopping:
                return False
        turn = Deadline.after(self._clock, _TURN_S)
        while self._inbox and not turn.passed:
            item = self._inbox.popleft()
            if isinstance(item, _Offered):
                self._offer(item)
            elif isinstance(item, _Ending):
                self._end_sessions(item.connection)
            else:
                self._let_go(item)
        return True

    def _wait_s(self) -> float:
        due = [_LONGEST_WAIT_S]
        if (silence_s := self._pool.due_in_s) is not None:
            due.append(silence_s)
        now_s = self._clock.monotonic_s()
        due += [looks.due_in_s(now_s) for looks in self._looks.values()]
        return min(due)

    def _offer(self, offered: _Offered) -> None:
        outlet = self._outlets.get(offered.connection)
        if outlet is None:
            return
        said, name = offered.said, offered.said.event.session
        last = self._sessions.get(offered.connection, {}).get(name)
        number, refused, why = self._refused.get(offered.connection, (0, "", None))
        if why is not None and (number, refused) == (offered.number, name):
            if last is not None:
                self._sessions[offered.connection][name] = _Last(said=said, event=last.event)
            outlet.refused(offered.number, said, why)
            outlet.at_rest(name)
            return
        event = said.behind(None if last is None else last.event, outlet.options)
        key = f"{offered.connection}:{name}"
        admission = self._pool.offer(msgspec.structs.replace(event, session=key))
        if admission.reason is not DeadLetterReason.TOO_MANY_SESSIONS:  # else there is no such session
            if last is not None and (event.epoch, event.seq) < (last.event.epoch, last.event.seq):
                event = last.event
            self._sessions.setdefault(offered.connection, {})[name] = _Last(said=said, event=event)
            self._changed_for(offered.connection, name, outlet)
        if admission.reason in MAY_COME_AGAIN:
            self._refused[offered.connection] = (offered.number, name, admission.reason)
        if admission.reason is not None:
            outlet.refused(offered.number, said, admission.reason)
        elif admission.outcome is OfferOutcome.REPEAT:
            outlet.refused(offered.number, said, RefusalReason.REPEAT)

    def _end_sessions(self, connection: int) -> None:
        for name, last in self._sessions.get(connection, {}).items():
            end = end_event(msgspec.structs.replace(last.event, session=f"{connection}:{name}"))
            self._pool.offer(end)  # one that is ending already refuses it

    def _let_go(self, connection: int) -> None:
        with self._changed:
            self._outlets.pop(connection, None)
        self._refused.pop(connection, None)
        for name in self._sessions.pop(connection, {}):
            self._pool.drop(f"{connection}:{name}")
        self._looks.pop(connection, None)

    def _give(self, turn: PoolTurn) -> None:
        for out in turn.written:
            connection, name = _whose(out.segment.session)
            outlet = self._outlets.get(connection)
            if outlet is None:
                continue
            outlet.frozen(msgspec.structs.replace(out.segment, session=name), out.beside)
            self._changed_for(connection, name, outlet)
        for key in turn.at_rest:
            connection, name = _whose(key)
            if (outlet := self._outlets.get(connection)) is not None:
                outlet.at_rest(name)
        for key in turn.ended:
            connection, name = _whose(key)
            if connection in self._looks:
                self._looks[connection].forget(name)
            last = self._sessions.get(connection, {}).pop(name, None)
            if last is not None and (outlet := self._outlets.get(connection)) is not None:
                outlet.ended(last.said)
        self._show_unfrozen()

    def _show_unfrozen(self) -> None:
        now_s = self._clock.monotonic_s()
        for connection, looks in self._looks.items():
            for name in looks.due(now_s):
                looks.told(name, now_s)
                key = f"{connection}:{name}"
                tentative = self._pool.tentative(key)
                if tentative is not None:
                    tentative = msgspec.structs.replace(tentative, session=name)
                    self._outlets[connection].revisable(tentative, self._pool.said_before(key))

    def _changed_for(self, connection: int, name: str, outlet: Outlet) -> None:
        """Take note that a session has changed, if its unfrozen words are wanted."""
        interval_ms = outlet.tentative_interval_ms
        if interval_ms is not None:
            self._looks.setdefault(connection, PacedLooks(interval_ms / 1000)).changed(name)


def _whose(key: str) -> tuple[int, str]:
    connection, _, name = key.partition(":")
    return int(connection), name
