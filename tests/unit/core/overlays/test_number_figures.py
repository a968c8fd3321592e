"""Every line of the lists, by hand and drawn, is written as expected; the table of figures counts what is not."""

from __future__ import annotations

import pytest

from tests.unit.core.overlays.figures import figures
from tests.unit.core.overlays.generated_lines import generated
from tests.unit.core.overlays.number_lines import NumberLine, hand_written, written

LEAST = {"en": 150, "zh": 150, "de": 60, "es": 60, "fr": 60}
LINES = {lang: hand_written(lang) for lang in LEAST} | {"drawn": generated()}


@pytest.mark.parametrize("line", [line for lines in LINES.values() for line in lines], ids=lambda line: line.said)
def test_a_line_is_written_as_people_write_it(line: NumberLine) -> None:
    assert written(line) == line.expected


def test_there_are_lines_enough_of_each_language() -> None:
    assert [lang for lang, least in LEAST.items() if len(LINES[lang]) < least] == []
    assert len([*LINES["en"], *LINES["zh"], *LINES["drawn"]]) >= 400


def test_the_table_counts_numbers_left_in_words_and_wrong_ones() -> None:
    lines = [
        NumberLine("amount", "twenty people", "20 people"),
        NumberLine("amount", "three people", "3 people"),
        NumberLine("amount", "forty people", "50 people"),
    ]
    assert figures(lines).splitlines()[-1] == "| English | amount | 3 | 1 | 1 | 1 |"
