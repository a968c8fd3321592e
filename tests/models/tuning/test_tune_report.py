"""What a tune says of itself: better, worse, or nothing that so much text can show; what is set to use it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from caesura.models.evaluation.figures import GoldSession
from caesura.models.export.parity import Parity
from caesura.models.tuning.comparison import Streamed, changed_tags, figures
from caesura.models.tuning.early_stopping import Look
from caesura.models.tuning.report import report
from caesura.models.tuning.tuning import Tuned
from caesura.schemas.labels import Punctuation
from tests.harness.models.networks import exported, tiny_network

pytestmark = pytest.mark.torch

GOLD = ([0] * 9 + [int(Punctuation.PERIOD)]) * 60
SESSIONS = [GoldSession(["word"] * len(GOLD), GOLD, [0] * len(GOLD))]


def labels(right_of_ten: int) -> Streamed:
    """Return labels of which so many in ten sentence ends are right."""
    ends = [place for place, mark in enumerate(GOLD) if mark]
    right = {place for number, place in enumerate(ends) if number % 10 < right_of_ten}
    marks = [int(Punctuation.PERIOD) if place in right else 0 for place in range(len(GOLD))]
    return Streamed(marks=marks, tags=[3, 3, *[0] * (len(GOLD) - 2)])


def said(before: int, after: int, tmp_path: Path) -> str:
    tuned = Tuned(
        manifest=exported(tiny_network(), tmp_path / "en", int8=True),
        parity=Parity(
            labels=20,
            words=10,
            fp32_largest_difference=0.0,
            fp32_labels_differing=0,
            int8_labels_differing=1,
            int8_batch_labels_differing=0,
        ),
        looks=(Look(share=0.0, loss=0.5), Look(share=0.5, loss=0.2), Look(share=1.0, loss=0.3)),
        figures=[
            *figures("before", SESSIONS, labels(before), "en"),
            *figures("after", SESSIONS, labels(after), "en"),
        ],
        changed_tags=changed_tags(labels(before), labels(after)),
    )
    return report(tuned, tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (2, 9, "better than the model that it began at"),
        (9, 2, "worse than the model that it began at"),
        (6, 6, "no difference that this much text can show"),
    ],
)
def test_a_gain_is_claimed_only_where_its_interval_is_above_zero(
    before: int, after: int, verdict: str, tmp_path: Path
) -> None:
    assert verdict in said(before, after, tmp_path)


def test_the_report_names_the_setting_the_losses_and_the_tags_that_changed(tmp_path: Path) -> None:
    text = said(2, 9, tmp_path)
    assert f"CAESURA_WORKER_MODELS_DIR={tmp_path / 'models'}" in text
    assert "loss 0.5000 at first, 0.2000 at the best of 2 looks" in text
    assert "2 of 600 words tagged before, 2 after, 0 differently" in text
