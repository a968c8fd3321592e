"""Runs of marks: read from text, counted, and made classes of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from caesura.models.data.joint_marks import ATOMS, as_documents, class_of, read_runs, run_table
from caesura.models.data.packed_tests import PackedTest
from caesura.models.data.packing import PackedText
from caesura.models.data.paper_texts import pack_joint_text
from caesura.models.evaluation.joint_marks import count_runs
from caesura.models.evaluation.scoring import scored
from tests.harness.models.corpora import write_corpus
from tests.harness.models.networks import tokenizer


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


def test_the_table_begins_with_single_marks_and_goes_on_by_how_often_a_run_occurs() -> None:
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
