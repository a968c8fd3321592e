from __future__ import annotations

import pytest

from models.scoring import score

CLASSES = {"comma": frozenset((1,)), "period": frozenset((2,))}


def test_precision_recall_and_f1_are_counted_by_token() -> None:
    scores = score([0, 1, 1, 2, 0, 2], [1, 1, 0, 2, 0, 1], CLASSES)
    assert scores["comma"].precision == pytest.approx(100 / 3)
    assert scores["comma"].recall == pytest.approx(50)
    assert scores["period"].f1 == pytest.approx(200 / 3)
    assert scores["overall"].precision == pytest.approx(50)
    assert scores["overall"].gold == 4


def test_a_token_whose_label_nobody_knows_is_not_scored() -> None:
    assert score([-1, 1], [1, 1], CLASSES)["comma"].precision == 100


def test_the_interval_holds_the_figure_and_shrinks_with_more_text() -> None:
    gold = [0, 1, 0, 2, 0, 0, 1, 2, 0, 0] * 40
    guess = [0, 1, 1, 2, 0, 0, 0, 2, 0, 2] * 39 + [0] * 10
    few, many = score(gold, guess, CLASSES)["overall"], score(gold * 20, guess * 20, CLASSES)["overall"]
    assert few.low <= few.f1 <= few.high
    assert many.high - many.low < few.high - few.low


def test_nothing_predicted_scores_zero() -> None:
    assert score([1, 2], [0, 0], CLASSES)["overall"].f1 == 0
