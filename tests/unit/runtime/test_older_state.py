"""A worker that writes the state of a release before: what comes out does not tell who has claimed meanwhile."""

from __future__ import annotations

import msgspec
import pytest

from schemas.events import SessionOptions
from schemas.state import StateVersion, reaches
from tests.harness.speech import comparable, event
from tests.harness.twin_world import World
from worker.core.rules import DecodingRules

_RULES = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, idle_after_ms=600_000)


def _spoken(version: StateVersion, *, claimed_anew: bool) -> World:
    """Speak with fillers of one's own, before and after another worker may have taken the partition."""
    world = World(rules=_RULES)
    worker = world.worker(state_version=version)
    own = SessionOptions(own_fillers=("sort of",))
    world.send(event("ann", 0, "so", "it", options=own))
    worker.settle()
    if claimed_anew:
        worker.worker.drain()
        worker = world.worker(1, state_version=version)
    world.send(msgspec.structs.replace(event("ann", 1, "is"), configure=own))
    world.send(event("ann", 2, "there", session_end=True))
    worker.settle()
    return world


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2", "1.3", "1.4"])
def test_a_claim_changes_nothing_where_the_state_has_no_place_for_a_sessions_own_words(version: StateVersion) -> None:
    undisturbed, claimed = _spoken(version, claimed_anew=False), _spoken(version, claimed_anew=True)
    assert comparable(claimed.segments()) == comparable(undisturbed.segments())
    own = {one.own_fillers for one in claimed.segments()}
    assert own == ({("sort of",)} if reaches(version, "1.3") else {()})


def test_own_words_of_a_state_that_has_them_go_with_the_claim_that_writes_an_older_one() -> None:
    world = World(rules=_RULES)
    first = world.worker()
    world.send(event("ann", 0, "so", options=SessionOptions(own_fillers=("sort of",))))
    first.settle()
    first.worker.drain()
    second = world.worker(1, state_version="1.2")
    world.send(event("ann", 1, "there", session_end=True))
    second.settle()
    assert {one.own_fillers for one in world.segments()} == {()}
