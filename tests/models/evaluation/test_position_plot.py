from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree as ET

import pytest

from caesura.models.evaluation.position_plot import drawn, shares


def test_bars_are_shares_of_what_changed() -> None:
    heights = shares(Counter({0: 1000, 1: 3, 2: 1}))
    assert heights[1] == pytest.approx(75)
    assert heights[2] == pytest.approx(25)
    assert sum(heights.values()) == pytest.approx(100)


def test_what_changed_far_back_stands_in_the_last_bar() -> None:
    heights = shares(Counter({1: 1, 40: 2, 63: 1}))
    assert heights[max(heights)] == pytest.approx(75)


def test_a_plot_names_each_network_and_how_far_back_it_changed() -> None:
    counts = {"CT": Counter({0: 5, 1: 2, 9: 1}), "BLSTM": Counter({1: 1, 63: 1})}
    root = ET.fromstring(drawn({"by word": counts}))  # noqa: S314 - our own text
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "CT, at most 9" in texts
    assert "BLSTM, at most 63" in texts


def test_a_plot_of_labels_that_never_change_is_drawn_too() -> None:
    assert "at most 0" in drawn({"by word": {"rules": Counter({0: 5})}})
