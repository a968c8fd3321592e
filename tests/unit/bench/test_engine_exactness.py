"""A run of the exactness benchmark that was cut off goes on, and one of anything else begins anew."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from bench.engine_exactness import Agreement

TOLD: dict[str, object] = {"command": "this one", "models": ["a@1", "b@2"], "cpu": "this one", "epsilon": 0.25}


def test_the_same_command_goes_on_from_what_was_counted_and_counts_the_texts_words_again(tmp_path: Path) -> None:
    counted = Agreement(steps=7, labels=90, flips=2, largest_margin_of_a_flip=0.04, words={"ami": 400})
    (tmp_path / "result.json").write_text(json.dumps(TOLD | {"rounds": 3, "words_decoded": 400} | asdict(counted)))
    counted.words.clear()
    assert Agreement.so_far(tmp_path / "result.json", TOLD) == (counted, 3)


@pytest.mark.parametrize("name", TOLD)
def test_a_result_of_something_else_counts_for_nothing(name: str, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps(TOLD | {name: "other", "rounds": 3} | asdict(Agreement(steps=7))))
    assert Agreement.so_far(tmp_path / "result.json", TOLD) == (Agreement(), 0)


@pytest.mark.parametrize(("epsilon", "clear"), [(0.5, 1), (1.0, 0)])
def test_a_label_that_differs_is_clear_from_the_models_own_margin_on(epsilon: float, clear: int) -> None:
    counted = Agreement()
    streamed, full = np.array([[1.0, 1.1], [3.0, 0.0]], np.float32), np.array([[1.7, 1.0], [2.0, 0.0]], np.float32)
    counted.compare([streamed], [full], epsilon=epsilon)
    assert (counted.labels, counted.flips, counted.clear_flips) == (2, 1, clear)
    assert counted.largest_margin_of_a_flip == pytest.approx(0.7)


def test_without_a_result_it_begins(tmp_path: Path) -> None:
    assert Agreement.so_far(tmp_path / "result.json", TOLD) == (Agreement(), 0)
