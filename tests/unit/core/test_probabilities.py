"""How sure a model is: carried with the labels to what is published, and dropped where a rule decided instead."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from caesura.schemas.events import SessionOptions
from caesura.schemas.labels import Disfluency, Labels, Punctuation, probability_number
from caesura.schemas.segments import Cause
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.language.labelling import Probabilities
from caesura.worker.core.language.rules import DecodingRules
from tests.harness.partition_driver import NOW_MS, Driver, event, pair_segmenters

_MARK, _TAG, _TURN = 83, 97, 62
_MARKS = {"stop": Punctuation.PERIOD, "hundred": Punctuation.COMMA}
_TAGS = {"uh": Disfluency.B_IM, "very": Disfluency.B_RM}


def _script(_: str, words: Sequence[str], place: int, __: int) -> tuple[int, ...]:
    last = place == len(words) - 1
    sure = probability_number(_MARK), probability_number(_TAG), probability_number(_TURN) if last else 0
    return _MARKS.get(words[place], 0), _TAGS.get(words[place], 0), 0, *sure


def _driver(probabilities: Probabilities = Probabilities.WORDS, *, looks_ahead: bool = False) -> Driver:
    return Driver(
        rules=DecodingRules(probabilities=probabilities), engine=ScriptedEngine(script=_script), looks_ahead=looks_ahead
    )


def test_a_words_mark_and_tag_come_with_how_sure_the_model_was_of_them() -> None:
    driver = _driver()
    driver.give(event(0, "so uh yes", utterance_end=True))
    assert [(word.punctuation_probability, word.disfluency_probability) for word in driver.segments[0].words] == [
        (0.83, 0.97)
    ] * 3


def test_only_a_segment_that_ends_by_silence_or_utterance_says_whether_the_speaker_has_finished() -> None:
    driver = _driver()
    driver.give(event(0, "are you stop " + "and so on " * 3, utterance_end=True))
    driver.give(event(1, "I am"))
    driver.wait(1_000)
    driver.give(event(2, "bye now", session_end=True))
    assert [(one.cause, one.turn_end) for one in driver.segments] == [
        (Cause.SENTENCE, None),
        (Cause.UTTERANCE, 0.62),
        (Cause.SILENCE, 0.62),
        (Cause.END, None),
    ]


def test_of_a_tag_or_mark_that_a_rule_took_away_the_probability_is_not_known() -> None:
    driver = _driver()
    driver.give(event(0, "six hundred five very very good", utterance_end=True))
    words = driver.segments[0].words
    assert [word.disfluency for word in words] == ["O", "O", "O", "O", "B-RM", "O"]
    assert [word.disfluency_probability for word in words] == [0.97, 0.97, 0.97, None, 0.97, 0.97]
    assert [word.punctuation for word in words] == ["none"] * 6
    assert [word.punctuation_probability for word in words] == [0.83, None, 0.83, 0.83, 0.83, 0.83]


def test_a_tag_that_only_begins_what_it_went_on_with_is_as_probable_as_it_was() -> None:
    labels = Labels(b"\0\0", bytes((Disfluency.I_RM, Disfluency.B_RM)), disfluency_probability=b"\5\7")
    changed = labels.with_tags(bytes((Disfluency.B_RM, Disfluency.O)))
    assert changed.disfluency_probability == b"\5\0"


def test_tentative_words_say_both_and_a_word_that_is_not_labelled_neither() -> None:
    driver = _driver(looks_ahead=True)
    driver.give(event(0, "so we go"))
    told = driver.sessions.tentative("s", NOW_MS)
    assert told is not None
    assert told.turn_end == 0.62
    assert told.words[0].punctuation_probability == 0.83
    driver.give(event(1, "home"))
    later = driver.sessions.tentative("s", NOW_MS)
    assert later is not None
    assert later.turn_end is None
    assert later.words[3].punctuation_probability is None


def test_a_word_of_two_pieces_has_its_marks_probability_on_the_last() -> None:
    driver = Driver(
        rules=DecodingRules(probabilities=Probabilities.WORDS),
        engine=ScriptedEngine(script=_script),
        segmenters=pair_segmenters,
    )
    driver.give(event(0, "good morning", utterance_end=True))
    words = driver.segments[0].words
    assert [word.punctuation_probability for word in words] == [None, 0.83]
    assert [word.disfluency_probability for word in words] == [0.97, 0.97]


def test_a_session_without_marks_of_ours_has_no_probability_of_them() -> None:
    driver = _driver()
    driver.give(event(0, "so stop", options=SessionOptions(punctuation=False), utterance_end=True))
    (segment,) = driver.segments
    assert [word.punctuation_probability for word in segment.words] == [None, None]
    assert [word.disfluency_probability for word in segment.words] == [0.97, 0.97]
    assert segment.turn_end == 0.62


def test_what_is_sure_is_stored_with_the_labels_and_outlives_a_restart() -> None:
    driver = _driver()
    driver.give(event(0, "so we go on"))
    driver.restart()
    driver.give(event(1, "now", utterance_end=True))
    assert {word.punctuation_probability for word in driver.segments[0].words} == {0.83}
    assert driver.state().decoding.labels.punctuation_probability == bytes([probability_number(_MARK)]) * 5


@pytest.mark.parametrize("wanted", Probabilities)
def test_a_request_asks_for_what_the_rules_say(wanted: Probabilities) -> None:
    driver = _driver(wanted)
    driver.give(event(0, "so we go"))
    driver.wait(1_000)
    assert {request.probabilities for request in driver.requests} == {wanted}
