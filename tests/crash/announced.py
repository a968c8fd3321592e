"""Partitions whose next try is announced, and what their commits say of it."""

from __future__ import annotations

from caesura.schemas.checkpoint import OffsetMetadata
from caesura.schemas.segments import Cause
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.core.language.rules import DecodingRules
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.speech import event, said

__all__ = ["a_worker", "expel", "goes_on", "last_commit", "sessions_lost", "steps_isolated", "until_announced"]


def last_commit(world: World, partition: int = 0) -> tuple[int, OffsetMetadata]:
    """Return the committed offset, and what its metadata says."""
    committed = world.broker.last_committed("caesura", "asr.words", partition)
    metadata = None if committed is None else OffsetMetadata.decode(committed.metadata)
    assert committed is not None
    assert metadata is not None
    return committed.next_offset, metadata


def a_worker(world: World, ordinal: int) -> InMemoryWorker:
    """Return a worker whose engine marks words."""
    return world.worker(ordinal, engine=ScriptedEngine(script=marked_words))


def until_announced(world: World, worker: InMemoryWorker, partition: int = 0) -> None:
    """Turn until a try is committed that is not done yet."""
    before = last_commit(world, partition)
    for _ in range(4000):
        if last_commit(world, partition) != before:
            break
        worker.turn()
    assert last_commit(world, partition)[1].tries > before[1].tries


def expel(world: World, worker: InMemoryWorker) -> None:
    """Have a worker's session end without its knowing."""
    world.broker.expel("caesura", "asr.words", worker.source.member_id)


def sessions_lost(*names: str, partitions: int = 1, words: str = "A B") -> World:
    """Have sessions wait, and lose them after claims without a commit, so that a rebuild is announced at once."""
    world = World(rules=DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000), partitions=partitions)
    world.send(*(event(name, 0, *words.split()) for name in names or ["ann"]))
    first = a_worker(world, 0)
    first.settle()
    first.worker.drain()
    world.redis.lose_everything()
    for partition in range(partitions):
        world.raise_token(partition, 11)
    return world


def steps_isolated(session: str = "ann", *, partitions: int = 1) -> World:
    """Have a session's words wait after claims without a commit, so that its silence, or a record, is announced."""
    world = World(rules=DecodingRules(flush_after_ms=3000, stall_after_ms=3000), partitions=partitions)
    world.send(event(session, 0, "A", "B"))
    first = a_worker(world, 0)
    first.settle()
    expel(world, first)
    for _ in range(3):
        worker = a_worker(world, 0)
        worker.worker.turn(0.0)
        expel(world, worker)
    return world


def goes_on(world: World, session: str = "ann") -> None:
    """Speak on: every word comes once, labelled."""
    world.send(event(session, 1, "c", session_end=True))
    worker = a_worker(world, 7)
    worker.turn(400)
    assert worker.worker.unready() == ()
    assert said(world.segments()) == ["A", "B", "c"]
    assert Cause.FALLBACK not in {one.cause for one in world.segments()}
    assert world.records("asr.words.dead") == []
