"""An input that was cut below the committed offset and has grown again parks its partition; no word is passed over."""

from __future__ import annotations

from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.reasons import ParkReason
from tests.harness.in_memory_world import World
from tests.harness.speech import event, said


def a_cut_input(*, cut_at: int, grows_by: int) -> World:
    """Let words be committed, cut the input below them, and let it grow again."""
    world = World(rules=DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000))
    worker = world.worker()
    world.send(*(event("ann", seq, f"a{seq}", utterance_end=True) for seq in range(8)))
    worker.settle()
    worker.worker.drain()
    world.broker.log("asr.words", 0).truncate(cut_at)
    world.send(*(event("ben", seq, f"b{seq}", utterance_end=True) for seq in range(grows_by)))
    return world


def test_a_cut_input_that_outgrew_the_committed_offset_parks() -> None:
    world = a_cut_input(cut_at=5, grows_by=7)
    worker = world.worker(1)
    worker.turn(4000)
    (parked,) = worker.worker.assignment.parked.values()
    assert parked.reason is ParkReason.OFFSET_OUT_OF_RANGE
    assert "leader epoch 0" in parked.detail
    assert said(world.segments()) == [f"a{seq}" for seq in range(8)]
    assert world.records("asr.words.dead") == []


def test_an_input_that_was_cut_behind_what_is_committed_is_read_on() -> None:
    world = a_cut_input(cut_at=8, grows_by=3)
    world.broker.log("asr.words", 0).truncate(9)
    world.send(event("cy", 0, "c0", utterance_end=True))
    worker = world.worker(1)
    worker.settle()
    assert worker.worker.unready() == ()
    assert said(world.segments()) == [*(f"a{seq}" for seq in range(8)), "b0", "c0"]
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    assert committed is not None
    assert committed.leader_epoch == 1
