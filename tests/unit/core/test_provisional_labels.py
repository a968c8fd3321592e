"""Labels of now of words that are not frozen: told where they are wanted, and not a byte of state by it (ADR 0031)."""

from __future__ import annotations

import random

import pytest

from caesura.schemas.events import Emission
from caesura.schemas.segments import Cause
from caesura.schemas.state import encode_state
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.language.rules import DecodingRules
from tests.harness.partition_driver import NOW_MS, Driver, event

DRAWN = [
    DecodingRules(max_context_words=0, context_words=2, look_ahead_words=12, max_buffer_words=60),
    DecodingRules(emission=Emission.SETTLED),
    DecodingRules(look_ahead_words=0, max_buffer_words=12),
]


@pytest.mark.parametrize("rules", DRAWN)
@pytest.mark.parametrize("seed", range(6))
def test_what_is_stored_and_published_is_the_same_bytes_after_every_event(seed: int, rules: DecodingRules) -> None:
    without = Driver(rules=rules, engine=ScriptedEngine())
    looking = Driver(rules=rules, engine=ScriptedEngine(), looks_ahead=True)
    drawn = random.Random(seed)
    for seq in range(25):
        said = " ".join(f"w{drawn.randrange(50)}" for _ in range(drawn.randrange(1, 9)))
        one = event(seq, said, utterance_end=drawn.random() < 0.3)
        restarted = drawn.random() < 0.2
        for driver in (without, looking):
            driver.give(one)
            if restarted:
                driver.restart()
            driver.sessions.settle()
        assert encode_state(looking.state()) == encode_state(without.state())
        assert looking.segments == without.segments


def test_the_labels_of_now_are_those_that_a_labelling_of_all_words_gives() -> None:
    driver = Driver(looks_ahead=True)
    for seq in range(30):
        driver.give(event(seq, f"a{seq}"))
        told = driver.sessions.tentative("s", NOW_MS)
        assert told is not None
        assert told.first_word + told.labelled_words == (seq + 1) // 3 * 3
        for request in driver.requests[-1:]:
            (labels,) = driver.engine.label([request])
            first = request.buffer_start + request.first
            of_now = {first + place: mark for place, mark in enumerate(labels.punctuation)}
            for place, word in enumerate(told.words[: told.labelled_words], start=told.first_word):
                assert (word.punctuation != "none") == bool(of_now.get(place, word.punctuation != "none"))


def test_a_flush_takes_the_labels_that_were_there_and_asks_for_none_again() -> None:
    driver = Driver(looks_ahead=True)
    driver.give(event(0, "one two three"))
    assert len(driver.requests) == 1
    driver.wait(1_000)
    assert [one.cause for one in driver.segments][-1] is Cause.SILENCE
    assert len(driver.requests) == 1
