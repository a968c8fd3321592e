"""Two slots a session: what an aborted checkpoint wrote is dropped, and what was committed is still there."""

from __future__ import annotations

import pytest

from tests.harness.crashing import Crash, CrashAt
from tests.harness.rebuilds import Rebuilds
from tests.harness.speech import check_every_word_once, speech
from tests.harness.twin_world import World
from worker.core.rules import DecodingRules
from worker.ports.seam_events import SeamStep

_PATIENT = DecodingRules(flush_after_ms=10_000, stall_after_ms=10_000)


@pytest.mark.parametrize("step", [SeamStep.SAVED, SeamStep.PUBLISHED, SeamStep.OFFSETS_SENT])
def test_a_checkpoint_that_did_not_commit_costs_no_rebuild(step: SeamStep) -> None:
    events = [*speech("ann", 30), *speech("ben", 30)]
    world = World(rules=_PATIENT)
    first = world.worker()
    world.send(*(one for one in events if one.seq < 4))
    first.settle()
    first.worker.drain()
    second = world.worker(observer=CrashAt(step))
    world.send(*(one for one in events if one.seq >= 4))
    with pytest.raises(Crash):
        second.turn(100)
    world.broker.expel("caesura", "asr.words", second.source.member_id)
    heard = Rebuilds()
    world.worker(observer=heard).settle()
    assert heard.summaries == []
    check_every_word_once(events, world.segments())
