"""What fails in one partition costs the others of the same worker nothing but time.

Rules: docs/design.md, *Faults of one partition*.
"""

from __future__ import annotations

from caesura.schemas.segments import Cause
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.ports.publisher import Publisher
from tests.harness.engines import DEADLY
from tests.harness.in_memory_world import World
from tests.harness.speech import by_session, event, said
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


def test_a_record_beyond_any_transaction_spares_other_partitions() -> None:
    world = _world()
    worker = world.worker(around=ChokingPublisher)
    worker.turn(3000)
    assert not worker.worker.unready()
    _check_the_innocent(world)
    assert [dict(one.headers)["caesura.reason"] for one in world.records("asr.words.dead")] == [b"poison"]


def test_a_flush_beyond_any_transaction_parks_its_partition_losing_nothing() -> None:
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
