"""A committed offset that something moved, or copied, with our metadata kept: it is parked as one from outside."""

from __future__ import annotations

import pytest

from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.records import CommittedOffset, NextOffset
from tests.harness.in_memory_world import World
from tests.harness.speech import event, said

_RULES = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000)


def _spoken() -> tuple[World, CommittedOffset]:
    """Return a world whose worker has left after ten words of one session, and what it committed last."""
    world = World(rules=_RULES)
    worker = world.worker()
    world.send(*(event("ann", n, f"a{n}", utterance_end=True) for n in range(10)))
    worker.settle()
    worker.worker.drain()
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    assert committed is not None
    return world, committed


def _set(world: World, next_offset: int, metadata: str) -> None:
    world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=next_offset, metadata=metadata))


@pytest.mark.parametrize("moved_by", [5, -5, 1, -1])
def test_an_offset_moved_with_its_metadata_parks_and_loses_no_word(moved_by: int) -> None:
    world, committed = _spoken()
    _set(world, committed.next_offset + moved_by, committed.metadata)
    world.send(*(event("ben", n, f"b{n}", utterance_end=True) for n in range(10)))
    worker = world.worker()
    worker.turn(300)
    assert [one.reason for one in worker.worker.assignment.parked.values()] == ["offset_from_outside"]

    _set(world, committed.next_offset, committed.metadata)
    world.release(0)
    worker.turn(600)
    assert said(world.segments()) == [f"a{n}" for n in range(10)] + [f"b{n}" for n in range(10)]


@pytest.mark.parametrize("place", ["asr.words 1", "asr.speech 0"])
def test_metadata_of_another_partition_or_topic_parks(place: str) -> None:
    world, committed = _spoken()
    _set(world, committed.next_offset, committed.metadata.replace("asr.words 0", place, 1))
    worker = world.worker()
    worker.settle()
    assert [one.reason for one in worker.worker.assignment.parked.values()] == ["offset_from_outside"]


def test_a_moved_offset_is_adopted_if_the_setting_allows_it() -> None:
    world, committed = _spoken()
    world.send(*(event("ben", n, f"b{n}", utterance_end=True) for n in range(5)))
    _set(world, committed.next_offset + 2, committed.metadata)
    worker = world.worker(adopt_foreign_offsets=True)
    worker.settle()
    assert worker.worker.unready() == ()
    assert said(world.segments())[10:] == ["b2", "b3", "b4"]
