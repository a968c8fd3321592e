"""A cased encoder's embedding, folded: forms share a row, frequent words are whole, every word can be spelled."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tokenizers")

from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers

from caesura.models.networks.folded_vocabulary import write_folded
from caesura.worker.inference.model.wordpiece import ACCENTED, WordPiece

EMBEDDING = "embeddings.word_embeddings.weight"
PIECES = [
    *((name, 0.0) for name in ("<s>", "<pad>", "</s>", "<unk>")),
    ("\u2581", -3.0),
    ("\u2581Frage", -8.0),
    ("\u2581frage", -8.0 - math.log(3)),
    ("\u2581Bund", -9.0),
    ("es", -5.0),
    ("tag", -7.0),
    ("\u2581t\u00fa", -6.0),
    ("\u2581tu", -6.0),
    *((letter, -12.0) for letter in "abdefgnrstu"),
    ("<mask>", 0.0),
]
NUMBERS = {piece: number for number, (piece, _) in enumerate(PIECES)}
WORDS = {"frage": 50, "bundestag": 40, "t\u00fa": 9, "tu": 9, "rad": 2}


def folded(folder: Path) -> tuple[list[str], np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    tokenizer = Tokenizer(models.Unigram(PIECES, unk_id=3, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always")
    tokenizer.save(str(folder / "tokenizer.json"))
    rows = np.arange(len(PIECES), dtype=np.float32)[:, None] * np.ones((1, 4), dtype=np.float32)
    save_file({EMBEDDING: rows, "other": np.ones(2, dtype=np.float32)}, str(folder / "encoder.safetensors"))
    found = write_folded(
        folder / "encoder.safetensors",
        folder / "tokenizer.json",
        WORDS,
        folder / "start.safetensors",
        folder / "vocabulary.txt",
    )
    pieces = (folder / "vocabulary.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    tensors = load_file(str(folder / "start.safetensors"))
    assert found == len(pieces) == len(tensors[EMBEDDING])
    assert tensors["other"].tolist() == [1, 1]
    return pieces, tensors[EMBEDDING]


def test_a_word_has_the_row_of_the_forms_that_fold_to_it_by_their_probability(tmp_path: Path) -> None:
    pieces, rows = folded(tmp_path)
    wanted = 0.75 * NUMBERS["\u2581Frage"] + 0.25 * NUMBERS["\u2581frage"]
    assert rows[pieces.index("frage")] == pytest.approx(wanted)


def test_a_frequent_word_is_whole_with_the_mean_row_of_its_likelier_form(tmp_path: Path) -> None:
    pieces, rows = folded(tmp_path)
    wanted = (NUMBERS["\u2581Bund"] + NUMBERS["es"] + NUMBERS["tag"]) / 3
    assert rows[pieces.index("bundestag")] == pytest.approx(wanted)


def test_accents_tell_words_apart_and_a_rare_word_is_spelled(tmp_path: Path) -> None:
    pieces, _ = folded(tmp_path)
    tokenizer = WordPiece(pieces, max_pieces=8)
    assert pieces[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", ACCENTED]
    names = {word: [pieces[number] for number in tokenizer.pieces(word)] for word in WORDS}
    assert names["t\u00fa"] == ["t\u00fa"]
    assert names["tu"] == ["tu"]
    assert names["rad"] == ["r", "##a", "##d"]
