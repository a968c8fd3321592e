"""Timers wait for their partition's leader; leaders that do not answer hold up neither the loop nor the others."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping

import pytest

from tests.workers.speech import by_session, event, said
from tests.workers.twin import TwinWorker, World
from worker.core.partitioning import murmur2_partition
from worker.errors import BrokerError
from worker.telemetry.health import Health
from worker.telemetry.log import make_log
from worker.telemetry.metrics import Metrics
from worker.telemetry.observer import TelemetryObserver

PARTITIONS = 20
TIMEOUT_S = 2.0
LONGEST_TURN_S = 2 * TIMEOUT_S + 1.0
"""What asking leaders may take: a budget of one time-out, one that is asked within it, and the poll."""
SILENCE_S = 5.0
"""Longer than the silence after which a buffer is flushed, and than the leader's last word counts."""


class Leaders:
    """Twenty partitions in which somebody fell silent, and how long each leader takes to confirm the end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world = World(partitions=PARTITIONS)
        self.health = Health(self.world.clock.monotonic_s)
        observer = TelemetryObserver(log=make_log(io.StringIO()), metrics=Metrics(), health=self.health)
        self.worker: TwinWorker = self.world.worker(observer=observer, claim_timeout_s=TIMEOUT_S)
        self.names = one_session_a_partition()
        self.takes_s: dict[int, float] = {}
        self._at_end = self.worker.source.at_end
        monkeypatch.setattr(self.worker.source, "at_end", self._asked)
        self.worker.turn(3)
        self.speak(0, self.names.values())

    def speak(self, seq: int, names: Iterable[str]) -> None:
        """Have sessions say a word, and fall silent for longer than their timers allow."""
        now_ms = self.world.clock.wall_ms()
        self.world.send(*(event(name, seq, f"word-{seq}") for name in names), timestamp_ms=now_ms)
        self.worker.turn(8)
        self.world.clock.pass_s(SILENCE_S)

    def turn(self) -> float:
        """Turn once; return how long that took."""
        began_s = self.world.clock.monotonic_s()
        self.worker.turn()
        return self.world.clock.monotonic_s() - began_s

    @property
    def flushed(self) -> Mapping[str, list[str]]:
        return {name: said(found) for name, found in by_session(self.world.segments()).items()}

    def _asked(self, partition: int, next_offset: int, timeout_s: float) -> bool:
        takes_s = self.takes_s.get(partition, 0.0)
        self.world.clock.pass_s(min(takes_s, timeout_s))
        if takes_s > timeout_s:
            raise BrokerError(f"the leader of partition {partition} does not answer")
        return self._at_end(partition, next_offset, timeout_s)


def one_session_a_partition() -> dict[int, str]:
    names: dict[int, str] = {}
    number = 0
    while len(names) < PARTITIONS:
        name = f"ann-{number}"
        names.setdefault(murmur2_partition(name.encode(), PARTITIONS), name)
        number += 1
    return names


def test_leaders_that_are_all_away_leave_the_turn_short_and_the_worker_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    leaders = Leaders(monkeypatch)
    leaders.takes_s = dict.fromkeys(range(PARTITIONS), 60.0)
    for _ in range(30):
        assert leaders.turn() < LONGEST_TURN_S
        assert leaders.health.why_not_alive() == ()
    assert "leader: BrokerError" in leaders.health.why_not_ready()
    assert leaders.flushed == {}


def test_leaders_that_are_back_have_every_timer_fired_and_the_worker_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    leaders = Leaders(monkeypatch)
    leaders.takes_s = dict.fromkeys(range(PARTITIONS), 60.0)
    for _ in range(5):
        leaders.turn()
    leaders.takes_s = {}
    for _ in range(10):
        leaders.turn()
    assert leaders.flushed == {name: ["word-0"] for name in leaders.names.values()}
    assert leaders.health.why_not_ready() == ()


@pytest.mark.parametrize("away", [{0}, {19}, {0, 1, 2, 3, 4, 10, 11, 12, 19}])
def test_partitions_whose_leader_answers_get_their_timers_where_others_never_answer(
    monkeypatch: pytest.MonkeyPatch, away: set[int]
) -> None:
    leaders = Leaders(monkeypatch)
    leaders.takes_s = dict.fromkeys(away, 60.0)
    others = {name for partition, name in leaders.names.items() if partition not in away}
    for seq in (1, 2):
        for _ in range(len(away) + 3):  # one to find each that is away, one to ask the others, two to commit
            leaders.turn()
        assert leaders.flushed == {name: [f"word-{number}" for number in range(seq)] for name in others}
        leaders.speak(seq, others)


def test_leaders_that_are_slow_to_answer_share_the_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    leaders = Leaders(monkeypatch)
    leaders.takes_s = dict.fromkeys(range(PARTITIONS), 0.75 * TIMEOUT_S)
    for _ in range(PARTITIONS):
        assert leaders.turn() < LONGEST_TURN_S
    assert leaders.flushed == {name: ["word-0"] for name in leaders.names.values()}


def test_a_leader_that_is_away_says_nothing_about_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    leaders = Leaders(monkeypatch)
    leaders.takes_s = {0: 60.0}
    for _ in range(10):
        leaders.turn()
    backlog = [event(leaders.names[1], seq, "word") for seq in range(1, 60)]
    leaders.world.send(*backlog)
    leaders.turn()
    assert leaders.worker.worker.assignment.loaded[1].next_offset == len(backlog) + 1
