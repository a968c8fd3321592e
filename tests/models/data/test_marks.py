""""""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument, move_marks
from caesura.models.data.joint_marks import ATOMS, as_documents, class_of, read_runs, run_table
from caesura.models.data.marks import read_marks
from caesura.models.data.packed_tests import PackedTest
from caesura.models.data.packing import PackedText, pack
from caesura.models.data.paper_texts import pack_joint_text
from caesura.models.data.recogniser_errors import MisheardWords
from caesura.models.evaluation.papers.tables import count_runs
from caesura.models.evaluation.scoring import scored
from caesura.schemas.labels import Casing, Disfluency, Punctuation
from tests.harness.models.corpora import write_corpus
from tests.harness.models.networks import document, tokenizer

NONE, COMMA, PERIOD, QUESTION = (int(Punctuation(k)) for k in range(4))


def marks(line: str) -> list[tuple[str, int]]:
    return [(word.view, word.mark) for word in read_marks(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Well, we left.", [("well", COMMA), ("we", NONE), ("left", PERIOD)]),
        ("Two things: tea; bread!", [("two", NONE), ("things", COMMA), ("tea", PERIOD), ("bread", PERIOD)]),
        ("Tea -- or bread?", [("tea", COMMA), ("or", NONE), ("bread", QUESTION)]),
        ("Tea\u2014or bread.", [("tea", COMMA), ("or", NONE), ("bread", PERIOD)]),
        ("He said \u201cgo home.\u201d", [("he", NONE), ("said", NONE), ("go", NONE), ("home", PERIOD)]),
        ("It's 3.5 km, right?!", [("it's", NONE), ("3.5", NONE), ("km", COMMA), ("right", QUESTION)]),
    ],
)
def test_every_mark_of_a_text_becomes_one_of_three(line: str, expected: list[tuple[str, int]]) -> None:
    assert marks(line) == expected


def test_an_ellipsis_ends_a_sentence_only_before_a_capital() -> None:
    assert marks("We could... go. Maybe\u2026 Yes.") == [
        ("we", NONE),
        ("could", COMMA),
        ("go", PERIOD),
        ("maybe", PERIOD),
        ("yes", PERIOD),
    ]


def test_a_title_and_an_abbreviation_in_a_sentence_do_not_end_it() -> None:
    assert [mark for _, mark in marks("Dr. Moss moved to the U.S. in May.")] == [0, 0, 0, 0, 0, 0, 0, PERIOD]


def test_the_last_word_of_a_line_without_a_mark_is_unknown() -> None:
    assert marks("and then she")[-1] == ("she", UNKNOWN)
    assert marks("and then she --")[-1] == ("she", UNKNOWN)


def test_a_deleted_words_mark_moves_to_the_last_fluent_word() -> None:
    document = AlignedDocument("made up", "one")
    for word, mark, tag in (
        ("yes", COMMA, Disfluency.O),
        ("um", PERIOD, Disfluency.B_IM),
        ("fine", PERIOD, Disfluency.O),
        ("uh", COMMA, Disfluency.B_IM),
        ("bye", PERIOD, Disfluency.O),
    ):
        document.add(word, int(mark), int(tag))
    move_marks(document)
    assert document.punctuation == [PERIOD, NONE, PERIOD, NONE, PERIOD]


def test_a_comma_that_set_off_a_repair_goes_and_a_full_stop_there_moves() -> None:
    document = AlignedDocument("made up", "one")
    for word, mark, tag in (
        ("and", NONE, Disfluency.O),
        ("we", COMMA, Disfluency.B_RM),
        ("er", COMMA, Disfluency.B_IM),
        ("we", NONE, Disfluency.O),
        ("left", NONE, Disfluency.O),
        ("um", COMMA, Disfluency.B_IM),
        ("at", COMMA, Disfluency.B_RM),
        ("at", NONE, Disfluency.O),
        ("noon", NONE, Disfluency.O),
        ("it", PERIOD, Disfluency.B_RM),
        ("good", PERIOD, Disfluency.O),
    ):
        document.add(word, mark, int(tag))
    move_marks(document)
    marked = [word for word, mark in zip(document.words, document.punctuation, strict=True) if mark == COMMA]
    assert marked == ["left"]
    assert document.punctuation[-3:] == [PERIOD, NONE, PERIOD]


def shown(text: str) -> str:
    words, runs = read_runs(text)
    return " ".join(word + "".join(f"<{ATOMS[atom]}>" for atom in run) for word, run in zip(words, runs, strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('He said, "come."', 'he said<,><"> come<.><">'),
        ('"Come!" she said. "Now?"', 'come<!><"> she said<.><"> now<?><">'),
        ('It rained.\n"Stay," he said.', 'it rained<.><"> stay<,><"> he said<.>'),
        ("\u201cStay,\u201d he said \u2014 twice.", 'stay<,><"> he said<--> twice<.>'),
        ("\u2018Stay,\u2019 he said; we didn't.", "stay<,><\"> he said<;> we didn't<.>"),
        ("Well... (so they say) it--rained", "well<...><(> so they say<)> it<--> rained"),
        ('"""" odd', "odd"),
        ('one.")] "( two', 'one<.><"><)><)> two'),
    ],
)
def test_a_run_is_what_stands_between_two_words(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_the_table_begins_with_single_marks_then_by_frequency() -> None:
    texts = [("a", ["x"] * 6, [(2, 7), (2, 7), (4,), (2,), (), (1, 7)])]
    assert run_table(texts, classes=6) == [(), (1,), (2,), (3,), (2, 7), (1, 7)]


def test_a_run_that_the_table_lacks_is_its_longest_beginning() -> None:
    numbers = {(): 0, (1,): 1, (2,): 2, (2, 7): 4}
    assert [class_of(run, numbers) for run in ((2, 7, 7), (2, 1), (7,), (1,), ())] == [4, 2, 0, 1, 0]


def test_a_sentence_ends_at_a_run_with_a_mark_that_ends_one() -> None:
    texts = [("a", ["no", "he", "said", "go"], [(1, 7), (), (2, 7), (4, 7)])]
    (made,) = as_documents("joint_novels", texts, [(), (1,), (2,), (3,), (1, 7), (2, 7)])
    assert made.punctuation == [4, 0, 5, 0]
    assert made.sentence_starts() == [0, 3]


def test_marks_are_counted_one_by_one_and_joint_marks_as_wholes() -> None:
    counts = count_runs([(2, 7), (1,), (), (2, 7)], [(2,), (1, 7), (), (2, 7)])
    totals = {name: tuple(one.sum(axis=0).tolist()) for name, one in counts.items()}
    assert totals["period"] == (2, 2, 2)
    assert totals["comma"] == (1, 1, 1)
    assert totals["quotes"] == (1, 2, 2)
    assert totals["joint"] == (1, 2, 2)
    assert totals["overall"] == (4, 5, 5)
    assert scored(counts["joint"]).f1 == 50


def test_text_is_packed_in_two_parts_that_share_no_document_and_one_table(tmp_path: Path) -> None:
    corpora, data, tests = tmp_path / "corpora", tmp_path / "data", tmp_path / "tests"
    line = 'the cat saw a bird "today." "where is it?" the dog saw it, then we left. '
    for corpus in ("eltec_novels_fifth", "crd3"):
        write_corpus(corpora, corpus, {f"{corpus} {k}": line * 4 for k in range(80)})
    told = list(pack_joint_text(corpora, data, tests, tokenizer(), max_words=300))
    assert [one.split(":")[0] for one in told] == ["novels, learnt", "novels, test", "talk, learnt", "talk, test"]
    table = [tuple(run) for run in json.loads((data / "runs.json").read_text())]
    assert table[4:] == [(2, 7, 7), (3, 7), (7,)]
    learnt, test = PackedText.load(data / "joint_novels.npz"), PackedTest.load(tests / "joint novels.npz")
    assert learnt.words == 300
    assert table[learnt.punctuation[5]] == (2, 7, 7)
    assert len(test.running) * 64 == test.text.words


SMALL, FIRST, ALL = int(Casing.SMALL), int(Casing.CAPITAL_FIRST), int(Casing.ALL_CAPITALS)


def casing(line: str) -> list[int]:
    return [word.casing for word in read_marks(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("We met Tom in Oslo.", [UNKNOWN, SMALL, FIRST, SMALL, FIRST]),
        ("I know. I'm here.", [FIRST, SMALL, FIRST, SMALL]),
        ("It is on TV. NATO knows.", [UNKNOWN, SMALL, SMALL, ALL, ALL, SMALL]),
        ('He said: "Go home, Mr. Hill."', [UNKNOWN, SMALL, UNKNOWN, SMALL, FIRST, FIRST]),
        ("Well -- The cat... The dog saw 12.", [UNKNOWN, UNKNOWN, SMALL, UNKNOWN, SMALL, SMALL, UNKNOWN]),
        ("My iPhone rang.", [UNKNOWN, int(Casing.AS_GIVEN), SMALL]),
    ],
)
def test_a_capital_that_a_sentence_s_start_may_have_made_says_nothing(line: str, expected: list[int]) -> None:
    assert casing(line) == expected


def test_a_word_that_was_taken_for_another_has_no_known_case() -> None:
    made = document(40)
    made.casing = [SMALL] * len(made.words)
    heard = MisheardWords(["the", "thee", "cat", "cut", "saw", "sow"]).heard(made, _AlwaysWrong(), rate=1.0)
    changed = [k for k, (word, said) in enumerate(zip(made.words, heard.words, strict=False)) if word != said]
    assert changed
    assert {heard.casing[k] for k in changed} == {UNKNOWN}
    assert SMALL in heard.casing


def test_the_case_is_packed_and_text_packed_before_there_was_one_has_none(tmp_path: Path) -> None:
    made = document(3)
    made.casing[0] = ALL
    text = pack([made], tokenizer())
    assert text.casing[0] == ALL
    assert (text.casing[1:] == UNKNOWN).all()
    assert PackedText.joined([text, text]).casing[text.words] == ALL
    text.save(tmp_path / "text.npz")
    with np.load(tmp_path / "text.npz") as arrays:
        np.savez(tmp_path / "older.npz", **{name: arrays[name] for name in arrays if name != "casing"})
    assert PackedText.load(tmp_path / "text.npz").casing[0] == ALL
    assert (PackedText.load(tmp_path / "older.npz").casing == UNKNOWN).all()


class _AlwaysWrong(random.Random):
    """Draws so that each word is taken for another where there is one."""

    def random(self) -> float:
        return 0.9
