"""How often a rebuild, or a step, was tried, as a claim counts it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from caesura.schemas.checkpoint import CheckpointId, OffsetMetadata
from caesura.worker.adapters.memory.broker import MemoryBroker
from caesura.worker.adapters.memory.word_source import MemoryWordSource
from caesura.worker.runtime.claim.claim_tries import ClaimTries
from caesura.worker.runtime.retries.poison_isolation import PoisonIsolation, StepDecision
from caesura.worker.runtime.settings.settings import RuntimeSettings


def _tries() -> ClaimTries:
    return ClaimTries(0, MemoryWordSource(MemoryBroker(), "asr.words"), RuntimeSettings())


def _announced(tries: int) -> OffsetMetadata:
    identity = CheckpointId(7, 0, "0123456789abcdef")
    return OffsetMetadata(
        id=identity,
        topic="asr.words",
        partition=0,
        next_offset=0,
        replay_offset=0,
        partitions=1,
        transactional_id="caesura-0",
        tries=tries,
    )


def test_announced_tries_count_and_the_next_one_is_announced_too() -> None:
    found = _tries().of_a_rebuild(_announced(3), 8)
    assert (found.announced, found.announce) == (3, True)


@pytest.mark.parametrize("committed", [2, 3])
def test_a_try_that_was_none_counts_once_less_whether_or_not_that_was_committed(committed: int) -> None:
    tries = _tries()
    tries.uncount()
    tries.uncount_rebuild(2)  # the third was interrupted; nobody may know what became of its withdrawal
    assert tries.of_a_rebuild(_announced(committed), 8).announced == 2


_NEXT = 5
"""The offset of the record that kills whoever labels it; the log goes on behind it."""


def _most_deaths(committed: OffsetMetadata | None, token: int, passed: frozenset[object] = frozenset()) -> float:
    """Return how many owners it can kill, whatever each claim finds, until it is tried without the engine."""
    metadata = committed or OffsetMetadata(
        id=CheckpointId(0, 1, ""),
        topic="asr.words",
        partition=0,
        next_offset=0,
        replay_offset=0,
        partitions=1,
        transactional_id="",
    )
    told = (token - metadata.id.token, metadata.id.n == 0, metadata.isolated_until_offset, metadata.tries)
    if told in passed:
        return math.inf
    followers = [one for lost in (False, True) for one in _killed(committed, token + 1, lost=lost)]
    return max((1 + _most_deaths(one, token + 1, passed | {told}) for one in followers), default=0)


def _killed(committed: OffsetMetadata | None, token: int, *, lost: bool) -> Iterator[OffsetMetadata | None]:
    """Return what may be committed when the owner with this token is gone; nothing where it is not killed."""
    broker = MemoryBroker()
    broker.create_topic("asr.words")
    for _ in range(2 * _NEXT):
        broker.append("asr.words", 0, b"")
    tries = ClaimTries(0, MemoryWordSource(broker, "asr.words"), RuntimeSettings())
    isolation = PoisonIsolation(tries.of_a_step(committed, token, _NEXT, lost=lost))
    if isolation.decide(_NEXT) is StepDecision.READ_AGAIN:
        announced = _commit(token, *isolation.noted(_NEXT))
        isolation.committed()
        if isolation.decide(_NEXT) is StepDecision.APPLY:
            yield announced
        return
    yield committed
    if lost:  # the rebuild's own commit came before it
        yield _commit(token, _NEXT, 0)


def _commit(token: int, until_offset: int, tries: int) -> OffsetMetadata:
    return OffsetMetadata(
        id=CheckpointId(token, 1, ""),
        replay_offset=0,
        partitions=1,
        transactional_id="",
        topic="asr.words",
        partition=0,
        next_offset=0,
        isolated_until_offset=until_offset,
        tries=tries,
    )


@pytest.mark.parametrize("committed", [None, _commit(7, 0, 0), _commit(7, _NEXT, 0)])
def test_a_record_kills_seven_owners_at_most_whatever_their_claims_find(committed: OffsetMetadata | None) -> None:
    assert _most_deaths(committed, 0 if committed is None else 7) <= 7
