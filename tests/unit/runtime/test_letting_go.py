"""A worker that stops lets go of all its clients, whatever fails on the way."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from caesura.worker.errors import BrokerError, FatalError, FencedError, StoreError
from tests.harness.crashing import Crash
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.speech import check_every_word_once, speech


def raising(error: BaseException) -> Callable[..., bool]:
    def fail(*_: object) -> bool:
        raise error

    return fail


def closed_by(worker: InMemoryWorker, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that each client is noted in when it is closed."""
    closed: list[str] = []
    for name, client in (("source", worker.source), ("publisher", worker.publisher), ("store", worker.store)):
        close = client.close

        def noted(name: str = name, close: object = close) -> None:
            closed.append(name)
            assert callable(close)
            close()

        monkeypatch.setattr(client, "close", noted)
    return closed


def test_a_client_that_cannot_be_closed_keeps_no_other_open(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = World().worker()
    worker.settle()
    closed = closed_by(worker, monkeypatch)
    leave = worker.source.close

    def refuse() -> None:
        leave()
        raise BrokerError("leaving the group: nobody answers")

    monkeypatch.setattr(worker.source, "close", refuse)
    with pytest.raises(BrokerError, match="leaving the group"):
        worker.worker.drain()
    assert closed == ["source", "publisher", "store"]


def test_a_worker_that_fails_while_it_drains_leaves_the_group_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    world, events = World(), speech("ann", 60)
    world.send(*events[:7])
    first = world.worker(0)
    first.settle()
    world.send(*events[7:30])
    first.turn()
    closed = closed_by(first, monkeypatch)
    monkeypatch.setattr(first.worker, "_label", raising(FatalError("the model's file is gone")))
    with pytest.raises(FatalError, match="file is gone"):
        first.worker.drain()
    assert closed == ["source", "publisher", "store"]
    world.send(*events[30:])
    second = world.worker(1)
    second.settle()
    check_every_word_once(events, world.segments())


def test_a_process_that_is_killed_while_it_drains_closes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = World().worker()
    worker.settle()
    closed = closed_by(worker, monkeypatch)
    monkeypatch.setattr(worker.worker, "_label", raising(Crash()))
    with pytest.raises(Crash):
        worker.worker.drain()
    assert closed == []


def test_a_process_that_is_killed_as_it_leaves_the_group_closes_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = World().worker()
    worker.settle()
    closed = closed_by(worker, monkeypatch)
    monkeypatch.setattr(worker.source, "close", raising(Crash()))
    with pytest.raises(Crash):
        worker.worker.drain()
    assert closed == []


def test_a_worker_that_is_fenced_as_it_begins_to_drain_lets_go_of_every_client(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    worker = world.worker()
    worker.settle()
    closed = closed_by(worker, monkeypatch)
    world.clock.pass_s(1)
    monkeypatch.setattr(worker.source, "membership", raising(FencedError("a newer member has this instance's id")))
    with pytest.raises(FencedError, match="newer member"):
        worker.worker.drain()
    assert closed == ["source", "publisher", "store"]


@pytest.mark.parametrize("another", [StoreError("closing the connections: no answer"), OSError("no such socket")])
def test_what_ended_a_worker_is_told_though_a_client_cannot_be_closed(
    another: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = World().worker()
    worker.settle()
    monkeypatch.setattr(worker.worker, "_label", raising(FencedError("another has this id")))
    monkeypatch.setattr(worker.store, "close", raising(another))
    with pytest.raises(FencedError, match="another has this id") as told:
        worker.worker.drain()
    assert told.value.__notes__ == [f"and then: {type(another).__name__}: {another}"]
