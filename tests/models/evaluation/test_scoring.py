from __future__ import annotations

import pytest

from caesura.models.evaluation.scoring import Difference, count_blocks, difference, score, scored

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


def test_a_labelling_paired_with_itself_differs_by_nothing() -> None:
    counts = count_blocks([0, 1, 0, 2] * 100, [0, 1, 1, 2] * 100, CLASSES)["overall"]
    assert difference(counts, counts) == Difference(delta=0, low=0, high=0)
    assert difference(counts, counts).holds_zero


def test_a_small_loss_in_every_block_is_found_though_the_single_intervals_overlap() -> None:
    gold = ([1, 0, 0, 2, 0] * 10 + [0, 0, 0, 0, 1] * 10) * 20
    better = ([1, 0, 0, 2, 0] * 10 + [0, 0, 0, 1, 0] * 10) * 20
    worse = [0 if place % 25 == 0 else label for place, label in enumerate(better)]
    first, second = (count_blocks(gold, guess, CLASSES)["overall"] for guess in (better, worse))
    assert scored(first).low < scored(second).high
    one = difference(first, second)
    assert one.low <= one.delta <= one.high
    assert one.low > 0
    assert not one.holds_zero
    assert difference(second, first).delta == pytest.approx(-one.delta)


def test_labellings_of_two_texts_cannot_be_paired() -> None:
    first = count_blocks([1] * 60, [1] * 60, CLASSES)["overall"]
    for other in ([1] * 40, [1] * 59 + [0]):
        with pytest.raises(ValueError, match="one text"):
            difference(first, count_blocks(other, other, CLASSES)["overall"])
