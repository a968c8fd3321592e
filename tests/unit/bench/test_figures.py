"""What the benchmarks make of what they measured."""

from __future__ import annotations

from bench.cost_split import split
from bench.end_to_end import heard_in_time
from bench.hand_over import longest_gaps
from bench.live_load import Heard, own_delays, percentiles
from bench.staged_worker import STAGES, StageClock
from caesura.schemas.segments import Cause
from tests.harness.speech import speech


def heard(session: str, read_ms: float, *, frozen_ms: int = 0, partition: int = 0, words: int = 5) -> Heard:
    return Heard(
        session=session,
        partition=partition,
        words=words,
        cause=Cause.SENTENCE,
        appended_ms=0,
        frozen_ms=frozen_ms,
        read_ms=read_ms,
    )


def test_a_segments_own_delay_runs_from_the_last_event_before_its_freeze() -> None:
    appended_ms = {"a": [1000, 1800, 2600], "b": [500]}
    came = [heard("a", 1900, frozen_ms=1850), heard("b", 700, frozen_ms=600), heard("a", 2000, words=0)]
    assert own_delays(came, appended_ms) == [100, 200]


def test_a_freeze_before_any_append_counts_from_the_first_of_its_session() -> None:
    came = [heard("a", 1900, frozen_ms=950)]  # the clocks of a broker and of a worker differ by a little
    assert own_delays(came, {"a": [1000, 1800, 2600]}) == [900]


def test_percentiles_of_nothing_are_none() -> None:
    assert percentiles([]) == {}
    assert percentiles([float(n) for n in range(1, 101)]) == {"p50": 51.0, "p99": 100.0, "max": 100.0}


def test_a_pause_is_the_longest_time_between_two_segments_of_a_partition() -> None:
    came = [heard("a", at, partition=0) for at in (0, 100, 900)] + [heard("b", at, partition=1) for at in (0, 50, 100)]
    assert longest_gaps(came, {0, 1}, 0, 1000) == {"median": 900, "longest": 900}
    assert longest_gaps(came, {0}, 0, 1000) == {"median": 800, "longest": 800}
    assert longest_gaps(came, {7}, 0, 1000) == {"median": 1000, "longest": 1000}, "nothing was heard of it at all"
    assert longest_gaps(came, set(), 0, 1000) == {}


def test_stages_add_up_to_the_threads_time_and_hold_none_of_what_they_call() -> None:
    time_s = [0.0]

    def clock() -> float:
        return time_s[0]

    def network() -> None:
        time_s[0] += 5.0

    def core() -> None:
        time_s[0] += 1.0
        label()
        time_s[0] += 2.0

    stages = StageClock(clock)
    label, step = stages.timed("network", network), stages.timed("core", core)
    time_s[0] += 10.0
    step()
    told = stages.told()
    assert (told["loop"], told["core"], told["network"]) == (10.0, 3.0, 5.0)
    assert sum(told.values()) == time_s[0]
    stages.begin()
    assert sum(stages.told().values()) == 0.0


def test_every_stage_times_something_that_there_is() -> None:
    assert all(callable(getattr(owner, name)) for places in STAGES.values() for owner, name in places)


def test_the_split_is_a_price_a_word_and_keeps_the_start_apart() -> None:
    stages = dict.fromkeys(("loop", *STAGES), 0.0) | {"network": 6.0, "core": 2.0, "commit": 1.0}
    told: dict[str, object] = {
        "stages_s": stages,
        "start_s": 3.0,
        "whole_s": 13.0,
        "client_threads_s": 1.0,
        "calls": {},
        "timing_s": 0.01,
    }
    made = split(told, words=10_000, cpu_s=13.5)
    assert made["cpu_s_per_million_words"] == 1000.0
    assert made["around"] == 1.25
    assert made["unaccounted_cpu_s"] == 0.5
    assert made["all_but_the_network_cpu_s_per_million_words"] == 400.0
    assert made["of_it_the_timing"] == 1.0


def test_where_one_stage_is_timed_all_the_others_are_the_loops() -> None:
    time_s = [0.0]
    stages = StageClock(lambda: time_s[0], ("network",))
    time_s[0] = 4.0
    assert stages.told() == {"loop": 4.0, "network": 0.0}

    told: dict[str, object] = {
        "stages_s": {"loop": 2.0, "network": 6.0},
        "start_s": 3.0,
        "whole_s": 12.0,
        "client_threads_s": 1.0,
        "calls": {"network": 1},
        "timing_s": 0.0,
    }
    made = split(told, words=10_000, cpu_s=12.0)
    assert made["all_but_the_network_cpu_s_per_million_words"] == 300.0
    assert "around" not in made
    told["stages_s"] = {"loop": 6.0, "core": 2.0}
    assert "all_but_the_network_cpu_s_per_million_words" not in split(told, words=10_000, cpu_s=12.0)


def test_what_the_timing_costs_is_what_a_timed_call_takes_besides_the_call() -> None:
    looks = 0

    def clock() -> float:
        nonlocal looks
        looks += 1  # a second passes with each look at the clock, and with nothing else
        return float(looks)

    assert StageClock(clock).cost_s(calls=100) == 2.0


def test_live_events_say_how_far_was_heard_and_their_end_hears_no_more() -> None:
    spoken = heard_in_time(speech("a", 6, a_time=2))
    assert [one.heard_until_ms for one in spoken] == [800, 1600, 2400, 2400]
