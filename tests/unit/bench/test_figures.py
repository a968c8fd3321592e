"""What the benchmarks make of what they measured."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch

from bench.cost_split import split
from bench.end_to_end import heard_in_time
from bench.engine_exactness import Agreement
from bench.funasr.same_text import COMMA, PERIOD, look_up, sentences, vocabulary
from bench.hand_over import longest_gaps
from bench.inference_time import buffers_of, keeping
from bench.live_load import Heard, own_delays
from bench.staged_worker import STAGES, StageClock
from caesura.schemas.segments import Cause
from tests.harness.models.networks import VOCABULARY, document, exported, tiny_network
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


def test_a_pause_is_the_longest_time_between_two_segments_of_a_partition() -> None:
    came = [heard("a", at, partition=0) for at in (0, 100, 900)] + [heard("b", at, partition=1) for at in (0, 50, 100)]
    assert longest_gaps(came, {0, 1}, 0, 1000) == {"median": 900, "longest": 900}
    assert longest_gaps(came, {0}, 0, 1000) == {"median": 800, "longest": 800}
    assert longest_gaps(came, {7}, 0, 1000) == {"median": 1000, "longest": 1000}, "nothing was heard of it at all"
    assert longest_gaps(came, set(), 0, 1000) == {}


def test_stages_add_up_to_the_threads_time_without_their_callees() -> None:
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


def test_live_events_say_how_far_was_heard_and_their_end_hears_no_more() -> None:
    spoken = heard_in_time(speech("a", 6, a_time=2))
    assert [one.heard_until_ms for one in spoken] == [800, 1600, 2400, 2400]


pytest.importorskip("torch")


pytestmark = pytest.mark.torch


def test_states_are_kept_exactly_as_long_as_a_buffer_goes_on(tmp_path: Path) -> None:
    network = tiny_network()
    exported(network, tmp_path / "en", int8=False)
    buffers = list(buffers_of([document(40).words, document(20, seed=2).words], tmp_path, VOCABULARY))
    label = keeping(network)
    assert 1 < sum(not buffer.goes_on for buffer in buffers) < len(buffers)
    with torch.inference_mode():
        for buffer in buffers:
            expected = network(buffer.pieces, buffer.word_index)
            torch.testing.assert_close(label(buffer)[0], expected[0], atol=1e-4, rtol=1e-4)


TOLD: dict[str, object] = {"command": "this one", "models": ["a@1", "b@2"], "cpu": "this one", "epsilon": 0.25}


def test_a_repeated_command_resumes_its_counts(tmp_path: Path) -> None:
    counted = Agreement(steps=7, labels=90, flips=2, largest_margin_of_a_flip=0.04, words={"ami": 400})
    (tmp_path / "result.json").write_text(json.dumps(TOLD | {"rounds": 3, "words_decoded": 400} | asdict(counted)))
    counted.words.clear()
    assert Agreement.so_far(tmp_path / "result.json", TOLD) == (counted, 3)


@pytest.mark.parametrize("name", TOLD)
def test_a_result_of_another_command_is_ignored(name: str, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps(TOLD | {name: "other", "rounds": 3} | asdict(Agreement(steps=7))))
    assert Agreement.so_far(tmp_path / "result.json", TOLD) == (Agreement(), 0)


@pytest.mark.parametrize(("epsilon", "clear"), [(0.5, 1), (1.0, 0)])
def test_a_label_that_differs_is_clear_from_the_models_own_margin_on(epsilon: float, clear: int) -> None:
    counted = Agreement()
    streamed, full = np.array([[1.0, 1.1], [3.0, 0.0]], np.float32), np.array([[1.7, 1.0], [2.0, 0.0]], np.float32)
    counted.compare([streamed], [full], epsilon=epsilon)
    assert (counted.labels, counted.flips, counted.clear_flips) == (2, 1, clear)
    assert counted.largest_margin_of_a_flip == pytest.approx(0.7)


def test_a_command_without_a_result_starts_at_zero(tmp_path: Path) -> None:
    assert Agreement.so_far(tmp_path / "result.json", TOLD) == (Agreement(), 0)


MODELS = Path(__file__).parents[3] / "models" / "shipped"


def test_sentences_end_where_the_look_up_says_and_never_twice_in_ten_words() -> None:
    words = vocabulary(MODELS)
    decided = look_up(words)
    for text in sentences(words, sessions=5, session_words=200):
        ends = [place for place, word in enumerate(text) if decided[word] == PERIOD]
        assert ends[-1] == len(text) - 1
        assert min(after - before for before, after in zip([-1, *ends], ends, strict=False)) > 10
        assert sum(decided[word] == COMMA for word in text) == 3 * len(ends)


def test_every_word_is_one_piece_and_there_are_enough() -> None:
    words = vocabulary(MODELS)
    assert len(words) == len(set(words)) == 720
    assert sentences(words, 2, 50) == sentences(words, 2, 50)
