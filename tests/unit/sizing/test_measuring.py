"""The measurement finds what a machine of a known speed carries, and leaves words as it should."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from typing_extensions import override

from caesura.schemas.labels import Labels
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.engine import EngineWork
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.sizing.measuring import OVERHEAD, Measured, Measurement
from caesura.worker.sizing.speech import EVENT_WORDS, WORDS_A_SECOND

STEP_WORDS = DecodingRules().step_words


class Machine(ScriptedEngine):
    """An engine whose steps take a time that is known; its clock is the processor's."""

    def __init__(self, *, step_s: float, batch_s: float = 0.0) -> None:
        super().__init__(script=marked_words)
        self._step_s = step_s
        self._batch_s = batch_s
        self.spent_s = 0.0

    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        self.spent_s += self._batch_s + self._step_s * len(requests)
        return super().label(requests)

    def clock_s(self) -> float:
        return self.spent_s


class Keeper(Machine):
    """An engine that keeps rows in memory that was there before, as the first slabs of a network's are."""

    @property
    @override
    def work(self) -> EngineWork:
        return EngineWork(kept_sessions=8, kept_bytes=8 * 2**30)


def measured(machine: Machine, *, most: int = 512, seconds: float = 4.0) -> Measured:
    measurement = Measurement(machine, RuntimeSettings(), DecodingRules(), clock_s=machine.clock_s)
    return measurement.run(seconds=seconds, first_sessions=8, most_sessions=most)


def test_as_many_sessions_fit_as_the_engines_steps_leave_room_for() -> None:
    step_s = 0.02
    one_core = 1 / (WORDS_A_SECOND / STEP_WORDS * step_s * OVERHEAD)
    assert one_core > 40
    found = measured(Machine(step_s=step_s)).live_sessions
    assert 0.75 * one_core < found <= 1.05 * one_core


def test_twice_the_speed_carries_about_twice_the_sessions() -> None:
    slow, fast = (measured(Machine(step_s=step_s)).live_sessions for step_s in (0.01, 0.005))
    assert 1.6 < fast / slow < 2.4


def test_what_a_batch_costs_is_shared_by_the_sessions_in_it() -> None:
    found = measured(Machine(step_s=0.0005, batch_s=0.02), most=128)
    prices = [stage.cpu_s_per_million_words for stage in found.stages]
    assert [stage.sessions for stage in found.stages] == [8, 16, 32, 64, 128]
    assert prices[0] > 2 * prices[-1]
    assert all(more < 1.05 * fewer for fewer, more in pairwise(prices))


def test_the_rise_ends_where_it_is_told_to() -> None:
    found = measured(Machine(step_s=1e-6), most=20)
    assert [stage.sessions for stage in found.stages] == [8, 16]
    assert all(stage.fits for stage in found.stages)
    assert found.live_sessions == 16


def test_a_machine_that_is_too_slow_for_anybody_carries_none() -> None:
    found = measured(Machine(step_s=3.0), seconds=1.0)
    assert found.live_sessions == 0
    assert not any(stage.fits for stage in found.stages)


def test_a_backlogs_price_is_what_its_steps_take() -> None:
    found = measured(Machine(step_s=0.009), most=8)
    assert abs(found.cpu_s_per_million_words - 0.009 / STEP_WORDS * 1e6) < 0.05 * 0.009 / STEP_WORDS * 1e6
    assert EVENT_WORDS == 2


def test_a_session_takes_no_less_than_the_rows_that_are_kept_of_it() -> None:
    found = measured(Keeper(step_s=1e-6), most=16)
    assert found.session_bytes == found.row_bytes == 2**30
