"""What fails in one partition costs the others of the same worker nothing but time.

Rules: docs/design.md, *Faults of one partition*.
"""

from __future__ import annotations

import msgspec

from caesura.schemas.checkpoint import OffsetMetadata
from caesura.schemas.segments import Cause
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import NextOffset
from tests.harness.engines import DEADLY
from tests.harness.in_memory_world import World
from tests.harness.speech import by_session, event, said
from tests.harness.succession import run_until_one_lives
from tests.harness.unsure import ChokingPublisher

_PARTITIONS = 4
_NAMES = [f"ann-{number}" for number in range(99)]
_IN_PARTITION = {
    partition: [name for name in _NAMES if murmur2_partition(name.encode(), _PARTITIONS) == partition][:3]
    for partition in range(_PARTITIONS)
}
_INNOCENT = [name for names in _IN_PARTITION.values() for name in names[1:]]


def _world() -> World:
    """Make a world where one partition begins with the deadly record, and every one has innocent ones."""
    world = World(partitions=_PARTITIONS)
    world.send(event(_IN_PARTITION[2][0], 0, "a", DEADLY, "word", session_end=True))
    world.send(*(event(name, 0, "we", "speak", "on", session_end=True) for name in _INNOCENT))
    return world


def _check_the_innocent(world: World) -> None:
    found = by_session(world.segments())
    assert {name: said(found[name]) for name in _INNOCENT} == {name: ["we", "speak", "on"] for name in _INNOCENT}
    assert not {one.cause for name in _INNOCENT for one in found[name]} & {Cause.FALLBACK}


def test_a_record_that_kills_the_process_costs_no_label_in_other_partitions() -> None:
    world = _world()
    assert 3 <= run_until_one_lives(world, turns=900, ordinals=1)[0] <= 12
    _check_the_innocent(world)
    assert world.records("asr.words.dead") == []


def test_a_record_that_no_transaction_can_hold_takes_none_of_other_partitions_with_it() -> None:
    world = _world()
    worker = world.worker(around=ChokingPublisher)
    worker.turn(3000)
    assert not worker.worker.unready()
    _check_the_innocent(world)
    assert [dict(one.headers)["caesura.reason"] for one in world.records("asr.words.dead")] == [b"poison"]


def test_flushes_that_kill_the_process_in_two_partitions_at_once_are_both_found() -> None:
    world = World(partitions=_PARTITIONS, rules=DecodingRules(flush_after_ms=500, stall_after_ms=500))
    deadly = [_IN_PARTITION[partition][0] for partition in (1, 2)]
    world.send(*(event(name, 0, "a", DEADLY) for name in deadly))
    world.send(*(event(name, 0, "we", "wait") for name in _INNOCENT))
    assert 3 <= run_until_one_lives(world, turns=900, ordinals=1)[0] <= 16
    found = by_session(world.segments())
    assert {name: {one.cause for one in found[name]} for name in found} == {
        **{name: {Cause.FALLBACK} for name in deadly},
        **{name: {Cause.SILENCE} for name in _INNOCENT},
    }


def test_a_flush_that_no_transaction_can_hold_parks_its_partition_until_that_is_fixed_and_loses_nothing() -> None:
    world = World(partitions=_PARTITIONS, rules=DecodingRules(flush_after_ms=500, stall_after_ms=500))
    deadly = _IN_PARTITION[2][0]
    world.send(event(deadly, 0, "a", DEADLY))
    world.send(*(event(name, 0, "we", "wait") for name in _INNOCENT))
    sure: list[ChokingPublisher] = []

    def choking(publisher: Publisher) -> Publisher:
        sure.append(ChokingPublisher(publisher))
        return sure[0]

    worker = world.worker(around=choking)
    worker.turn(3000)
    assert [one.reason for one in worker.worker.assignment.parked.values()] == ["flush_fails"]
    elsewhere = {name for name in _INNOCENT if name not in _IN_PARTITION[2]}
    found = by_session(world.segments())
    assert {name: said(found[name]) for name in elsewhere} == {name: ["we", "wait"] for name in elsewhere}
    sure[0].choking = False
    world.release(2)
    worker.turn(1000)
    found = by_session(world.segments())
    assert said(found[deadly]) == ["a", DEADLY]
    assert {name for name, segments in found.items() if segments[0].cause is Cause.SILENCE} == {deadly, *_INNOCENT}


def test_a_partition_whose_suspected_step_does_not_come_holds_the_others_up_for_seconds_only() -> None:
    world = World(partitions=2)
    first = world.worker()
    first.settle()
    first.worker.drain()
    for partition in (0, 1):
        _note_tries(world, partition)
    worker = world.worker(1)
    worker.turn(100)
    assert len(worker.worker.assignment.loaded) == 1
    for _ in range(4):
        world.clock.pass_s(3.0)
        worker.turn(20)
    assert len(worker.worker.assignment.loaded) == 2


def _note_tries(world: World, partition: int) -> None:
    """Make it so that a timer of the partition was tried twice by somebody who is gone."""
    committed = world.broker.committed("caesura", "asr.words", partition)
    metadata = OffsetMetadata.decode(committed.metadata if committed is not None else None)
    assert committed is not None
    assert metadata is not None
    noted = NextOffset(next_offset=committed.next_offset, metadata=msgspec.structs.replace(metadata, tries=2).encode())
    world.broker.set_offset("caesura", "asr.words", partition, noted)
