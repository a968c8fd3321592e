"""A record that kills whoever applies it is found, and does not stop its partition."""

from __future__ import annotations

import pytest

from caesura.schemas.checkpoint import CheckpointId, OffsetMetadata
from caesura.schemas.segments import Cause
from caesura.worker.runtime.retries.poison_isolation import (
    PoisonIsolation,
    RetryHistory,
    StepDecision,
    claims_without_commit,
)
from tests.harness.in_memory_world import World
from tests.harness.speech import by_session, event, said, speech
from tests.harness.succession import run_until_one_lives


def test_a_record_that_kills_the_process_goes_out_unlabelled_and_everybody_else_is_untouched() -> None:
    world = World()
    good = speech("ann", 40)
    world.send(*good[:3], event("ben", 0, "a", "deadly", "word", session_end=True), *good[3:])
    assert run_until_one_lives(world, turns=400, most=40)[0] >= 3
    found = by_session(world.segments())
    assert said(found["ann"]) == [word.text for one in good for word in one.words]
    assert said(found["ben"]) == ["a", "deadly", "word"]
    assert Cause.FALLBACK in {one.cause for one in found["ben"]}
    assert not {one.cause for one in found["ann"]} & {Cause.FALLBACK}
    assert world.records("asr.words.dead") == []


def test_a_record_that_nothing_can_commit_is_given_up_after_it_was_tried_alone() -> None:
    isolation, told = PoisonIsolation(RetryHistory(until_offset=10)), []
    for _ in range(12):
        decision = isolation.decide(5)
        told.append(decision)
        if decision is StepDecision.GIVE_UP:
            break
        if decision is StepDecision.READ_AGAIN:
            isolation.committed()  # the announcement commits; the record itself never does
            _, tries = isolation.noted(5)
        else:
            isolation = PoisonIsolation(
                RetryHistory(until_offset=10, record_tries=tries)
            )  # a new owner, who read the announcement
    assert told == [
        *[StepDecision.READ_AGAIN, StepDecision.APPLY] * 3,
        StepDecision.READ_AGAIN,
        StepDecision.APPLY_UNLABELLED,
        StepDecision.GIVE_UP,
    ]


def test_beyond_where_isolation_ends_nothing_is_slowed() -> None:
    isolation = PoisonIsolation(RetryHistory(until_offset=10))
    assert [isolation.decide(offset) for offset in (10, 11, 12)] == [StepDecision.APPLY] * 3


def test_an_isolated_checkpoint_holds_one_record_and_the_rest_is_read_again() -> None:
    isolation = PoisonIsolation(RetryHistory(until_offset=10))
    assert isolation.decide(3) is StepDecision.READ_AGAIN
    assert isolation.committed()
    assert [isolation.decide(offset) for offset in (3, 4, 5)] == [
        StepDecision.APPLY,
        StepDecision.READ_AGAIN,
        StepDecision.READ_AGAIN,
    ]
    assert isolation.committed()
    assert isolation.decide(4) is StepDecision.READ_AGAIN


def test_each_isolated_checkpoint_that_commits_doubles_the_next_and_a_new_claim_begins_with_one() -> None:
    isolation, next_offset, held = PoisonIsolation(RetryHistory(until_offset=100)), 0, []
    for _ in range(5):
        assert isolation.decide(next_offset) is StepDecision.READ_AGAIN
        isolation.committed()
        applied = 0
        while isolation.decide(next_offset + applied) is StepDecision.APPLY:
            applied += 1
        isolation.committed()
        next_offset += applied
        held.append(applied)
    assert held == [1, 2, 4, 8, 16]
    isolation = PoisonIsolation(RetryHistory(until_offset=100, record_tries=1))
    assert isolation.decide(next_offset) is StepDecision.READ_AGAIN
    isolation.committed()
    decision = [isolation.decide(next_offset), isolation.decide(next_offset + 1)]
    assert decision == [StepDecision.APPLY, StepDecision.READ_AGAIN]


@pytest.mark.parametrize(("token", "committed_token", "claims"), [(1, None, 1), (5, 4, 1), (9, 4, 5)])
def test_tokens_tell_how_often_a_partition_was_claimed_without_a_commit(
    token: int, committed_token: int | None, claims: int
) -> None:
    committed = None
    if committed_token is not None:
        identity = CheckpointId(committed_token, 1, "0123456789abcdef")
        committed = OffsetMetadata(
            id=identity,
            topic="asr.words",
            partition=0,
            next_offset=0,
            replay_offset=0,
            partitions=1,
            transactional_id="caesura-0",
        )
    assert claims_without_commit(token, committed) == claims


def test_offset_metadata_comes_back_from_its_text() -> None:
    metadata = OffsetMetadata(
        id=CheckpointId(7, 12, "0123456789abcdef"),
        replay_offset=100,
        partitions=12,
        transactional_id="caesura-3",
        topic="asr.words",
        partition=0,
        next_offset=0,
        isolated_until_offset=140,
        tries=2,
    )
    assert OffsetMetadata.decode(metadata.encode()) == metadata
    assert OffsetMetadata.decode("somebody else's") is None
    assert OffsetMetadata.decode(None) is None
