"""The drawn lines are written as expected, and the table of figures counts what is not."""

from __future__ import annotations

import pytest

from tests.unit.core.overlays.figures import figures
from tests.unit.core.overlays.generated_lines import generated
from tests.unit.core.overlays.number_lines import NumberLine, hand_written, written


@pytest.mark.parametrize("line", generated(), ids=lambda line: line.said)
def test_a_drawn_line_is_written_as_expected(line: NumberLine) -> None:
    assert written(line) == line.expected


def test_there_are_lines_enough_of_both_languages() -> None:
    assert min(len(hand_written("en")), len(hand_written("zh"))) >= 150
    assert len([*hand_written("en"), *hand_written("zh"), *generated()]) >= 400


def test_the_table_counts_numbers_left_in_words_and_wrong_ones() -> None:
    lines = [
        NumberLine("amount", "twenty people", "20 people"),
        NumberLine("amount", "three people", "3 people"),
        NumberLine("amount", "forty people", "50 people"),
    ]
    assert figures(lines).splitlines()[-1] == "| English | amount | 3 | 1 | 1 | 1 |"
