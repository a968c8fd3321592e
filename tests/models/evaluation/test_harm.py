"""The table of harm: what counts as a word left out, a changed number, a lost correction, an end without a mark."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from caesura.models.evaluation.harm import HarmRow, SaidSession, harm_table, harms
from caesura.models.evaluation.number_sentences import number_sessions
from caesura.models.evaluation.said_sessions import childes_sessions, line_sessions
from caesura.schemas.labels import Disfluency
from caesura.schemas.segments import SegmentWord
from caesura.worker.core.rendering.cleaning import CleaningLevel

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
