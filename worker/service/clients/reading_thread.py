"""The thread that reads what clients send, a slice at a time, so that no message holds the event loop.

Who has used least processor time lately comes first: many large messages of one client do not hold up another's.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from caesura.worker.service.clients.client_event import ClientEvent
from caesura.worker.service.clients.reading import RefusedMessageError

_SLICE_S = 0.01
_SLICE_WORDS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Some of a message's events. over: there are no more. refused: what of it is not taken. spent_s: processor time.

    fault: what reading raised that it should not; it ends the connection.
    """

    events: list[ClientEvent]
    over: bool
    refused: RefusedMessageError | None
    fault: Exception | None
    spent_s: float


def pulled(read: Iterator[ClientEvent]) -> Slice:
    """Read on for about 10 ms, or for as many words as an event may have."""
    began_s = time.thread_time()
    events: list[ClientEvent] = []
    words = 0
    over, refused, fault = False, None, None
    try:
        while words < _SLICE_WORDS and time.thread_time() - began_s < _SLICE_S:
            said = next(read, None)
            if said is None:
                over = True
                break
            events.append(said)
            words += max(1, len(said.event.words))
    except RefusedMessageError as error:
        over, refused = True, error
    except Exception as error:  # noqa: BLE001 - it is raised again where it is waited for
        over, fault = True, error
    return Slice(events=events, over=over, refused=refused, fault=fault, spent_s=time.thread_time() - began_s)


@dataclass(order=True, slots=True)
class _Job:
    used_s: float
    number: int
    read: Iterator[ClientEvent]
    done: asyncio.Future[Slice]


class ReadingThread:
    """Runs from entry to exit of its context; what waits at its exit is never read."""

    def __init__(self) -> None:
        self._jobs: list[_Job] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="reading", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify()

    def pull(self, read: Iterator[ClientEvent], used_s: float) -> asyncio.Future[Slice]:
        """Return the next slice of a message, once it is read. used_s: the client's processor time lately."""
        job = _Job(used_s, next(self._numbers), read, asyncio.get_running_loop().create_future())
        with self._changed:
            heapq.heappush(self._jobs, job)
            self._changed.notify()
        return job.done

    def _run(self) -> None:
        while (job := self._next()) is not None:
            if not job.done.cancelled():
                _tell(job.done, pulled(job.read))

    def _next(self) -> _Job | None:
        with self._changed:
            while not self._jobs and not self._stopping:
                self._changed.wait()
            return None if self._stopping else heapq.heappop(self._jobs)


def _tell(done: asyncio.Future[Slice], read: Slice) -> None:
    def tell() -> None:
        if not done.done():
            done.set_result(read)

    try:
        done.get_loop().call_soon_threadsafe(tell)
    except RuntimeError:  # the loop is closed: the service has ended
        return
