"""A commit that nobody answers in time is not asked again: whoever claims next reads what became of it (ADR 0047)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from typing_extensions import override

from caesura.worker.errors import BrokerError
from caesura.worker.ports.commit_steps import CheckpointTaken
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.reasons import CheckpointOutcome
from caesura.worker.ports.records import NextOffset
from caesura.worker.ports.word_source import GroupMembership
from tests.harness.heard import Heard
from tests.harness.in_memory_world import World
from tests.harness.speech import check_every_word_once, speech
from tests.harness.unsure import UnsurePublisher


class SlowToSend(UnsurePublisher):
    """The offsets take all the time that a transaction has. given_s: what each commit was given."""

    def __init__(self, sure: Publisher, world: World) -> None:
        super().__init__(sure)
        self._world = world
        self.given_s: list[float] = []

    @override
    def send_offsets(self, offsets: Mapping[int, NextOffset], membership: GroupMembership, timeout_s: float) -> None:
        super().send_offsets(offsets, membership, timeout_s)
        self._world.clock.pass_s(timeout_s)

    @override
    def commit(self, timeout_s: float) -> None:
        self.given_s.append(timeout_s)
        super().commit(timeout_s)


@pytest.mark.parametrize("happened", [False, True])
def test_it_is_called_once_and_no_word_is_lost_or_doubled(*, happened: bool) -> None:
    world, heard, events = World(), Heard(CheckpointTaken), speech("ann", 40)
    worker = world.worker(observer=heard)
    world.broker.fail("commit", BrokerError("nobody answered"), happened=happened)
    world.send(*events)
    worker.turn(200)
    outcomes = [one.outcome for one in heard.events]
    assert outcomes.count(CheckpointOutcome.COMMIT_UNANSWERED) == 1
    assert CheckpointOutcome.COMMIT_UNKNOWN not in outcomes
    check_every_word_once(events, world.segments())


def test_it_is_given_time_where_the_offsets_took_it_all() -> None:
    world, events = World(), speech("ann", 40)
    slow: list[SlowToSend] = []

    def around(sure: Publisher) -> Publisher:
        slow.append(SlowToSend(sure, world))
        return slow[-1]

    worker = world.worker(around=around)
    world.send(*events)
    worker.turn(200)
    assert min(slow[0].given_s) >= 1.0
    check_every_word_once(events, world.segments())
