"""A teacher's soft labels: their files, and how they reach a batch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from caesura.models.data.packing import PackedText, pack
from caesura.models.data.resident_text import ResidentText, batches
from caesura.models.data.soft_labels import TaughtFile, forget_labels, load_taught, with_pseudo_sentences
from caesura.schemas.labels import Casing
from tests.harness.models.networks import document, tokenizer

pytestmark = pytest.mark.torch

MARKS, TAGS = 4, 5


def packed(sentences: int = 10) -> PackedText:
    return pack([document(sentences, seed=3)], tokenizer())


def said(words: int) -> np.ndarray[tuple[int, int], np.dtype[np.float16]]:
    """Return what a teacher might say: every row another one."""
    rows = np.random.default_rng(1).random((words, MARKS + TAGS)).astype(np.float16)
    return rows.astype(np.float16)


def test_a_file_gets_its_name_when_it_is_full_and_goes_on_after_its_last_row_until_then(tmp_path: Path) -> None:
    rows, path = said(6), tmp_path / "corpus.npy"
    first = TaughtFile(path, 6, MARKS + TAGS)
    first.rows[:4] = rows[:4]
    first.close()
    assert not path.exists()
    second = TaughtFile(path, 6, MARKS + TAGS)
    assert second.done == 4
    second.rows[4:] = rows[4:]
    second.close()
    assert (load_taught(tmp_path, [("corpus", 6)], MARKS + TAGS) == rows).all()
    assert TaughtFile(path, 6, MARKS + TAGS).done == 6


def test_a_file_of_another_text_or_of_another_teacher_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "corpus.npy"
    file = TaughtFile(path, 3, MARKS + TAGS)
    file.rows[:] = said(3)
    file.close()
    with pytest.raises(ValueError, match="another text"):
        load_taught(tmp_path, [("corpus", 4)], MARKS + TAGS)
    with pytest.raises(ValueError, match="another text"):
        TaughtFile(path, 3, MARKS + TAGS + 1)


def test_a_teacher_without_a_third_head_says_nothing_of_capitals(tmp_path: Path) -> None:
    file = TaughtFile(tmp_path / "corpus.npy", 3, MARKS + TAGS)
    file.rows[:] = said(3)
    file.close()
    rows = load_taught(tmp_path, [("corpus", 3)], MARKS + TAGS + len(Casing))
    assert (rows[:, : MARKS + TAGS] == said(3)).all()
    assert not rows[:, MARKS + TAGS :].any()


def test_a_corpus_that_the_teacher_never_read_has_rows_of_zeros(tmp_path: Path) -> None:
    file = TaughtFile(tmp_path / "read.npy", 2, MARKS + TAGS)
    file.rows[:] = said(2)
    file.close()
    rows = load_taught(tmp_path, [("unread", 3), ("read", 2)], MARKS + TAGS)
    assert rows.shape == (5, MARKS + TAGS)
    assert rows.any(axis=1).tolist() == [False, False, False, True, True]


def test_what_the_teacher_said_of_a_word_stands_where_its_label_stands() -> None:
    text = packed()
    rows = said(text.words)
    begin, end = 3, 9
    batch = ResidentText(text, 2, rows).batch([(begin, end), (0, 2)])
    assert batch.taught is not None
    places = (batch.punctuation[0] >= 0).nonzero().flatten()
    assert np.allclose(batch.taught[0, places].numpy(), rows[begin:end])
    assert batch.taught.any(dim=-1).sum() == end - begin + 2


def test_with_a_teacher_the_batches_are_the_same_ones() -> None:
    text = packed(60)
    plain = list(batches(ResidentText(text, 2), max_pieces=200, seed=4))
    told = list(batches(ResidentText(text, 2, said(text.words)), max_pieces=200, seed=4))
    assert all((a.pieces == b.pieces).all() for a, b in zip(plain, told, strict=True))


def test_forgotten_labels_are_unknown_and_its_sentences_are_the_teacher_s() -> None:
    text = forget_labels(packed())
    assert (text.punctuation == -1).all()
    assert (text.disfluency == -1).all()
    rows = np.zeros((text.words, MARKS + TAGS), dtype=np.float16)
    rows[:, 0] = 0.9
    rows[[4, 7, 8], 0] = 0.1
    rows[4, 2] = rows[7, 3] = rows[8, 1] = 0.8  # period, question mark, comma
    starts = with_pseudo_sentences(text, rows, MARKS).starts_sentence
    assert np.flatnonzero(starts).tolist() == [0, 5, 8]


def test_a_sentence_that_people_marked_is_not_cut_by_the_teacher() -> None:
    text = packed()
    rows = np.zeros((text.words, MARKS + TAGS), dtype=np.float16)
    rows[:, 2] = 1.0
    assert (with_pseudo_sentences(text, rows, MARKS).starts_sentence == text.starts_sentence).all()
    half = replace(text, punctuation=np.where(np.arange(text.words) < 5, -1, text.punctuation).astype(np.int8))
    assert with_pseudo_sentences(half, rows, MARKS).starts_sentence[1:6].all()
