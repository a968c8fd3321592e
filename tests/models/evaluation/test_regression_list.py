"""The regression list and the shipped models: what is right today stays right, what is fixed comes off the list."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from caesura.models.data.aligned_words import UNKNOWN
from caesura.models.decoding.labelling_runs import Labelled
from caesura.models.evaluation.everyday import EverydayLine, everyday_table, read_everyday
from caesura.models.evaluation.regression.cases import (
    CASES_FOLDER,
    FLUENT,
    LISTED_LANGUAGES,
    judge,
    parse,
    read_cases,
    read_known_failures,
    write_known_failures,
)
from caesura.models.evaluation.regression.runs import run_list
from caesura.models.evaluation.shares import Share
from caesura.models.languages.registry import LANGUAGES
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.inference.model.model_folder import read_models_folder
from tests.harness.places import SHIPPED

REWRITE = "python -m caesura.models regression --write-known"


@pytest.fixture(scope="module")
def failing() -> dict[tuple[str, str], tuple[str, ...]]:
    """What the shipped models do not get right, and why."""
    engine = OnnxEngine(SHIPPED, threads=1)
    outcomes = [outcome for language in LISTED_LANGUAGES for outcome in run_list(engine, language)]
    return {(one.case.language, one.case.line): one.faults for one in outcomes if one.faults}


def test_the_shipped_models_pass_the_regression_list(failing: dict[tuple[str, str], tuple[str, ...]]) -> None:
    broken = {line: faults for line, faults in failing.items() if line not in read_known_failures()}
    assert not broken, f"if a new model may break these, write them down: {REWRITE}"


def test_known_failures_lists_only_current_failures(failing: dict[tuple[str, str], tuple[str, ...]]) -> None:
    assert not read_known_failures() - set(failing), f"fixed, or no longer on the list: {REWRITE}"


def test_the_list_of_known_failures_names_only_the_models_asked() -> None:
    manifests = [stored.manifest for stored in read_models_folder(SHIPPED)]
    asked = [manifest.name for manifest in manifests if manifest.active and manifest.language in LISTED_LANGUAGES]
    head = (CASES_FOLDER / "known_failures.txt").read_text(encoding="utf-8").partition("\n")[0]
    assert head.startswith(f"# What {' and '.join(sorted(asked))} do not get right."), f"of other models: {REWRITE}"


def test_the_list_has_three_hundred_fluent_sentences_and_no_sentence_twice() -> None:
    cases = [case for language in LISTED_LANGUAGES for case in read_cases(language)]
    assert len({case.line for case in cases}) == len(cases)
    assert sum(case.section == FLUENT for case in cases) >= 300
    assert sum(case.section == FLUENT and case.language == "en" for case in cases) >= 150


def labels(*pairs: tuple[int, int]) -> Labelled:
    return [mark for mark, _ in pairs], [tag for _, tag in pairs]


@pytest.mark.parametrize(
    ("line", "labelled", "faults"),
    [
        ("[the] the cat", labels((0, 1), (0, 0), (2, 0)), []),
        ("[the] the cat", labels((0, 0), (0, 3), (0, 0)), ["'the' is O, not B-RM or I-RM", "'the' is B-IM, not O"]),
        ("{you know} yes", labels((0, 3), (1, 4), (0, 0)), []),
        ("{uh} (well) yes", labels((0, 1), (0, 3), (0, 0)), ["'uh' is B-RM, not B-IM or I-IM"]),
        ("is it ? yes", labels((0, 0), (2, 0), (3, 0)), ["the mark after 'it' is period, not question"]),
        ("the U.S. team", labels((0, 0), (2, 0), (2, 0)), ["the mark after 'u.s' is period, not one that goes on"]),
        ("no no, not 10,000 .", labels((1, 0), (2, 0), (0, 0), (2, 0)), []),
        ("not you .", labels((0, 0), (0, 0)), ["the mark after 'you' is none, not period"]),
        ("[我]我有两个 app。", labels((0, 1), (0, 0), (0, 0), (0, 0), (0, 0), (2, 0)), []),
        (
            "去了，来了",
            labels((0, 0), (2, 0), (3, 0), (0, 0)),
            ["the mark after '来' is question, not one that goes on"],
        ),
    ],
)
def test_labels_are_judged_by_what_is_written_down(line: str, labelled: Labelled, faults: list[str]) -> None:
    assert judge(parse("en", "names", line), labelled) == faults


def test_of_a_fluent_sentence_only_deletions_are_judged() -> None:
    case = parse("en", FLUENT, "We left, and then it rained.")
    assert case.units == ("we", "left", "and", "then", "it", "rained")
    assert judge(case, ([0, 2, 0, 3, 0, 0], [0] * 6)) == []
    assert judge(case, ([0] * 6, [0, 0, 0, 3, 0, 0])) == ["'then' is B-IM, not O"]


@pytest.mark.parametrize("line", ["[the the cat", "", "[]"])
def test_a_line_that_says_nothing_or_leaves_a_bracket_open_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="no line"):
        parse("en", "names", line)


def test_known_failures_are_read_as_they_were_written(tmp_path: Path) -> None:
    cases = [parse("en", "names", "note: [the] the cat ?"), parse("zh", FLUENT, "好的。")]
    write_known_failures(cases, ["en@1", "zh@1"], tmp_path)
    assert read_known_failures(tmp_path) == {("en", "note: [the] the cat ?"), ("zh", "好的。")}


def test_a_shares_interval_holds_it_and_narrows_with_more_draws() -> None:
    few, many = Share(hits=1, total=10), Share(hits=100, total=1000)
    assert few.percent == many.percent == pytest.approx(10)
    assert few.interval[0] < many.interval[0] < 10 < many.interval[1] < few.interval[1]
    assert (Share(hits=0, total=0).percent, Share(hits=0, total=0).interval) == (0, (0, 100))
    assert Share(hits=0, total=50).interval[0] == 0
    assert few + many == Share(hits=101, total=1010)


every_language = pytest.mark.parametrize("code", ["de", "es", "fr"])
LINES = {line.line: line for line in read_everyday("de")}
FILLER = LINES["Ich hätte {äh} gern zwei Karten für Samstag."]
ANSWERS = [LINES["Nein, danke."], LINES["Wir treffen uns am [Montag] {nein} Dienstag um zehn."]]


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
    assert row(ANSWERS, ends="danke", left_out="treffen") == "| all | 2 | 0 | 80.0 | 1 | 1 of 1 | 1 of 1 |"
