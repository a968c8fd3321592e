"""A broker's fault in pausing or resuming a partition costs no word and does not end the loop."""

from __future__ import annotations

import msgspec
import pytest

from caesura.schemas.codec import encode_event
from caesura.worker.adapters.memory.broker import Call
from caesura.worker.errors import AbortableError, BrokerError
from caesura.worker.ports.observer import CallFailed
from tests.harness.heard import Heard
from tests.harness.in_memory_world import World
from tests.harness.speech import check_every_word_once, event, said, speech


def test_a_partition_that_could_not_be_resumed_is_claimed_again_and_every_word_comes_once() -> None:
    world, heard = World(), Heard(CallFailed)
    events = speech("ann", 12)
    world.send(*events[:6])
    world.broker.fail("resume", BrokerError("away"))
    worker = world.worker(observer=heard)
    worker.settle()
    world.send(*events[6:])
    worker.settle()
    check_every_word_once(events, world.segments())
    assert "claim" in {one.call for one in heard.events}


@pytest.mark.parametrize("lost", ["commit", "send_offsets"])
def test_a_partition_that_could_not_be_paused_is_claimed_again_and_every_word_comes_once(lost: Call) -> None:
    world, heard = World(partitions=3), Heard(CallFailed)
    events = [one for number in range(6) for one in speech(f"ann-{number}", 12)]
    worker = world.worker(observer=heard)
    worker.turn(3)
    world.broker.fail(lost, AbortableError("as planned"))
    for _ in range(2):
        world.broker.fail("pause", BrokerError("away"))
    for one in events:
        world.send(one)
        worker.turn()
    worker.settle()
    check_every_word_once(events, world.segments())
    assert [one.call for one in heard.events].count("pause") == 2


def test_a_parked_partition_that_could_not_be_paused_takes_nothing_until_it_is_released() -> None:
    world, heard = World(), Heard(CallFailed)
    world.send(event("ann", 0, "one", "two", utterance_end=True))
    newer = msgspec.structs.replace(event("ann", 1, "three"), version="2.0")
    world.broker.append("asr.words", 0, encode_event(newer), key=b"ann")
    world.broker.fail("pause", BrokerError("away"))
    worker = world.worker(observer=heard)
    worker.settle()
    world.send(event("ann", 2, "four", session_end=True))
    worker.settle()
    assert [one.reason for one in worker.worker.assignment.parked.values()] == ["newer_event"]
    assert said(world.segments()) == ["one", "two"]
    assert "pause" in {one.call for one in heard.events}
