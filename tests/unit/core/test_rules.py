"""Rules that no session can be decoded with are refused, each with its reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.events import Emission, SessionOptions
from caesura.schemas.segments import Cause, NumberForm
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.core.language.rules import Bounds, DecodingRules, ModelTable, OptionBounds, primary_language
from caesura.worker.core.rendering.rendering import Style, render_segment
from caesura.worker.errors import FatalError
from caesura.worker.ports.engine import EngineModel
from tests.harness.partition_driver import Driver, event


def test_the_defaults_are_the_papers() -> None:
    rules = DecodingRules()

    assert (rules.step_words, rules.look_ahead_words) == (3, 6)


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        ({"step_words": 0}, "step_words"),
        ({"look_ahead_words": -1}, "look_ahead_words"),
        ({"min_settled_words": 0}, "min_settled_words"),
        ({"flush_after_ms": 0}, "flush_after_ms"),
        ({"stall_after_ms": 100}, "stall_after_ms"),
        ({"max_buffer_words": 5}, "max_buffer_words"),
        ({"idle_after_ms": 9_999}, "idle_after_ms"),
        ({"forget_after_ms": -1}, "forget_after_ms"),
        ({"bounds": OptionBounds(flush_after_ms=Bounds(least=0, most=9))}, "bounds.flush_after_ms"),
        ({"bounds": OptionBounds(look_ahead_words=Bounds(least=9, most=8))}, "bounds.look_ahead_words"),
        ({"bounds": OptionBounds(max_buffer_words=Bounds(least=3, most=80))}, "bounds.max_buffer_words"),
    ],
)
def test_a_rule_that_cannot_hold_is_refused_by_name(rules: dict[str, int], named: str) -> None:
    with pytest.raises(FatalError, match=named):
        DecodingRules(**rules)  # type: ignore[arg-type]


def test_every_wrong_rule_is_named_at_once() -> None:
    with pytest.raises(FatalError, match=r"step_words.*flush_after_ms"):
        DecodingRules(step_words=0, flush_after_ms=0)


@pytest.mark.parametrize(
    ("tag", "primary"),
    [
        ("en", "en"),
        ("en-US", "en"),
        ("EN_gb", "en"),
        ("cmn-Hans-CN", "zh"),
        ("zh-TW", "zh"),
        ("de-AT", "de"),
        ("deu", "de"),
        ("ger", "de"),
        ("es-419", "es"),
        ("spa-MX", "es"),
        ("fr_CA", "fr"),
        ("fra", "fr"),
        ("fre", "fr"),
    ],
)
def test_a_language_is_matched_by_its_primary_subtag(tag: str, primary: str) -> None:
    assert primary_language(tag) == primary


def test_a_model_of_two_languages_is_active_for_both() -> None:
    languages = ("de", "es")
    table = ModelTable.of(
        EngineModel(name="eu@1", language=language, active=True, look_ahead_words=6) for language in languages
    )
    assert {language: spec.name for language, spec in table.active.items()} == dict.fromkeys(languages, "eu@1")
    assert table.look_ahead_of("eu@1") == 6


@pytest.mark.parametrize(
    ("names", "why"),
    [(["a@1", "b@1"], "both active"), (["a@1", "a@1"], "twice"), (["a"], "id@version"), (["a@"], "id@version")],
)
def test_models_that_cannot_be_told_apart_are_refused(names: list[str], why: str) -> None:
    models = [EngineModel(name=name, language="en", active=True, look_ahead_words=9) for name in names]

    with pytest.raises(FatalError, match=why):
        ModelTable.of(models)


WORDS = "so we begin here and then we go on to the next one and the one after that until it is over now"


def test_requested_options_are_clamped_to_the_bounds() -> None:
    rules = DecodingRules(bounds=OptionBounds(look_ahead_words=Bounds(least=3, most=8), punctuation_may_be_off=False))
    first = rules.choose(SessionOptions(flush_after_ms=500))
    then = rules.reconfigure(first, SessionOptions(look_ahead_words=20, punctuation=False))
    assert (then.look_ahead_words, then.flush_after_ms, then.punctuation) == (8, 500, True)
    assert rules.reconfigure(then, None) == then
    assert rules.reconfigure(then, SessionOptions()) == then


def test_a_shorter_silence_counts_from_its_event_on() -> None:
    driver, unchanged = Driver(), Driver()
    for one in (driver, unchanged):
        one.give(event(0, "so we begin"))
    driver.give(event(1, configure=SessionOptions(flush_after_ms=300)))
    for one in (driver, unchanged):
        one.wait(400)
    assert unchanged.segments == []
    assert driver.segments[-1].cause is Cause.SILENCE
    assert driver.state().admission.options.flush_after_ms == 300


def test_marks_end_and_begin_at_the_event_that_says_so() -> None:
    driver = Driver()
    driver.give(event(0, "so we begin"))
    driver.give(event(1, "and go", configure=SessionOptions(punctuation=False)))
    driver.give(event(2, "on now", configure=SessionOptions(punctuation=True)))
    driver.give(event(3, session_end=True))
    told = [(word.text, one.punctuated) for one in driver.segments for word in one.words]
    unmarked = {"and", "go"}
    assert told == [(word, word not in unmarked) for word in ["so", "we", "begin", "and", "go", "on", "now"]]
    ends = {one.words[-1].text: one.cause for one in driver.segments}
    assert (ends["begin"], ends["go"], ends["now"]) == (Cause.UTTERANCE, Cause.UTTERANCE, Cause.END)
    marks = {word.punctuation for one in driver.segments for word in one.words if word.text in unmarked}
    assert marks == {"none"}


def test_settled_words_go_out_from_the_event_on_that_wishes_them() -> None:
    driver = Driver()
    driver.give(event(0, WORDS))
    before = len(driver.segments)
    assert Cause.SETTLED not in {one.cause for one in driver.segments}
    driver.give(event(1, WORDS, configure=SessionOptions(emission=Emission.SETTLED)))
    assert Cause.SETTLED in {one.cause for one in driver.segments[before:]}


def test_own_fillers_and_kept_phrases_count_from_their_events_first_word_on() -> None:
    driver = Driver(engine=ScriptedEngine(script=marked_words))
    driver.give(event(0, "so it was like good"))
    driver.give(event(1, "so it was like bad", configure=SessionOptions(own_fillers=("like",))))
    driver.give(event(2, "um yes", configure=SessionOptions(own_fillers=("like", "um"), kept_phrases=("um",))))
    driver.restart()
    driver.give(event(3, "um like no", configure=SessionOptions(own_fillers=())))
    driver.give(event(4, session_end=True))
    heard: list[tuple[str, bool, bool]] = []
    for one in driver.segments:
        heard += [(word.text, "like" in one.own_fillers, one.kept_phrases == ("um",)) for word in one.words]
    said = ["so", "it", "was", "like", "good", "so", "it", "was", "like", "bad", "um", "yes", "um", "like", "no"]
    assert heard == [(word, 5 <= at < 12, at >= 10) for at, word in enumerate(said)]
    fluent = [render_segment(one, Style.FLUENT).text.casefold() for one in driver.segments]
    assert sum("like" in text for text in fluent) == 2
    assert sum("um" in text for text in fluent) == 2


def test_numbers_and_spellings_count_from_their_events_first_word_on() -> None:
    driver = Driver(engine=ScriptedEngine(script=marked_words))
    driver.give(event(0, "we pay twenty dollars", options=SessionOptions(spellings={"gres": "GRES"})))
    driver.give(event(1, "gres costs thirty dollars", configure=SessionOptions(numbers=NumberForm.DIGITS)))
    driver.restart()
    driver.give(event(2, "gres costs forty dollars", configure=SessionOptions(spellings={})))
    driver.give(event(3, session_end=True))
    fluent = " ".join(render_segment(one, Style.FLUENT).text for one in driver.segments)
    assert "twenty dollars" in fluent
    assert "GRES costs $30" in fluent
    assert "gres costs $40" in fluent.casefold()


def test_so_many_spellings_as_the_operator_allows() -> None:
    many = {f"word{number}": "Word" for number in range(9)}
    some = DecodingRules(bounds=OptionBounds(spellings=3)).choose(SessionOptions(spellings=many))
    assert some.spellings == {f"word{number}": "Word" for number in range(3)}
    assert DecodingRules(bounds=OptionBounds(spellings=0)).choose(SessionOptions(spellings=many)).spellings is None


def test_so_many_words_of_its_own_as_the_operator_allows() -> None:
    many = tuple(f"filler{number}" for number in range(9))
    some = DecodingRules(bounds=OptionBounds(own_phrases=3)).choose(SessionOptions(own_fillers=many))
    assert some.own_fillers == many[:3]
    none = DecodingRules(bounds=OptionBounds(own_phrases=0)).choose(SessionOptions(kept_phrases=many))
    assert none.kept_phrases == ()


def test_a_repeat_configures_nothing() -> None:
    driver = Driver()
    driver.give(event(0, "so"))
    driver.give(event(0, configure=SessionOptions(flush_after_ms=300)))
    assert driver.state().admission.options.flush_after_ms == DecodingRules().flush_after_ms


_WISHES = st.builds(
    SessionOptions,
    emission=st.none() | st.sampled_from(Emission),
    look_ahead_words=st.none() | st.integers(0, 30),
    max_buffer_words=st.none() | st.integers(1, 400),
    punctuation=st.none() | st.booleans(),
    own_fillers=st.none() | st.just(("like",)),
    numbers=st.none() | st.sampled_from(NumberForm),
    spellings=st.none() | st.just({"so": "SO"}),
)


@given(
    parts=st.lists(st.tuples(st.integers(1, 30), st.none() | _WISHES), min_size=1, max_size=6),
    restart=st.integers(0, 6),
)
def test_a_restored_session_continues_without_loss(
    parts: list[tuple[int, SessionOptions | None]], restart: int
) -> None:
    words = WORDS.split()
    whole, broken = Driver(), Driver()
    for seq, (count, wishes) in enumerate(parts):
        text = " ".join(words[(seq + at) % len(words)] for at in range(count))
        one = event(seq, text) if wishes is None else event(seq, text, configure=wishes)
        whole.give(one)
        if seq == restart:
            broken.restart()
        broken.give(one)
    for driver in (whole, broken):
        driver.give(event(len(parts), session_end=True))
    assert broken.segments == whole.segments
    said = [words[(seq + at) % len(words)] for seq, (count, _) in enumerate(parts) for at in range(count)]
    assert [word.text for one in whole.segments for word in one.words] == said
