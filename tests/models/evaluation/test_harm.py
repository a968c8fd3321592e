"""The table of harm: what counts as a word left out, a changed number, a lost correction, an end without a mark."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.data.recogniser_errors import MisheardWords
from caesura.models.evaluation.harm import HarmRow, SaidSession, harm_table, harms
from caesura.models.evaluation.misheard import MisheardFigure, misheard, misheard_table
from caesura.models.evaluation.number_sentences import number_sessions
from caesura.models.evaluation.said_sessions import childes_sessions, line_sessions
from caesura.schemas.labels import Disfluency
from caesura.schemas.segments import SegmentWord
from caesura.worker.core.rendering.cleaning import CleaningLevel
from tests.harness.models.corpora import write_corpus
from tests.harness.places import SHIPPED

TAGS = {"R": int(Disfluency.B_RM), "F": int(Disfluency.B_IM), "-": int(Disfluency.O)}
PUBLISHED = {"R": "B-RM", "F": "B-IM", "-": "O"}


def said(words: str, tags: str, *, finished: bool = False) -> SaidSession:
    return SaidSession(
        language="en", words=tuple(words.split()), tags=tuple(TAGS[tag] for tag in tags), finished=finished
    )


def published(words: str, tags: str, end: str = "none") -> list[SegmentWord]:
    texts = words.split()
    return [
        SegmentWord(
            text=text,
            punctuation=end if place == len(texts) - 1 else "none",  # type: ignore[arg-type]
            disfluency=PUBLISHED[tag],  # type: ignore[arg-type]
        )
        for place, (text, tag) in enumerate(zip(texts, tags, strict=True))
    ]


def test_a_word_that_was_meant_and_is_left_out_is_counted() -> None:
    words = "the man you know is um here"
    harm = harms([said(words, "-----F-")], [published(words, "--FF-F-")], CleaningLevel.FULL)
    assert (harm.content, harm.left_out, harm.left_out_places) == (6, 2, [(0, 2), (0, 3)])
    assert harm.left_out_of_10_000 == pytest.approx(10_000 / 3)


def test_of_two_equal_copies_either_may_go() -> None:
    words = "in the in the house"
    harm = harms([said(words, "RR---")], [published(words, "--RR-")], CleaningLevel.FULL)
    assert harm.left_out == 0


def test_a_number_that_loses_a_word_is_changed_and_counted_once() -> None:
    words = "six hundred and forty seven dollars and two cents"
    harm = harms([said(words, "-" * 9)], [published(words, "--RR-----")], CleaningLevel.FULL)
    assert (harm.numbers, harm.numbers_changed, harm.left_out) == (2, 1, 2)


@pytest.mark.parametrize(
    ("tags", "wrong"),
    [("-----", 0), ("-RRF-", 0), ("---F-", 1), ("-R-F-", 0)],
    ids=["as said", "right", "wrong", "half"],
)
def test_a_correction_keeps_the_wrong_value_where_only_its_cue_goes(tags: str, wrong: int) -> None:
    words = "on the second no twelfth"
    harm = harms([said(words, "-RRF-")], [published(words, tags)], CleaningLevel.FULL)
    assert (harm.corrections, harm.wrong_value_kept) == (1, wrong)


@pytest.mark.parametrize(("end", "without"), [("none", 1), ("comma", 1), ("period", 0), ("question", 0)])
def test_a_finished_session_wants_a_sentence_mark(end: str, without: int) -> None:
    harm = harms(
        [said("hello there um", "--F", finished=True)], [published("hello there um", "--F", end)], CleaningLevel.FULL
    )
    assert (harm.finished, harm.without_mark) == (1, without)


def test_a_level_that_keeps_repairs_leaves_out_less() -> None:
    words = "we uh the man left"
    sessions, out = [said(words, "-----")], [published(words, "-FR--")]
    left_out = {level: harms(sessions, out, level).left_out for level in CleaningLevel}
    assert left_out == {"off": 0, "light": 1, "medium": 1, "full": 2}


def test_a_labelled_line_is_read_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    row = {
        "lang": "en",
        "input": "um yes it is",
        "accept": [
            ["Um", "", [""], "F", False],
            ["yes", "", [""], "O", False],
            ["it", "", [""], None, False],
            ["is", ".", ["."], None, False],
        ],
    }
    path = tmp_path / "lines.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    (session,) = line_sessions(path)
    assert session == SaidSession(language="en", words=("um", "yes", "it", "is"), tags=(3, -1, 0, 0), finished=True)
    path.write_text(json.dumps(row) + "\n" + json.dumps({**row, "input": "um yes"}) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 2: .*2 words in input, 4 in accept"):
        list(line_sessions(path))


def test_a_clitic_of_childes_is_joined_to_its_word(tmp_path: Path) -> None:
    (tmp_path / "labelled").mkdir()
    line = {"words": [["Um", "IM"], ["she", "RM"], ["he", "O"], ["'s", "O"], ["here", "O"]], "end": "."}
    with lzma.open(tmp_path / "labelled" / "childes_own.jsonl.xz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    (session,) = childes_sessions(tmp_path)
    assert session.words == ("um", "she", "he's", "here")
    assert session.tags == (3, 1, 0, 0)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_number_sentences_are_the_same_for_a_seed_and_hold_numbers(language: str) -> None:
    first = list(number_sessions(language, each=3, seed=5))
    assert first == list(number_sessions(language, each=3, seed=5))
    assert first != list(number_sessions(language, each=3, seed=6))
    kept = [[SegmentWord(text=word, punctuation="none", disfluency="O") for word in one.words] for one in first]
    harm = harms(first, kept, CleaningLevel.FULL)
    assert harm.numbers >= len(first)
    assert (harm.left_out, harm.without_mark) == (0, len(first))


def test_the_table_has_a_row_a_text_and_level() -> None:
    words = "two um hours"
    harm = harms([said(words, "-F-")], [published(words, "-FR")], CleaningLevel.FULL)
    row = HarmRow(model="m@1", text="t", level=CleaningLevel.FULL, harm=harm)
    assert harm_table([row]).splitlines()[-1] == "| m@1 | t | full | 5000.0 (1 of 2) | 0 of 1 | – | – |"


ALIKE = MisheardWords(["dog", "tick", "duck", "saw", "see", "bird", "part"])


def document(name: str) -> AlignedDocument:
    made = AlignedDocument("made up", name)
    for word in ["the", "dog", "saw", "the", "bird", "and", "the", "duck", "saw", "the", "dog"] * 20:
        made.add(word, 0, 0)
    return made


def test_errors_are_drawn_alike_each_time_and_more_of_them_at_a_higher_rate() -> None:
    documents = [document("one"), document("two")]
    assert [one.words for one in misheard(documents, ALIKE, 0.0)] == [one.words for one in documents]
    first, again = (misheard(documents, ALIKE, 0.2) for _ in range(2))
    assert [one.words for one in first] == [one.words for one in again]
    assert first[0].words != first[1].words  # a document's errors are its own
    few, many = (
        sum(one.words.count("duck") + one.words.count("dog") for one in misheard(documents, ALIKE, rate))
        for rate in (0.05, 0.5)
    )
    assert few > many  # they are taken for "tick"


def test_the_table_pairs_models_at_each_rate_and_adds_the_texts_up() -> None:
    def figure(text: str, model: str, hits: int) -> MisheardFigure:
        return MisheardFigure(text=text, rate=0.05, model=model, counts=np.array([[hits, 10, 10]] * 4))

    table = misheard_table([figure("a", "old", 5), figure("a", "new", 8), figure("b", "old", 5), figure("b", "new", 6)])
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert rows[0] == ["text", "errors a hundred words", "old", "new", "new less old"]
    assert [row[:2] for row in rows[2:]] == [["a", "5"], ["b", "5"], ["all", "5"]]
    assert rows[-1][2] == "50.0 (50.0 to 50.0)"
    assert [cell.split()[0] for cell in rows[-1][2:]] == ["50.0", "70.0", "+20.0"]


def test_the_command_scores_a_folder_s_english_model_on_held_out_text(tmp_path: Path) -> None:
    said = "We looked at the numbers this morning, and I think they are fine. What do you think? Let me know tomorrow. "
    write_corpus(tmp_path, "crd3", {f"talk-{number}": said * 5 for number in range(60)})
    command = ["misheard", "--models", str(SHIPPED), "--corpora", str(tmp_path), "--corpus", "crd3"]
    ran = CliRunner().invoke(app, [*command, "--max-words", "200", "--rate", "0", "--rate", "0.6", "--threads", "1"])
    assert ran.exit_code == 0, ran.output
    rows = [line.split("|") for line in ran.output.splitlines() if line.startswith("| crd3")]
    assert [row[2].strip() for row in rows] == ["0", "60"]
    clean, heard = (float(row[3].split()[0]) for row in rows)
    assert clean > heard > 0
    refused = CliRunner().invoke(app, [*command, "--rate", "2"])
    assert refused.exit_code == 2
    assert "--rate" in refused.output
    refused = CliRunner().invoke(app, [*command, "--language", "zh"])
    assert "no rules of what sounds alike" in refused.output


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_an_empty_text_is_no_error(rate: float) -> None:
    assert misheard([AlignedDocument("made up", "none")], ALIKE, rate)[0].words == []
