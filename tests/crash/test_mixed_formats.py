"""A fleet in which one worker writes the state as a release before did: the same output, to the label.

Version 1.2 has a place for how words are written, 1.1 for the trace contexts of words that wait, and 1.0 for neither.
So every event brings a context here and every word has a casing, and what the two workers store differs in more than
its number.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from schemas.state import SessionState, StateVersion, decode_ledger, decode_state
from tests.harness.checker import Output, check
from tests.harness.contexts import ContextsOnly
from tests.harness.reference import RULES, output_of, undisturbed
from tests.harness.spoken import spoken
from tests.harness.twin_world import TwinWorker, World
from worker.core.rules import DecodingRules

SESSIONS = 6


def new_world() -> World:
    return World(rules=DecodingRules(routes=frozenset({"de"}), **RULES))  # type: ignore[arg-type]


def worker_writing(world: World, version: StateVersion) -> TwinWorker:
    return world.worker(tracer=ContextsOnly(), state_version=version, commit_interval_ms=10)


def stored(world: World) -> Iterator[SessionState]:
    yield from map(decode_state, world.redis.partition(0).sessions.values())


def output(world: World) -> Output:
    return output_of(world.records("asr.segments"), world.records("translate.de"), world.records("asr.words.dead"))


def run_by_turns(
    seed: int, a_turn: int, former: StateVersion, *, lost_every: int | None
) -> tuple[World, set[tuple[str, bool, bool]]]:
    """Let one worker take the partition from the other every so many records; Redis is lost now and then.

    Also returned: what was stored on the way, as versions and whether contexts and casings were with them.
    """
    world = new_world()
    seen: set[tuple[str, bool, bool]] = set()
    worker = worker_writing(world, "1.2")
    for number, record in enumerate(spoken(seed, SESSIONS)):
        if number % a_turn == 0:
            world.broker.expel("caesura", "asr.words", worker.source.member_id)
            worker = worker_writing(world, former if number // a_turn % 2 else "1.2")
        if lost_every is not None and number % lost_every == lost_every - 1:
            world.redis.lose_everything()
        world.broker.append("asr.words", 0, record.value, key=record.key)
        worker.turn(4)
        seen |= {(one.version, bool(one.traces), bool(one.casing)) for one in stored(world)}
    worker.settle()
    return world, seen


@pytest.mark.parametrize("lost_every", [None, 7], ids=["redis stays", "redis is lost"])
@pytest.mark.parametrize(("seed", "a_turn", "former"), [(11, 1, "1.0"), (19, 2, "1.1"), (41, 5, "1.1")])
def test_a_fleet_that_writes_two_versions_of_the_state_brings_out_what_one_worker_does(
    seed: int, a_turn: int, former: StateVersion, lost_every: int | None
) -> None:
    world, seen = run_by_turns(seed, a_turn, former, lost_every=lost_every)
    assert check(undisturbed(spoken(seed, SESSIONS), 1), output(world)) == []
    assert {(former, former == "1.1", False), ("1.2", True, True)} <= seen, "both were stored, and they differed"
    assert not {("1.0", True, False), ("1.0", True, True), ("1.0", False, True), ("1.1", True, True)} & seen


def test_the_ledger_is_written_in_the_version_that_was_asked_for() -> None:
    for version in ("1.0", "1.1", "1.2"):
        world = new_world()
        worker = worker_writing(world, version)
        for record in spoken(11, SESSIONS):
            world.broker.append("asr.words", 0, record.value, key=record.key)
        worker.settle()
        kept = [decode_ledger(one.value) for one in world.records("caesura.ledger") if one.value]
        assert {one.version for one in kept} == {version}
