"""An event without words to a closed session costs a ledger record, and no rebuild has to read from it on."""

from __future__ import annotations

import pytest

from caesura.schemas.checkpoint import OffsetMetadata
from caesura.worker.core.language.rules import DecodingRules
from tests.harness.heard import Rebuilds
from tests.harness.in_memory_world import World
from tests.harness.speech import event, said

IDLE_S = 400


def after_a_night(world: World, *, wordless: bool) -> int:
    """Close a session, perhaps let it beat once more, and speak elsewhere for long; return what a rebuild reads."""
    worker = world.worker()
    world.send(event("mic", 0, "well", "then"))
    worker.settle()
    world.clock.pass_s(IDLE_S)
    world.send(event("tick", 0, "on", session_end=True))
    worker.settle()
    if wordless:
        world.send(event("mic", 1))
        worker.settle()
    for hour in range(8):
        world.clock.pass_s(3600)
        world.send(*(event(f"h{hour}", seq, "more", session_end=seq == 9) for seq in range(10)))
        worker.settle()
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    assert committed is not None
    metadata = OffsetMetadata.decode(committed.metadata)
    assert metadata is not None
    worker.worker.drain()
    world.redis.lose_everything()
    heard = Rebuilds()
    rebuilt = world.worker(1, observer=heard)
    rebuilt.settle()
    rebuilt.worker.drain()
    assert metadata.replay_offset == committed.next_offset
    (summary,) = heard.summaries
    return summary.input_records


@pytest.mark.parametrize("wordless", [False, True])
def test_a_rebuild_reads_nothing_for_a_closed_session(*, wordless: bool) -> None:
    assert after_a_night(World(rules=DecodingRules()), wordless=wordless) == 0


def test_a_closed_session_goes_on_after_a_wordless_event_and_a_rebuild() -> None:
    world = World(rules=DecodingRules())
    after_a_night(world, wordless=True)
    worker = world.worker(2)
    world.send(event("mic", 1, "again"), event("mic", 2, "here", "now", session_end=True))
    worker.settle()
    mine = [segment for segment in world.segments() if segment.session == "mic"]
    assert said(mine) == ["well", "then", "here", "now"]
    assert [segment.index for segment in mine] == list(range(len(mine)))
