"""Lag and age of the oldest unread word are true for a partition that does not advance, whatever holds it up."""

from __future__ import annotations

import pytest

from caesura.worker.errors import AbortableError, BrokerError
from caesura.worker.ports.commit_steps import SegmentsPublished
from caesura.worker.ports.observer import Event, PositionMeasured
from caesura.worker.ports.records import NextOffset, OutMessage
from tests.harness.executors import DeferredExecutor
from tests.harness.heard import Heard, lose_redis
from tests.harness.in_memory_world import World
from tests.harness.speech import event


def _last(heard: Heard[PositionMeasured]) -> PositionMeasured:
    return [one for one in heard.events if one.partition == 0][-1]


def _stuck(why: str) -> tuple[World, Heard[PositionMeasured]]:
    """Have a partition stand still with words unread for a minute."""
    world = World()
    heard = Heard(PositionMeasured)
    worker = world.worker(observer=heard)
    world.send(event("ann", 0, "one"))
    worker.settle()
    world.clock.pass_s(100.0)
    worker.turn(2)
    told = _last(heard)
    assert (told.end_offset - told.next_offset, told.oldest_unread_ms) == (0, 0)
    if why == "parked":
        world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=1, metadata="by hand"))
        lose_redis(world, worker)
    world.send(*(event("ann", seq, "more") for seq in range(1, 9)))
    for _ in range(60):
        if why == "aborts":
            world.broker.fail("send_offsets", AbortableError("as planned"))
        world.clock.pass_s(1.0)
        worker.turn(3)
    return world, heard


@pytest.mark.parametrize("why", ["parked", "aborts"])
def test_a_partition_that_stands_still_is_as_far_behind_as_its_words_are_old(why: str) -> None:
    _, heard = _stuck(why)
    told = _last(heard)
    assert told.end_offset - told.next_offset == 8
    assert 50_000 < told.oldest_unread_ms < 70_000


def test_the_first_words_after_a_start_come_out_before_positions_are_measured() -> None:
    world = World(partitions=4)
    world.send(*(event(f"ann-{number}", 0, "so", "it", "is") for number in range(12)))
    heard = Heard(Event)
    worker = world.worker(observer=heard)
    worker.turn(100)
    first = next(place for place, one in enumerate(heard.events) if isinstance(one, PositionMeasured))
    out = [segment for one in heard.events[:first] if isinstance(one, SegmentsPublished) for segment in one.segments]
    assert len({segment.session for segment in out}) == 12
    assert {one.partition for one in heard.events if isinstance(one, PositionMeasured)} == set(range(4))


def test_a_leader_that_is_away_holds_up_no_other_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(partitions=4)
    heard = Heard(PositionMeasured)
    worker = world.worker(observer=heard)
    worker.settle()
    honest = worker.source.watermarks

    def watermarks(partition: int, timeout_s: float) -> tuple[int, int]:
        if partition in away:
            raise BrokerError("its leader is away")
        return honest(partition, timeout_s)

    monkeypatch.setattr(worker.source, "watermarks", watermarks)
    for away in ({0}, {0, 2}, {1, 3}):
        heard.events.clear()
        for _ in range(30):
            world.clock.pass_s(1.0)
            worker.turn()
        assert {one.partition for one in heard.events} == {0, 1, 2, 3} - away
        assert worker.worker.unready() == ("probe: BrokerError",)


def test_a_hanging_transaction_in_the_input_is_lag_and_unreadiness() -> None:
    world, heard = World(), Heard(PositionMeasured)
    worker = world.worker(observer=heard)
    world.send(event("ann", 0, "one", utterance_end=True))
    worker.settle()
    hanging = world.broker.init_producer("another")
    world.broker.write(hanging, OutMessage(topic="asr.words", partition=0, key=b"ben", value=b"never ended"))
    world.send(*(event("ann", seq, "more", utterance_end=True) for seq in range(1, 31)))
    for _ in range(120):
        world.clock.pass_s(5.0)
        worker.turn()
    told = _last(heard)
    assert told.end_offset - told.next_offset == 31
    assert 590_000 < told.oldest_unread_ms <= 600_000
    assert told.held_ms == told.oldest_unread_ms
    assert worker.worker.unready() == ("input: a transaction is open, partition 0",)

    world.broker.end_transaction(hanging, commit=False)
    world.clock.pass_s(5.0)
    worker.turn(100)
    world.clock.pass_s(5.0)
    worker.turn()
    assert len(world.segments()) == 31
    assert (_last(heard).held_ms, worker.worker.unready()) == (0, ())


def test_a_producers_short_transactions_are_no_reason_against_being_ready() -> None:
    world, heard = World(), Heard(PositionMeasured)
    worker = world.worker(observer=heard)
    for _ in range(30):
        writer = world.broker.init_producer("another")
        world.broker.write(writer, OutMessage(topic="asr.words", partition=0, key=b"ben", value=b"x"))
        world.clock.pass_s(5.0)
        worker.turn(3)
        assert worker.worker.unready() == ()
        world.broker.end_transaction(writer, commit=True)
        worker.turn(3)


def test_a_leader_that_is_silent_holds_up_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    world, asking, heard = World(partitions=2), DeferredExecutor(), Heard(PositionMeasured)
    worker = world.worker(observer=heard, asking=asking)
    worker.settle()
    honest = worker.source.watermarks

    def watermarks(partition: int, timeout_s: float) -> tuple[int, int]:
        if partition == 0:
            world.clock.pass_s(timeout_s)
            raise BrokerError("no answer in time")
        return honest(partition, timeout_s)

    monkeypatch.setattr(worker.source, "watermarks", watermarks)
    for _ in range(2):
        world.clock.pass_s(6.0)
        began_s = world.clock.now_s
        worker.turn()
        assert world.clock.now_s - began_s < 0.1
        asking.run_all()
    worker.turn()
    assert {one.partition for one in heard.events} == {1}
    assert worker.worker.unready() == ("probe: BrokerError",)
