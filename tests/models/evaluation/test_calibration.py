"""Calibration: the error of what is said, lines that undo it, thresholds over ends of turns."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from caesura.models.data.aligned_words import UNKNOWN
from caesura.models.evaluation.calibrated_texts import Sure
from caesura.models.evaluation.calibration import Answers, TurnEnds, expected_error, fit_line, kinds_of, marks_of
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.schemas.model_manifest import Calibration
from caesura.schemas.segments import SegmentWord


def test_the_error_is_the_weighted_distance_of_said_from_right() -> None:
    said = np.array([0.9] * 10 + [0.5] * 10)
    right = np.array([True] * 7 + [False] * 3 + [True] * 5 + [False] * 5)
    assert expected_error(said, right) == pytest.approx(0.1)
    assert expected_error(np.array([]), np.array([], dtype=bool)) == 0.0


def test_a_fitted_line_makes_what_was_said_too_surely_right() -> None:
    rng = np.random.default_rng(1)
    true = rng.uniform(0.5, 0.99, 20_000)
    right = rng.random(20_000) < true
    odds = np.log(true / (1 - true))
    said = 1 / (1 + np.exp(-(2 * odds - 1)))
    slope, shift = fit_line(said, right)
    assert slope == pytest.approx(0.5, abs=0.05)
    assert shift == pytest.approx(0.5, abs=0.08)
    again = 1 / (1 + np.exp(-(slope * np.log(said / (1 - said)) + shift)))
    assert expected_error(again, right) < 0.01 < expected_error(said, right)


def test_a_label_that_was_never_seen_wrong_keeps_a_line_near_its_models_own() -> None:
    slope, shift = fit_line(np.array([0.9, 0.95]), np.array([True, True]))
    assert 0.9 < slope < 1.5
    assert abs(shift) < 0.5


def test_a_label_that_is_nearly_always_right_has_a_line_of_a_common_size() -> None:
    rng = np.random.default_rng(2)
    said = np.clip(rng.beta(30, 1, 2_000), 0.01, 1.0).round(2)
    slope, shift = fit_line(said, rng.random(2_000) < 0.995)
    assert 0 < slope < 2
    assert abs(shift) < 6


def _word(mark: Punctuation, tag: Disfluency, said: float | None) -> SegmentWord:
    return SegmentWord(
        text="a", punctuation=mark.published, disfluency=tag.published,  # type: ignore[arg-type]
        punctuation_probability=said, disfluency_probability=said,
    )  # fmt: skip


def test_words_whose_label_or_probability_is_not_known_are_not_counted() -> None:
    words = [
        _word(Punctuation.COMMA, Disfluency.I_RM, 0.8),
        _word(Punctuation.PERIOD, Disfluency.O, 0.7),
        _word(Punctuation.NONE, Disfluency.B_IM, None),
    ]
    marks = marks_of(words, [Punctuation.COMMA, UNKNOWN, Punctuation.NONE])
    assert (marks.names, marks.right.tolist()) == (("comma",), [True])
    kinds = kinds_of(words, [Disfluency.B_RM, Disfluency.B_IM, Disfluency.B_IM])
    assert (kinds.names, kinds.right.tolist()) == (("RM", "O"), [True, False]), "a tag of the same kind is right"


def test_answers_have_a_line_a_label() -> None:
    answers = Answers(("none", "comma", "none"), np.array([0.9, 0.6, 0.8]), np.array([True, False, True]))
    assert set(answers.lines()) == {"none", "comma"}
    assert len((answers + answers).names) == 6


def test_thresholds_over_ends_find_what_a_reader_counts_by_hand() -> None:
    ends = TurnEnds(np.array([0.9, 0.8, 0.8, 0.6, 0.4]), np.array([True, True, False, True, False]))
    assert ends.precision_at(0.9) == pytest.approx(3 / 4)
    assert ends.precision_at(0.3) == pytest.approx(1.0)
    assert ends.recall_at(0.98) == pytest.approx(1 / 3)
    assert ends.recall_at(0.7) == pytest.approx(1.0)
    assert TurnEnds(np.array([0.5]), np.array([False])).recall_at(0.9) == 0.0


def test_few_points_show_an_error_although_every_probability_is_right() -> None:
    rng = np.random.default_rng(3)
    said = rng.random(4000)
    ends = TurnEnds(said, rng.random(4000) < said)
    few = TurnEnds(ends.said[:200], ends.finished[:200])
    assert ends.error == pytest.approx(ends.error_of_chance, abs=0.01)
    assert 0.05 < few.error_of_chance < 0.09 > 3 * ends.error_of_chance


def test_what_a_model_says_of_several_languages_is_one_table() -> None:
    words = Answers.of([("comma", 0.8, True)])
    joined = Sure(marks={"a": words}) + Sure(marks={"b": words}, kinds={"b": words})
    assert (list(joined.marks), list(joined.kinds)) == (["a", "b"], ["b"])


def test_a_part_is_fitted_and_the_others_stay() -> None:
    said = Answers.of([("O", 0.8, True), ("O", 0.9, False)])
    ends = TurnEnds(np.array([0.9, 0.8, 0.3]), np.array([True, False, False]))
    sure = Sure(kinds={"ami": said}, turn_ends={"ami": ends, "changelog": TurnEnds(np.array([0.1]), np.array([True]))})
    before = Calibration(punctuation={"comma": (0.5, 0.1)}, disfluency={"IM": (2.0, 0.0)}, turn_end=(3.0, 0.0))

    fitted = sure.fitted(before, ["turn_end"])
    assert fitted == replace(before, turn_end=fit_line(ends.said, ends.finished)), "written text has no turns"
    assert sure.fitted(before, ["disfluency"]) == replace(before, disfluency=said.lines())
    with pytest.raises(ValueError, match="punctuation: no text"):
        sure.fitted(before, ["punctuation"])
