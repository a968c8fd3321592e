"""Which model labels a session's words, what happens where it is gone, and labels that nobody can give."""

from __future__ import annotations

import pytest

from caesura.schemas.labels import Labels
from caesura.schemas.segments import Cause, ModelRef
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.core.language.rules import DecodingRules, ModelTable
from caesura.worker.ports.engine import EngineModel
from tests.harness.partition_driver import MARKED, NOW_MS, Driver, event, numbered
from tests.harness.speech import said

OLD = EngineModel(name="old@1", language="en", active=True, look_ahead_words=2)
NEW = EngineModel(name="new@2", language="en", active=True, look_ahead_words=2)
RETIRED = EngineModel(name="old@1", language="en", active=False, look_ahead_words=2)


def test_a_language_without_a_model_goes_out_unlabelled_unasked_and_counted() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(max_buffer_words=30))
    driver.give(event(0, numbered(40), lang="fi"))
    driver.wait(1_000)

    assert driver.requests == []
    assert [one.cause for one in driver.segments] == [Cause.LENGTH, Cause.SILENCE]
    assert {one.model for one in driver.segments} == {None}
    assert driver.context.counts.unmodelled_words == 40


def test_mandarin_by_its_other_name_has_the_chinese_model() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "one", lang="cmn-Hans", session_end=True))

    assert driver.segments[0].model == ModelRef(id="scripted-zh", version="1")


def test_the_active_model_takes_a_session_over_when_its_buffers_start_has_moved() -> None:
    driver = Driver(
        engine=ScriptedEngine(models=[OLD], script=marked_words),
        rules=DecodingRules(max_context_words=0, context_words=0),
    )
    driver.give(event(0, "one-stop " + numbered(5)))
    driver.restart(ScriptedEngine(models=[RETIRED, NEW], script=marked_words))
    driver.give(event(1, numbered(6)))

    assert [request.model_id for request in driver.requests] == ["old@1", "old@1", "old@1", "new@2"]
    assert driver.context.counts.takeovers == 0
    assert driver.segments[0].model == ModelRef(id="old", version="1")


def test_a_worker_without_the_sessions_model_flushes_what_is_settled_and_takes_over_at_once() -> None:
    driver = Driver(engine=ScriptedEngine(models=[OLD], script=marked_words))
    driver.give(event(0, "one-comma " + numbered(5)))
    driver.restart(ScriptedEngine(models=[NEW], script=marked_words))
    driver.give(event(1, numbered(3)))
    driver.give(event(2, session_end=True))

    first, rest = driver.segments
    assert (first.cause, len(first.words), first.model) == (Cause.SETTLED, 4, ModelRef(id="old", version="1"))
    assert first.words[0].punctuation == "comma"
    assert (len(rest.words), rest.model) == (5, ModelRef(id="new", version="2"))
    assert driver.requests[-1].model_id == "new@2"
    assert len(driver.requests[-1].words) == 9
    assert driver.context.counts.takeovers == 1


def test_a_model_that_arrives_for_a_language_without_one_labels_what_is_not_frozen_yet() -> None:
    driver = Driver(engine=ScriptedEngine(models=[], script=marked_words))
    driver.give(event(0, "one-comma two", utterance_end=True))
    driver.give(event(1, "three-comma four"))
    driver.restart(ScriptedEngine(models=[NEW], script=marked_words))
    driver.give(event(2, "five", session_end=True))

    words = [(word.text, word.punctuation) for segment in driver.segments for word in segment.words]
    assert words == [
        ("one-comma", "none"),
        ("two", "none"),
        ("three-comma", "comma"),
        ("four", "none"),
        ("five", "period"),
    ]
    assert driver.context.counts.takeovers == 0


def test_a_model_that_arrives_labels_words_too_that_were_settled_without_one() -> None:
    driver = Driver(engine=ScriptedEngine(models=[], script=marked_words))
    driver.give(event(0, "one-comma two-comma " + numbered(13)))
    driver.restart(ScriptedEngine(models=[NEW], script=marked_words))
    driver.give(event(1, session_end=True))

    assert driver.requests[-1].first == 0
    words = [word.punctuation for segment in driver.segments for word in segment.words]
    assert words == ["comma", "comma", *["none"] * 12, "period"]
    assert {segment.model for segment in driver.segments} == {ModelRef(id="new", version="2")}


def test_a_session_that_cannot_be_labelled_freezes_unlabelled_and_goes_on() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(look_ahead_words=0), lazy=True)
    driver.give(event(0, "one-stop two three four five six", lang="en"))
    (pending,) = driver.sessions.waiting(NOW_MS)
    driver.sessions.fall_back(pending.request.session, NOW_MS)
    driver.work()
    driver.give(event(1, session_end=True))
    driver.work()

    first, rest, end = driver.segments
    assert (first.cause, said([first]), first.model) == (Cause.FALLBACK, ["one-stop", "two", "three"], None)
    assert {word.punctuation for word in first.words} == {"none"}
    assert (rest.cause, said([rest])) == (Cause.SENTENCE, ["four", "five", "six"])
    assert (end.cause, end.words) == (Cause.END, ())
    assert driver.context.counts.fallbacks == 1


def test_labels_of_another_length_are_refused() -> None:
    driver = Driver(lazy=True)
    driver.give(event(0, numbered(9)))
    (pending,) = driver.sessions.waiting(NOW_MS)
    assert len(pending.request.wanted) == 3

    for wrong in (bytes(9), bytes(1)):
        with pytest.raises(ValueError, match="one of each kind a wanted word"):
            driver.sessions.resolve("s", Labels(punctuation=wrong, disfluency=wrong), NOW_MS)
    with pytest.raises(ValueError, match="one of each kind a wanted word"):
        driver.sessions.resolve("s", Labels(punctuation=bytes(3), disfluency=b"\0"), NOW_MS)


def test_a_model_table_knows_the_default_look_ahead_where_there_is_no_model() -> None:
    table = ModelTable.of([OLD])

    assert (table.look_ahead_of("old@1"), table.look_ahead_of(None), table.look_ahead_of("gone@1")) == (2, 9, 9)
