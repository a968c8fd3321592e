"""Who waits at the door without being let in: how long, and whose place a newcomer takes."""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from caesura.worker.telemetry.connection_limits import ConnectionLimits, Peer, most_sockets

HOUR_S = 3600.0


class Visitors:
    """Pairs of connected sockets, one end each the doorway's. ``cut_off`` tells who sees the end of it."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._far: dict[Peer, socket.socket] = {}

    def come(self, doorway: ConnectionLimits, number: int) -> bool:
        near, far = (self._stack.enter_context(one) for one in socket.socketpair())
        far.settimeout(0)
        self._far[peer(number)] = far
        return doorway.came(near, peer(number))

    def cut_off(self) -> list[int]:
        return [number for (_, number), far in self._far.items() if _sees_the_end(far)]


def _sees_the_end(far: socket.socket) -> bool:
    try:
        return far.recv(1) == b""
    except BlockingIOError:
        return False


def peer(number: int) -> Peer:
    return "127.0.0.1", number


@contextmanager
def visitors() -> Iterator[Visitors]:
    with ExitStack() as stack:
        yield Visitors(stack)


def test_a_newcomer_takes_the_place_of_the_one_that_has_waited_longest() -> None:
    async def scene() -> None:
        with visitors() as visiting:
            doorway = ConnectionLimits(most=3, within_s=HOUR_S)
            assert all(visiting.come(doorway, number) for number in (1, 2, 3))
            doorway.answered(peer(1))
            doorway.upgraded(peer(2))
            assert visiting.come(doorway, 4)
            assert visiting.cut_off() == [3]
            assert visiting.come(doorway, 5)
            assert visiting.cut_off() == [1, 3]
            assert len(doorway) == 3
            rounds = [doorway.is_making_room]
            await asyncio.sleep(0)
            assert [*rounds, doorway.is_making_room] == [True, False]

    asyncio.run(scene())


def test_who_was_let_in_is_never_cut_off() -> None:
    async def scene() -> None:
        with visitors() as visiting:
            doorway = ConnectionLimits(most=2, within_s=HOUR_S)
            for number in (1, 2):
                visiting.come(doorway, number)
                doorway.let_in(peer(number))
            assert not visiting.come(doorway, 3)
            assert visiting.cut_off() == []
            doorway.let_out(peer(2))
            assert visiting.come(doorway, 3)
            assert visiting.cut_off() == [2]

    asyncio.run(scene())


def test_the_place_of_a_socket_that_is_closed_is_free() -> None:
    async def scene() -> None:
        with visitors() as visiting:
            doorway = ConnectionLimits(most=1, within_s=HOUR_S)
            for number in range(3):
                assert visiting.come(doorway, number)
                doorway.let_in(peer(number))
                doorway.left(peer(number))
                doorway.left(peer(number))
            assert visiting.cut_off() == []

    asyncio.run(scene())


def test_who_does_nothing_is_cut_off_in_time_and_a_websocket_is_left_to_its_reader() -> None:
    async def scene() -> None:
        with visitors() as visiting:
            doorway = ConnectionLimits(most=9, within_s=0.0)
            for number in (1, 2, 3):
                visiting.come(doorway, number)
            doorway.upgraded(peer(2))
            doorway.let_in(peer(3))
            await asyncio.sleep(0.001)  # what is due comes before it
            assert visiting.cut_off() == [1]
            assert len(doorway) == 2

    asyncio.run(scene())


def test_there_are_fewer_sockets_than_the_process_may_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    assert most_sockets(512) == 512
    assert 512 < most_sockets(100_000) < 1024
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert most_sockets(100_000) == 100_000
