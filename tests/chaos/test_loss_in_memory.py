"""Redis lost once, at each record of a session in turn: what comes out is the undisturbed run's."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.records import Record
from tests.harness.checker import Output, check
from tests.harness.in_memory_world import World
from tests.harness.producers import spoken
from tests.harness.reference import RULES, output_of, undisturbed


def run_with_loss(records: Sequence[Record], lost_after: int) -> Output:
    world = World(rules=DecodingRules(routes=frozenset({"de"}), **RULES))  # type: ignore[arg-type]
    worker = world.worker(commit_interval_ms=10)
    for record in records:
        world.broker.append("asr.words", 0, record.value, key=record.key)
        worker.turn(3)
        if record.offset == lost_after:
            world.redis.lose_everything()
    worker.settle()
    return output_of(world.records("asr.segments"), world.records("translate.de"), world.records("asr.words.dead"))


# 11, 19, 41: a cut among frozen words, which publishes nothing, had moved the replay past a ledger record's buffer.
@pytest.mark.parametrize("seed", [11, 19, 41, 90, 91])
def test_losing_redis_after_any_record_changes_no_output(seed: int) -> None:
    records = spoken(seed, 1)
    expected = undisturbed(records, 1)
    for lost_after in range(len(records)):
        assert check(expected, run_with_loss(records, lost_after)) == [], f"lost after record {lost_after}"
