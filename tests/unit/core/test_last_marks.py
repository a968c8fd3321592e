"""The mark of a session's last word: a sentence ends where the session does (docs/design.md, *Decoding*)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.schemas.events import Emission, SessionOptions
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.language.rules import DecodingRules
from tests.harness.partition_driver import MARKED, Driver, event
from tests.harness.speeches import look_aheads, rules, words


def marks(driver: Driver) -> list[str]:
    return [word.punctuation for segment in driver.segments for word in segment.words]


@pytest.mark.parametrize(
    ("said", "mark"), [("one", "period"), ("one-comma", "period"), ("one-ask", "question"), ("one-stop", "period")]
)
def test_a_session_that_ends_ends_its_sentence(said: str, mark: str) -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, f"zero {said}", session_end=True))

    assert marks(driver) == ["none", mark]
    assert driver.segments[-1].sentence_end


@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_what_a_silence_or_an_utterance_end_has_published_stays_as_it_is(offset: float) -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(silence_end_offset=offset, utterance_end_offset=offset))
    driver.give(event(0, "one-comma", utterance_end=True))
    driver.give(event(1, "two-comma"))
    driver.wait(2_000)
    driver.give(event(2, session_end=True))

    assert marks(driver) == ["comma", "comma"]
    assert [request.offsets.sentence_end for request in driver.requests] == [offset, offset]


def test_a_change_of_options_or_of_language_ends_no_sentence() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(utterance_end_offset=5.0))
    driver.give(event(0, "one"))
    driver.give(event(1, "two", configure=SessionOptions(own_fillers=("well",))))
    driver.give(event(2, "drei", lang="zh"))

    assert [request.offsets.sentence_end for request in driver.requests] == [0.0, 0.0]


def test_without_marks_or_a_model_none_is_invented() -> None:
    for driver in (
        Driver(engine=ScriptedEngine(models=[])),
        Driver(engine=MARKED, rules=DecodingRules(emission=Emission.SETTLED)),
    ):
        options = SessionOptions(punctuation=False)
        driver.give(event(0, "one two", options=options, session_end=True))
        assert marks(driver) == ["none", "none"]


@settings(max_examples=80)
@given(said=words, chosen=rules, look_ahead=look_aheads, shows=st.booleans())
def test_every_session_with_a_model_ends_with_a_sentence_mark(
    said: tuple[str, ...], chosen: DecodingRules, look_ahead: int, *, shows: bool
) -> None:
    driver = Driver(rules=chosen, engine=ScriptedEngine(look_ahead_words=look_ahead), looks_ahead=shows)
    driver.give(event(0, " ".join(said)))
    frozen = sum(len(segment.words) for segment in driver.segments)
    driver.give(event(1, session_end=True))

    if frozen < len(said):
        assert marks(driver)[-1] in ("period", "question")
