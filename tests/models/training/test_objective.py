"""The loss on numbers computed by hand."""

from __future__ import annotations

from math import log

import pytest

pytest.importorskip("torch")

import torch
from torch import Tensor
from torch.nn import functional

from caesura.models.training.objective import Objective, head_loss

pytestmark = pytest.mark.torch

HALF, QUARTER, EIGHTH = log(0.5), log(0.25), log(0.125)
P = (0.5, 0.25, 0.125, 0.125)
"""The network's probabilities in every test; its scores are their logarithms."""


def scores(words: int) -> Tensor:
    return torch.tensor([[P] * words]).log()


def loss(labels: list[int], taught: list[list[float]] | None = None, **settings: float) -> float:
    told = None if taught is None else torch.tensor([taught])
    return float(head_loss(scores(len(labels)), torch.tensor([labels]), told, Objective(**settings)))


def test_a_known_label_costs_its_cross_entropy_and_an_unknown_one_nothing() -> None:
    assert loss([0, -100, 1, -100]) == pytest.approx(-(HALF + QUARTER) / 2)
    assert loss([-100, -100]) == 0


def test_a_word_that_weighs_more_counts_as_so_many() -> None:
    labels, weights = torch.tensor([[0, 1, -100]]), torch.tensor([[3.0, 1.0, 9.0]])
    weighed = float(head_loss(scores(3), labels, None, Objective(), weights))
    assert weighed == pytest.approx(-(3 * HALF + QUARTER) / 2)


def test_without_a_teacher_it_is_the_mean_cross_entropy_of_the_known_labels() -> None:
    torch.manual_seed(1)
    some, labels = torch.randn(3, 7, 5), torch.randint(-1, 5, (3, 7))
    labels[labels < 0] = -100
    wanted = functional.cross_entropy(some.flatten(0, 1), labels.flatten())
    assert head_loss(some, labels, None, Objective()) == pytest.approx(float(wanted))


def test_distillation_is_the_share_of_cross_entropy_and_of_divergence_that_was_asked_for() -> None:
    teacher = [0.25, 0.75, 0.0, 0.0]
    divergence = 0.25 * (QUARTER - HALF) + 0.75 * (log(0.75) - QUARTER)
    assert loss([0], [teacher], taught_share=0.5) == pytest.approx(0.5 * -HALF + 0.5 * divergence)
    assert loss([0], [teacher], taught_share=1.0) == pytest.approx(divergence)
    assert loss([0], [teacher], taught_share=0.0) == pytest.approx(-HALF)


def test_who_agrees_with_the_teacher_has_no_divergence_left() -> None:
    assert loss([3], [list(P)], taught_share=1.0) == pytest.approx(0.0, abs=1e-6)


def test_a_word_that_the_teacher_did_not_speak_of_costs_its_cross_entropy_alone() -> None:
    teacher = [0.25, 0.75, 0.0, 0.0]
    divergence = 0.25 * (QUARTER - HALF) + 0.75 * (log(0.75) - QUARTER)
    told, untold = 0.5 * -HALF + 0.5 * divergence, -EIGHTH
    assert loss([0, 3], [teacher, [0.0] * 4], taught_share=0.5) == pytest.approx((told + untold) / 2)


def test_a_pseudo_label_is_the_teacher_s_likeliest_class_and_weighs_what_it_was_given() -> None:
    teacher = [0.1, 0.2, 0.6, 0.1]
    assert loss([0, -100], [[0.0] * 4, teacher], pseudo_weight=0.25) == pytest.approx((-HALF - 0.25 * EIGHTH) / 2)


def test_with_no_weight_for_pseudo_labels_an_unknown_label_stays_masked_whatever_the_teacher_says() -> None:
    teacher = [0.1, 0.2, 0.6, 0.1]
    settings = {"taught_share": 0.5, "pseudo_weight": 0.0}
    assert loss([0, -100], [[0.0] * 4, teacher], **settings) == pytest.approx(-HALF)


def test_human_and_pseudo_labels_are_smoothed_each_with_its_own_share() -> None:
    teacher = [0.0, 1.0, 0.0, 0.0]
    mean = (HALF + QUARTER + 2 * EIGHTH) / 4
    human = -(0.9 * HALF + 0.1 * mean)
    pseudo = -(0.6 * QUARTER + 0.4 * mean)
    settings = {"smoothing": 0.1, "pseudo_smoothing": 0.4, "pseudo_weight": 0.5}
    assert loss([0, -100], [[0.0] * 4, teacher], **settings) == pytest.approx((human + 0.5 * pseudo) / 2)


def test_a_masked_word_gets_no_gradient() -> None:
    some = scores(2).requires_grad_()
    head_loss(some, torch.tensor([[1, -100]]), None, Objective(smoothing=0.1)).backward()  # type: ignore[no-untyped-call]
    assert some.grad is not None
    assert some.grad[0, 0].abs().max() > 0
    assert some.grad[0, 1].abs().max() == 0


def test_rows_that_sum_to_a_little_less_than_one_count_as_probabilities() -> None:
    teacher = [0.25, 0.75, 0.0, 0.0]
    rounded = [0.998 * share for share in teacher]
    assert loss([0], [rounded], taught_share=0.5) == pytest.approx(loss([0], [teacher], taught_share=0.5), abs=1e-6)


@pytest.mark.parametrize("wrong", [{"taught_share": 1.5}, {"smoothing": -0.1}, {"pseudo_weight": -1.0}])
def test_shares_that_are_none_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="share"):
        Objective(**wrong)
