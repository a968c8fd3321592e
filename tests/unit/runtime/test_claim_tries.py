"""How often a rebuild was tried, as a claim counts it."""

from __future__ import annotations

import pytest

from schemas.checkpoint import CheckpointId, OffsetMetadata
from worker.adapters.memory.broker import MemoryBroker
from worker.adapters.memory.word_source import MemoryWordSource
from worker.runtime.claim_tries import ClaimTries
from worker.runtime.settings import RuntimeSettings


def _tries() -> ClaimTries:
    return ClaimTries(0, MemoryWordSource(MemoryBroker(), "asr.words"), RuntimeSettings())


def _announced(tries: int) -> OffsetMetadata:
    identity = CheckpointId(7, 0, "0123456789abcdef")
    return OffsetMetadata(id=identity, replay_offset=0, partitions=1, transactional_id="caesura-0", tries=tries)


def test_announced_tries_count_and_the_next_one_is_announced_too() -> None:
    found = _tries().of_a_rebuild(_announced(3), 8)
    assert (found.announced, found.announce) == (3, True)


@pytest.mark.parametrize("committed", [2, 3])
def test_a_try_that_was_none_counts_once_less_whether_or_not_that_was_committed(committed: int) -> None:
    tries = _tries()
    tries.uncount()
    tries.uncount_rebuild(2)  # the third was interrupted; nobody may know what became of its withdrawal
    assert tries.of_a_rebuild(_announced(committed), 8).announced == 2
