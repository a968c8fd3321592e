"""What is seen of a stream on its way: the same labels as everywhere, when they froze, and what they cost."""

from __future__ import annotations

import pytest

from caesura.models.decoding.labelled_stream import WatchedEngine, run_stream
from caesura.models.decoding.labelling_runs import label_streams
from caesura.models.evaluation.stability import growing_input, runs_of, stabilities, streams_of
from caesura.models.evaluation.sweeps import GoldText, chunks, decoded, figures_table, stream, sweep
from caesura.schemas.events import Emission
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.core.language.rules import DecodingRules
from tests.harness.models.documents import talk

WORDS = [f"word-{number}" if number % 7 else "word-stop" for number in range(1, 120)]


def watched() -> WatchedEngine:
    return WatchedEngine(ScriptedEngine(script=marked_words), clock=lambda: 0.0)


def test_a_watched_stream_has_the_labels_of_any_other() -> None:
    engine = ScriptedEngine()
    stream = run_stream(WatchedEngine(engine), WORDS)
    assert (stream.marks, stream.tags) == label_streams(engine, [WORDS], language="en")[0]


def test_a_sentence_of_a_stream_freezes_when_enough_words_are_after_it() -> None:
    stream = run_stream(watched(), ["a", "b-stop", *"cdefghijkl"])
    # T = 6 words are after the stop when eight are in, and F = 3 lets a step look at nine.
    assert stream.frozen_at[:2] == [9, 9]
    assert stream.delays[:2] == [8, 7]
    assert stream.delays[-1] == 0


def test_no_settled_word_waits_longer_than_the_look_ahead_and_a_step() -> None:
    stream = run_stream(watched(), WORDS, rules=DecodingRules(emission=Emission.SETTLED, min_settled_words=1))
    assert max(stream.delays) == 9 + 3 - 1


def test_every_labelling_is_seen_with_what_it_read() -> None:
    engine = watched()
    stream = run_stream(engine, ["a", "b", "c", "d"])
    assert [(step.start, step.heard) for step in stream.steps] == [(0, 3), (0, 4)]
    assert engine.buffer_words == 7


def test_what_is_published_scores_as_perfectly_stable_and_a_screen_does_not() -> None:
    documents = [talk(300, seed=1), talk(300, seed=2)]
    streams = streams_of(WatchedEngine(ScriptedEngine(look_ahead_words=9)), documents)
    rows = {row.shown: row for row in stabilities(streams, documents) if row.kind == "marks"}
    assert rows["published, sentence"].normalised_erasure == 0
    assert rows["published, settled"].edit_overhead == 0
    assert rows["screen"].edit_overhead > 0.1
    assert rows["screen"].average_wait_words == pytest.approx(1, abs=0.1)


def test_raw_marks_of_a_growing_input_change_as_far_back_as_the_look_ahead() -> None:
    engine = ScriptedEngine(look_ahead_words=4)
    words, moments = growing_input(engine, "scripted-en@1", [WORDS])
    assert max(words) == max(moments) == 4
    assert words.total() == len(WORDS)


def test_marks_that_stand_together_are_runs_of_their_own_and_tags_are_one() -> None:
    assert list(runs_of([2, 2, 0], frozenset((2,)), kind="marks")) == [(0, 1), (1, 2)]
    assert list(runs_of([0, 1, 2, 0, 1], frozenset((1, 2)), kind="tags")) == [(1, 3), (4, 5)]


def test_a_row_counts_delay_and_cost_by_the_word() -> None:
    times = iter(range(100))
    engine = ScriptedEngine(script=marked_words)
    text = GoldText(name="own", texts=[["a", "b-stop", "c", "d-stop"]], gold=[0, 2, 0, 2])
    row = decoded(engine, text, stream(), clock=lambda: next(times))
    assert row.overall.f1 == 100
    assert row.delay_mean_words == pytest.approx((3 + 2 + 1 + 0) / 4)
    assert row.buffer_words_a_word == pytest.approx(7 / 4)
    assert row.cpu_s_a_million_words == pytest.approx(2 / 4 * 1e6)


def test_a_table_pairs_every_row_with_the_first() -> None:
    engine = ScriptedEngine(script=marked_words)
    text = GoldText(name="own", texts=[["a", "b-stop", "c", "d-stop"]], gold=[0, 2, 0, 2])
    rows = [decoded(engine, text, way) for way in (stream(), chunks())]
    first, second = figures_table(rows).splitlines()[2:]
    assert "| · |" in first
    assert "| +0.0 (+0.0 to +0.0) |" in second


def test_chunks_read_a_word_about_twice() -> None:
    engine = ScriptedEngine(script=marked_words)
    text = GoldText(name="own", texts=[WORDS * 10], gold=[0] * len(WORDS) * 10)
    assert decoded(engine, text, chunks()).buffer_words_a_word == pytest.approx(2, abs=0.05)


def test_no_decoding_of_the_sweep_is_run_twice() -> None:
    names = [way.name for way in sweep()]
    assert len(names) == len(set(names)) > 15
