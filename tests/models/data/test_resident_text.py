"""Batches gathered from text that lies on a device."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from caesura.models.data.packing import PackedText, pack
from caesura.models.data.resident_text import IGNORED, ResidentText, batches
from caesura.models.networks.ct_transformer import PADDING_WORD
from tests.harness.models.networks import LEADING, document, tokenizer

pytestmark = pytest.mark.torch


def packed() -> PackedText:
    made = [document(20, seed=seed) for seed in range(3)]
    made[0].words[3] = "cafe"  # several pieces
    for one in made:
        one.casing = [k % 4 for k in range(len(one.words))]
    return pack(made, tokenizer())


def test_a_batch_holds_the_pieces_and_all_labels_of_its_samples_and_nothing_of_the_words_beside_them() -> None:
    text = packed()
    samples = [(0, 9), (5, 30), (text.words - 4, text.words)]
    batch = ResidentText(text, LEADING).batch(samples)
    for row, (begin, end) in enumerate(samples):
        first, after = int(text.first_piece[begin]), int(text.first_piece[end])
        size = after - first + 1
        assert batch.pieces[row, :size].tolist() == [LEADING, *text.pieces[first:after].tolist()]
        last = torch.from_numpy(text.first_piece[begin + 1 : end + 1] - first)
        assert batch.word_index[row, last].tolist() == list(range(1, end - begin + 1))
        assert (batch.word_index[row, size:] == PADDING_WORD).all()
        for labels, known in (
            (batch.punctuation, text.punctuation),
            (batch.disfluency, text.disfluency),
            (batch.casing, text.casing),
        ):
            assert labels[row, last].tolist() == known[begin:end].tolist()
            assert int((labels[row] != IGNORED).sum()) == end - begin


def test_a_teacher_s_rows_stand_at_the_last_pieces_of_their_words() -> None:
    text = packed()
    rows = np.random.default_rng(1).random((text.words, 13)).astype(np.float16)
    batch = ResidentText(text, LEADING, rows).batch([(2, 12)])
    assert batch.taught is not None
    assert np.array_equal(batch.taught[0, batch.punctuation[0] != IGNORED].numpy(), rows[2:12].astype(np.float32))
    assert not batch.taught[0, batch.punctuation[0] == IGNORED].any()


def test_no_sample_is_longer_than_the_longest_that_is_asked_for() -> None:
    text = packed()
    read = list(batches(ResidentText(text, LEADING), max_pieces=400, seed=3, tails=0.0, longest=12))
    assert sum(batch.words for batch in read) >= text.words - 3 * 12
    assert max(int(batch.word_index[batch.word_index < PADDING_WORD].max()) for batch in read) <= 12
