"""What stays of the words before a cut: left context for the next sentence, frozen, and never published again."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from caesura.schemas.labels import Punctuation
from caesura.schemas.segments import Cause
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.language.rules import DecodingRules
from tests.harness.partition_driver import MARKED, Driver, event, numbered
from tests.harness.speech import said


@pytest.mark.parametrize(("context_words", "kept"), [(0, 0), (2, 2), (10, 4)])
def test_the_last_words_before_a_cut_stay_as_left_context_and_come_out_once(context_words: int, kept: int) -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(max_context_words=0, context_words=context_words))
    driver.give(event(0, "one two three four-stop " + numbered(8)))
    assert driver.requests[-1].words[:4] == ("one", "two", "three", "four-stop")
    driver.give(event(1, "twelve thirteen fourteen", session_end=True))

    assert driver.requests[-1].words[: kept + 1] == (*("one", "two", "three", "four-stop")[4 - kept :], "n0")
    assert [said([one])[-1] for one in driver.segments] == ["four-stop", "fourteen"]
    assert len(said(driver.segments)) == 4 + 8 + 3


def test_several_sentences_that_end_in_one_step_leave_the_context_before_the_last_of_them() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(step_words=12, max_context_words=0, context_words=2))
    driver.give(event(0, "one two-stop three four five-ask " + numbered(7) + " " + numbered(12)))

    assert [said([one]) for one in driver.segments] == [["one", "two-stop"], ["three", "four", "five-ask"]]
    assert driver.requests[-1].words[:3] == ("four", "five-ask", "n0")


def test_left_context_is_the_first_to_go_where_the_buffer_is_full() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(max_buffer_words=24))
    driver.give(event(0, "one two three-stop " + numbered(21)))

    assert [(one.cause, len(one.words)) for one in driver.segments] == [(Cause.SENTENCE, 3)]
    assert driver.state().buffer[0].view == "n0"


def test_labels_of_left_context_are_final_whatever_the_network_says_of_them_later() -> None:
    def changes_its_mind(_model: str, words: Sequence[str], position: int, _look_ahead: int) -> tuple[int, int]:
        ends = words[position] == "stop" or (words[position] == "two" and "late" in words)
        return (Punctuation.PERIOD if ends else Punctuation.NONE), 0

    driver = Driver(engine=ScriptedEngine(script=changes_its_mind))
    driver.give(event(0, "one two stop " + numbered(6)))
    driver.give(event(1, "late late late", session_end=True))

    assert [said([one]) for one in driver.segments] == [
        ["one", "two", "stop"],
        [*numbered(6).split(), "late", "late", "late"],
    ]
    assert driver.requests[-1].words[:3] == ("one", "two", "stop")
    assert driver.segments[0].words[1].punctuation == "none"
