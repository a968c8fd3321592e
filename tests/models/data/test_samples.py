from __future__ import annotations

import random
from pathlib import Path

import pytest

pytest.importorskip("torch")

from caesura.models.data.packing import PackedText, pack
from caesura.models.data.resident_text import ResidentText, batches
from caesura.models.data.samples import cut_samples, with_left_context
from caesura.models.networks.ct_transformer import PADDING_WORD
from tests.harness.models.networks import document, tokenizer

pytestmark = pytest.mark.torch


def packed(documents: int = 5) -> PackedText:
    return pack([document(60, seed=seed) for seed in range(documents)], tokenizer())


def test_samples_begin_at_sentence_starts_and_about_half_of_them_carry_a_cut_tail() -> None:
    text = packed(20)
    samples = list(cut_samples(text, random.Random(1)))
    assert all(text.starts_sentence[begin] for begin, _ in samples)
    inside = [end for _, end in samples if end < text.words and not text.starts_sentence[end]]
    assert 0.3 < len(inside) / len(samples) < 0.7


def test_without_tails_every_sample_ends_with_its_sentence() -> None:
    text = packed(20)
    ends = [end for _, end in cut_samples(text, random.Random(1), 0.0)]
    assert all(end == text.words or text.starts_sentence[end] for end in ends)
    assert sum(batch.words for batch in batches(ResidentText(text, 2), max_pieces=400, seed=5, tails=0.0)) == text.words


def test_alone_every_sample_is_one_sentence() -> None:
    text = packed()
    samples = list(cut_samples(text, random.Random(1), alone=1.0))
    assert len(samples) == text.starts_sentence.sum()
    assert [begin for begin, _ in samples[1:]] == [end for _, end in samples[:-1]]
    half = list(cut_samples(text, random.Random(1), alone=0.5))
    assert len({len(half), len(samples), len(list(cut_samples(text, random.Random(1))))}) == 3


def test_the_whole_sentences_of_the_samples_cover_the_text() -> None:
    text = packed()
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
    text = packed()
    first = [batch.pieces for batch in batches(ResidentText(text, 2), max_pieces=400, seed=5)]
    second = [batch.pieces for batch in batches(ResidentText(text, 2), max_pieces=400, seed=5)]
    assert sum(batch.words for batch in batches(ResidentText(text, 2), max_pieces=400, seed=5)) >= text.words
    assert all((a == b).all() for a, b in zip(first, second, strict=True))
    assert all(pieces.numel() <= 400 for pieces in first)


def test_a_share_of_the_samples_begins_up_to_ten_words_before_their_sentence() -> None:
    text = packed(20)
    samples = list(cut_samples(text, random.Random(1)))
    moved = list(with_left_context(samples, random.Random(2), 0.4))
    earlier = [begin - after for (begin, _), (after, _) in zip(samples, moved, strict=True)]
    assert set(earlier) == set(range(11))
    assert 0.3 < sum(words > 0 for words in earlier) / len(samples) < 0.5
    assert [end for _, end in moved] == [end for _, end in samples]
    assert all(begin >= 0 for begin, _ in moved)


def test_without_left_context_every_sample_begins_with_the_first_word_of_a_sentence() -> None:
    text = packed()
    for batch in batches(ResidentText(text, 2), max_pieces=400, seed=5):
        first_words = text.pieces[text.first_piece[:-1][text.starts_sentence]]
        assert set(batch.pieces[:, 1].tolist()) <= set(first_words.tolist())


def test_packed_text_comes_back_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "text.npz"
    text = packed(1)
    text.save(path)
    again = PackedText.load(path)
    assert all((getattr(text, name) == getattr(again, name)).all() for name in PackedText.__slots__)
