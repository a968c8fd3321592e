"""Rules that no session can be decoded with are refused, each with its reason."""

from __future__ import annotations

import pytest

from caesura.worker.core.language.rules import Bounds, DecodingRules, ModelTable, OptionBounds, primary_language
from caesura.worker.errors import FatalError
from caesura.worker.ports.engine import EngineModel


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
