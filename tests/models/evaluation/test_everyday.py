"""The lines of calls and everyday talk: a hundred a language, with marks and tags that can be read, and scored."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from caesura.models.data.aligned_words import UNKNOWN
from caesura.models.evaluation.everyday import EverydayLine, everyday_table, read_everyday
from caesura.models.languages.registry import LANGUAGES
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.adapters.memory.engine import ScriptedEngine

every_language = pytest.mark.parametrize("code", ["de", "es", "fr"])
LINES = {line.line: line for line in read_everyday("de")}
FILLER = LINES["Ich hätte {äh} gern zwei Karten für Samstag."]
ANSWERS = [LINES["Nein, danke."], FILLER]


def row(lines: Sequence[EverydayLine], *, ends: str, left_out: str) -> str:
    """Return the last row of a table: an engine ends sentences at one word and leaves another out as a filler."""

    def script(_model: str, words: Sequence[str], place: int, _look_ahead: int) -> tuple[int, int]:
        mark = Punctuation.PERIOD if words[place] == ends else Punctuation.NONE
        return mark, Disfluency.B_IM if words[place] == left_out else Disfluency.O

    engine = ScriptedEngine(languages=("de",), script=script)
    return everyday_table(engine, LANGUAGES["de"], lines).splitlines()[-1]


@every_language
def test_there_are_a_hundred_lines_and_each_ends_with_a_mark(code: str) -> None:
    lines = list(read_everyday(code))
    assert len(lines) == len({line.line for line in lines}) == 100
    assert len({line.kind for line in lines}) >= 25
    assert all(Punctuation(line.document.punctuation[-1]).ends_sentence for line in lines)
    assert sum(UNKNOWN in line.document.punctuation for line in lines) < 10


@every_language
def test_slips_stand_in_the_kinds_of_slips_alone(code: str) -> None:
    kinds = {line.kind for line in read_everyday(code) if any(line.document.disfluency)}
    assert kinds == {"filler_sound", "stutter", "substitution", "false_start"}


def test_a_line_whose_marks_and_tags_are_all_right_is_exact() -> None:
    assert row([FILLER], ends="samstag", left_out="äh") == "| all | 1 | 1 | 100.0 | 0 | 0 of 1 | 0 of 0 |"


def test_a_word_left_out_by_mistake_and_a_mark_that_lacks_are_counted() -> None:
    assert row(ANSWERS, ends="danke", left_out="karten") == "| all | 2 | 0 | 80.0 | 1 | 1 of 1 | 0 of 0 |"
