"""A teacher's soft labels: their files, and how they reach a batch."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from caesura.models.data.packing import PackedText, pack
from caesura.models.data.resident_text import ResidentText, batches
from caesura.models.data.samples import cut_samples, with_left_context
from caesura.models.data.soft_labels import TaughtFile, forget_labels, load_taught, with_pseudo_sentences
from caesura.schemas.labels import Casing
from caesura.worker.inference.network.full_network import PADDING_WORD
from tests.harness.models.networks import document, tokenizer

MARKS, TAGS = 4, 5


def packed(sentences: int = 10) -> PackedText:
    return pack([document(sentences, seed=3)], tokenizer())


def said(words: int) -> np.ndarray[tuple[int, int], np.dtype[np.float16]]:
    """Return what a teacher might say: every row another one."""
    rows = np.random.default_rng(1).random((words, MARKS + TAGS)).astype(np.float16)
    return rows.astype(np.float16)


def test_a_file_gets_its_name_when_full_and_is_resumed_until_then(tmp_path: Path) -> None:
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


def packed_documents(documents: int = 5) -> PackedText:
    return pack([document(60, seed=seed) for seed in range(documents)], tokenizer())


def test_samples_begin_at_sentence_starts_and_half_carry_a_cut_tail() -> None:
    text = packed_documents(20)
    samples = list(cut_samples(text, random.Random(1)))
    assert all(text.starts_sentence[begin] for begin, _ in samples)
    inside = [end for _, end in samples if end < text.words and not text.starts_sentence[end]]
    assert 0.3 < len(inside) / len(samples) < 0.7


def test_without_tails_every_sample_ends_with_its_sentence() -> None:
    text = packed_documents(20)
    ends = [end for _, end in cut_samples(text, random.Random(1), 0.0)]
    assert all(end == text.words or text.starts_sentence[end] for end in ends)
    assert sum(batch.words for batch in batches(ResidentText(text, 2), max_pieces=400, seed=5, tails=0.0)) == text.words


def test_alone_every_sample_is_one_sentence() -> None:
    text = packed_documents()
    samples = list(cut_samples(text, random.Random(1), alone=1.0))
    assert len(samples) == text.starts_sentence.sum()
    assert [begin for begin, _ in samples[1:]] == [end for _, end in samples[:-1]]
    half = list(cut_samples(text, random.Random(1), alone=0.5))
    assert len({len(half), len(samples), len(list(cut_samples(text, random.Random(1))))}) == 3


def test_the_whole_sentences_of_the_samples_cover_the_text() -> None:
    text = packed_documents()
    begins = [begin for begin, _ in cut_samples(text, random.Random(2))]
    ends = [end for _, end in cut_samples(text, random.Random(2))]
    assert begins[0] == 0
    assert ends[-1] == text.words
    assert all(end >= begin for end, begin in zip(ends, begins[1:], strict=False))


def test_labels_stand_at_the_last_piece_of_a_word_and_padding_has_none() -> None:
    made = document(1)
    made.words[0] = "cafe"  # several pieces
    text = pack([made], tokenizer())
    batch = ResidentText(text, 2).batch([(0, text.words), (0, 2)])
    pieces = int(text.first_piece[1])
    assert pieces > 1
    assert batch.punctuation[0, 1:pieces].tolist() == [-100] * (pieces - 1)
    assert batch.punctuation[0, pieces] == made.punctuation[0]
    assert batch.word_index[1, -1] == PADDING_WORD
    assert batch.punctuation[1, -1] == -100


def test_an_unknown_label_is_masked() -> None:
    made = document(1)
    made.disfluency[1] = -1
    text = pack([made], tokenizer())
    batch = ResidentText(text, 2).batch([(0, text.words)])
    assert batch.disfluency[0, int(text.first_piece[2])] == -100


def test_an_epoch_reads_every_word_and_is_the_same_for_the_same_seed() -> None:
    text = packed_documents()
    first = [batch.pieces for batch in batches(ResidentText(text, 2), max_pieces=400, seed=5)]
    second = [batch.pieces for batch in batches(ResidentText(text, 2), max_pieces=400, seed=5)]
    assert sum(batch.words for batch in batches(ResidentText(text, 2), max_pieces=400, seed=5)) >= text.words
    assert all((a == b).all() for a, b in zip(first, second, strict=True))
    assert all(pieces.numel() <= 400 for pieces in first)


def test_a_share_of_the_samples_begins_up_to_ten_words_before_their_sentence() -> None:
    text = packed_documents(20)
    samples = list(cut_samples(text, random.Random(1)))
    moved = list(with_left_context(samples, random.Random(2), 0.4))
    earlier = [begin - after for (begin, _), (after, _) in zip(samples, moved, strict=True)]
    assert set(earlier) == set(range(11))
    assert 0.3 < sum(words > 0 for words in earlier) / len(samples) < 0.5
    assert [end for _, end in moved] == [end for _, end in samples]
    assert all(begin >= 0 for begin, _ in moved)


def test_without_left_context_every_sample_begins_a_sentence() -> None:
    text = packed_documents()
    for batch in batches(ResidentText(text, 2), max_pieces=400, seed=5):
        first_words = text.pieces[text.first_piece[:-1][text.starts_sentence]]
        assert set(batch.pieces[:, 1].tolist()) <= set(first_words.tolist())


def test_packed_text_comes_back_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "text.npz"
    text = packed_documents(1)
    text.save(path)
    again = PackedText.load(path)
    assert all((getattr(text, name) == getattr(again, name)).all() for name in PackedText.__slots__)
