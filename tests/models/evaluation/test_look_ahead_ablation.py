from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from caesura.models.evaluation.look_ahead_ablation import another_mask, masked_otherwise, shortened
from caesura.models.evaluation.stability import growing_input
from caesura.models.networks.full_transformer import UNLIMITED
from tests.harness.models.networks import document, exported, tiny_config, tiny_network

pytestmark = pytest.mark.torch


def test_look_ahead_is_taken_from_the_top_layers() -> None:
    assert list(shortened((1, 1, 1, 2, 2, 2), (9, 6, 3, 0))) == [
        (1, 1, 1, 2, 2, 2),
        (1, 1, 1, 2, 1, 0),
        (1, 1, 1, 0, 0, 0),
        (0, 0, 0, 0, 0, 0),
    ]


def test_no_mask_is_none_to_the_left_either_and_another_look_ahead_leaves_it() -> None:
    config = replace(tiny_config(), look_back=3)
    assert another_mask(config, None) == replace(config, look_ahead=(UNLIMITED,) * 3, look_back=None)
    assert another_mask(config, (0, 0, 1)) == replace(config, look_ahead=(0, 0, 1))


def test_nothing_is_added_to_a_shorter_look_ahead() -> None:
    assert list(shortened((0, 2), (9, 3, 2, 1))) == [(0, 2), (0, 1)]


def test_the_stored_weights_look_as_far_as_they_are_told_to(tmp_path: Path) -> None:
    exported(tiny_network(replace(tiny_config(look_ahead=(2, 3, 4)), look_back=30)), tmp_path / "en", int8=False)
    words = [document(60).words[:60]]
    farthest = {
        look_ahead: max(growing_input(masked_otherwise(tmp_path, look_ahead), "ct@checkpoint", words)[0])
        for look_ahead in ((0, 0, 0), (0, 1, 2), None)
    }
    assert farthest[0, 0, 0] == 0
    assert 0 < farthest[0, 1, 2] <= 3
    assert farthest[None] > 9
