"""An outage is never a record's fault: it may last as long as it likes, and every word comes out afterwards."""

from __future__ import annotations

import pytest

from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.errors import (
    AbortableError,
    AwaitedBroker,
    BrokerError,
    BrokerRole,
    CaesuraError,
    OutcomeUnknownError,
)
from caesura.worker.ports.observer import Event, ReadinessReported, SilentObserver
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import OutMessage
from tests.harness.flaws import outage_blames
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.speech import event, said
from tests.harness.unsure import UnsurePublisher

LEADER = AwaitedBroker(role=BrokerRole.LEADER, topic="asr.segments", partition=0)


class DeafLeader(UnsurePublisher):
    """While it is deaf, a transaction with a segment is not committed: its leader answers nothing in time."""

    def __init__(self, sure: Publisher, world: World, error: CaesuraError) -> None:
        super().__init__(sure)
        self.deaf = False
        self._world = world
        self._error = error
        self._error.awaits = LEADER
        self._holds_segment = False

    def begin(self) -> None:
        self._holds_segment = False
        super().begin()

    def publish(self, message: OutMessage) -> None:
        self._holds_segment = self._holds_segment or message.topic == "asr.segments"
        super().publish(message)

    def commit(self, timeout_s: float) -> None:
        if self.deaf and self._holds_segment:
            self._world.clock.pass_s(timeout_s)
            raise self._error
        super().commit(timeout_s)


class Awaited(SilentObserver):
    """Which brokers were awaited, and whether one is now."""

    def __init__(self) -> None:
        self.seen: set[AwaitedBroker] = set()
        self.now: AwaitedBroker | None = None
        self.reasons: set[str] = set()

    def note(self, event: Event) -> None:
        if isinstance(event, ReadinessReported):
            self.now = event.awaits
            self.reasons.update(event.reasons)
            if event.awaits is not None:
                self.seen.add(event.awaits)


def through_an_outage(
    error: CaesuraError, *, lasts_s: float, timers: bool = False
) -> tuple[World, InMemoryWorker, Awaited]:
    """Speak before, during and after a time in which one output partition's leader answers nothing."""
    after_ms = 3_000 if timers else 60_000
    world = World(rules=DecodingRules(flush_after_ms=after_ms, stall_after_ms=after_ms))
    deaf: list[DeafLeader] = []

    def around(publisher: Publisher) -> Publisher:
        deaf.append(DeafLeader(publisher, world, error))
        return deaf[-1]

    heard = Awaited()
    worker = world.worker(around=around, observer=heard)
    world.send(*(event("ann", seq, f"w{seq}", utterance_end=not timers) for seq in range(3)))
    worker.settle()
    deaf[0].deaf = True
    world.send(*(event("ann", seq, f"w{seq}", utterance_end=not timers) for seq in range(3, 15)))
    ends_at_s = world.clock.now_s + lasts_s
    while world.clock.now_s < ends_at_s:
        worker.turn()
    deaf[0].deaf = False
    worker.turn(1500)
    world.send(event("ann", 15, "w15", session_end=True))
    worker.turn(1500)
    return world, worker, heard


@pytest.mark.parametrize("lasts_s", [120, 900])
@pytest.mark.parametrize(
    "error", [BrokerError("no answer"), OutcomeUnknownError("nobody can tell"), AbortableError("too few replicas")]
)
def test_a_leader_away_for_long_costs_no_word(error: CaesuraError, lasts_s: float) -> None:
    world, worker, _ = through_an_outage(error, lasts_s=lasts_s)
    assert said(world.segments()) == [f"w{seq}" for seq in range(16)]
    assert world.records("asr.words.dead") == []
    assert worker.worker.unready() == ()


def test_a_leader_away_parks_no_partition_whose_timers_are_due() -> None:
    world, worker, _ = through_an_outage(BrokerError("no answer"), lasts_s=900, timers=True)
    assert said(world.segments()) == [f"w{seq}" for seq in range(16)]
    assert worker.worker.assignment.parked == {}


def test_readiness_names_the_leader_that_is_awaited() -> None:
    _, _, heard = through_an_outage(BrokerError("no answer"), lasts_s=120)
    assert heard.seen == {LEADER}
    assert "checkpoint: commit_unanswered, awaits the leader of asr.segments [0]" in heard.reasons
    assert heard.now is None


def test_an_outage_that_was_taken_for_a_refusal_would_cost_words(monkeypatch: pytest.MonkeyPatch) -> None:
    outage_blames(monkeypatch)
    world, _, _ = through_an_outage(AbortableError("too few replicas"), lasts_s=900)
    assert said(world.segments()) != [f"w{seq}" for seq in range(16)]
    assert world.records("asr.words.dead") != []
