"""A claim's token, the offset that it waits for, and why it waits."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

import caesura.worker.errors
from caesura.schemas.checkpoint import CheckpointId, OffsetMetadata
from caesura.worker.errors import BrokerError, FatalError, RetriableError, StoreError, UnprovenOffsetError
from caesura.worker.ports.commit_steps import CommitStep, CommitStepReached
from caesura.worker.ports.observer import Event, SilentObserver, TookOver
from caesura.worker.ports.reasons import ClaimWaitReason
from caesura.worker.ports.records import CommittedOffset
from caesura.worker.runtime.ledger.stable_offset import StableOffset
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import RuntimeSettings
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.speech import event


def _ids(world: World) -> tuple[int, int]:
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    assert committed is not None
    token, n, _ = committed.metadata.split()[4].split(".")
    return int(token), int(n)


def test_each_claim_has_a_larger_token_also_where_redis_is_lost() -> None:
    world = World()
    tokens = []
    for _ in range(4):
        worker = world.worker()
        worker.settle()
        worker.worker.drain()
        world.redis.lose_everything()
        tokens.append(_ids(world)[0])
    assert tokens == [1, 2, 3, 4]


def test_a_claim_exceeds_the_committed_token_if_the_group_forgot_claims() -> None:
    world = World()
    world.raise_token(0, 41)
    first = world.worker()
    first.settle()
    first.worker.drain()
    assert _ids(world)[0] == 42
    world.broker.leave("caesura", "asr.words", 0, lambda _: "")
    world.redis.lose_everything()
    second = world.worker()
    second.settle()
    assert _ids(world)[0] == 43


def test_claims_without_a_commit_are_counted_by_the_token() -> None:
    world = World()
    first = world.worker()
    first.settle()
    world.broker.expel("caesura", "asr.words", first.source.member_id)
    for _ in range(3):
        dying = world.worker()
        dying.worker.turn(0.0)
        world.broker.expel("caesura", "asr.words", dying.source.member_id)
    world.redis.lose_everything()
    last = world.worker()
    last.settle()
    assert _ids(world)[0] == 5


def test_a_failed_call_is_named_as_its_error_is() -> None:
    kinds = [
        kind
        for _, kind in inspect.getmembers(caesura.worker.errors, inspect.isclass)
        if issubclass(kind, RetriableError)
    ]
    assert {ClaimWaitReason.of_fault(kind("away")) for kind in kinds} == {kind.__name__ for kind in kinds}


def test_an_error_without_a_name_of_its_own_is_called_by_what_it_is_one_of() -> None:
    class TimeOutError(StoreError):
        pass

    assert ClaimWaitReason.of_fault(TimeOutError("away")) is ClaimWaitReason.STORE_FAILED


def test_only_a_refused_save_says_that_something_newer_may_own_it() -> None:
    assert [reason for reason in ClaimWaitReason if reason.fenced] == [ClaimWaitReason.SAVE_REFUSED]


class _AtPublished(SilentObserver):
    """Does something to the worker once what it staged is published, and not committed yet."""

    def __init__(self, *, claim_again: bool) -> None:
        self.worker: InMemoryWorker | None = None
        self._claim_again = claim_again

    def note(self, event: Event) -> None:
        if self.worker is None or not (isinstance(event, CommitStepReached) and event.step is CommitStep.PUBLISHED):
            return
        assignment, self.worker = self.worker.worker.assignment, None
        if self._claim_again:
            assignment.claim_again(0, ClaimWaitReason.SAVE_REFUSED)
        else:
            assignment.on_lost([0])


@pytest.mark.parametrize("claim_again", [False, True], ids=["let go", "claimed again"])
def test_a_partition_that_is_not_held_any_more_is_not_committed(*, claim_again: bool) -> None:
    world, observer = World(), _AtPublished(claim_again=claim_again)
    worker = world.worker(observer=observer)
    worker.settle()
    observer.worker = worker
    before = world.broker.last_committed("caesura", "asr.words", 0)
    world.send(event("ann", 0, "one", session_end=True))
    with pytest.raises(FatalError, match="partitions \\[0\\] were let go or claimed again"):
        worker.settle()
    assert world.broker.last_committed("caesura", "asr.words", 0) == before
    assert world.segments() == []


_PEER = OffsetMetadata(
    id=CheckpointId(3, 4, "0011223344556677"),
    topic="asr.words",
    partition=0,
    next_offset=0,
    replay_offset=0,
    transactional_id="caesura-7",
    partitions=1,
)

_OPEN = BrokerError("a transaction is open")
_UNPROVEN = UnprovenOffsetError("there is no topic caesura.claims")


class _Kafka:
    """Answers no question for an offset but with one error, and keeps whose transactions were ended."""

    def __init__(self, error: BrokerError) -> None:
        self.error = error
        self.now_s = 0.0
        self.ended: list[str] = []
        self.told: list[Event] = []

    def committed(self, partitions: list[int], timeout_s: float, *, leave: Callable[[str], str]) -> None:
        del partitions, timeout_s, leave
        raise self.error

    def monotonic_s(self) -> float:
        return self.now_s

    def committed_offsets(self, timeout_s: float) -> dict[int, CommittedOffset]:
        del timeout_s
        return {0: CommittedOffset(next_offset=0, metadata=_PEER.encode())}

    def end(self, transactional_id: str, timeout_s: float) -> None:
        del timeout_s
        self.ended.append(transactional_id)

    def note(self, event: Event) -> None:
        self.told.append(event)


def _offset(kafka: _Kafka) -> StableOffset:
    parts = SimpleNamespace(source=kafka, clock=kafka, peers=kafka, observer=kafka)
    return StableOffset(0, cast("RuntimeAdapters", cast("Any", parts)), RuntimeSettings(takeover_after_ms=15_000))


def _waited(kafka: _Kafka, offset: StableOffset, seconds: int) -> None:
    for _ in range(seconds):
        with pytest.raises(BrokerError):
            offset.read(str)
        kafka.now_s += 1.0


def test_a_transaction_that_stays_open_for_long_is_ended() -> None:
    kafka = _Kafka(_OPEN)
    _waited(kafka, _offset(kafka), 20)
    assert kafka.ended == ["caesura-7"]
    assert kafka.told == [TookOver(partition=0, transactional_id="caesura-7")]


def test_with_an_unproven_answer_no_transaction_is_ended() -> None:
    kafka = _Kafka(_UNPROVEN)
    _waited(kafka, _offset(kafka), 60)
    assert (kafka.ended, kafka.told) == ([], [])


def test_time_without_an_open_transaction_does_not_count() -> None:
    kafka = _Kafka(_OPEN)
    offset = _offset(kafka)
    for error in (_OPEN, _UNPROVEN, _OPEN):
        kafka.error = error
        _waited(kafka, offset, 10)
    assert kafka.ended == []
