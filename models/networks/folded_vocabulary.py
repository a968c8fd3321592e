"""A cased encoder of many languages as a start for bare, lower-case words: pieces folded, frequent words made whole.

A recogniser sends "die rechnung", and an encoder that has read "die Rechnung" knows that noun by its capital: in small
letters it is cut into pieces that mean nothing. So each piece of the vocabulary here is a folded form, and its row is
the mean of the rows of the encoder's pieces that fold to it, weighted by the tokenizer's own probabilities. Words of
the text that would be cut still, and are frequent, are pieces of their own; their row is the mean of the pieces of the
form that the tokenizer finds likelier, with a capital or without. Words are cut as ``WordPiece`` cuts them by a
vocabulary with ``[ACCENTED]``.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from caesura.models.networks.pieces import LEADING, UNKNOWN_PIECE
from caesura.worker.core.language.normalisation import model_view
from caesura.worker.inference.model.wordpiece import ACCENTED, WordPiece, accented_runs

_EMBEDDING = "embeddings.word_embeddings.weight"
_BEGINS = "\u2581"
_SPECIAL = {"[PAD]": "<pad>", UNKNOWN_PIECE: "<unk>", LEADING: "<s>", "[SEP]": "</s>", ACCENTED: "<mask>"}
_MOST_PIECES = 10**6

EmbeddingRows = NDArray[np.float32]


def write_folded(
    encoder: Path,
    tokenizer_file: Path,
    words: Mapping[str, int],
    weights: Path,
    vocabulary: Path,
    *,
    least_whole: int = 30,
    least_kept: int = 4,
) -> int:
    """Write the encoder with its folded embedding, and the vocabulary; return how many pieces there are.

    encoder: safetensors of a BERT; tokenizer_file: its ``tokenizer.json``, a Unigram's. words: the words of the text in
    the model's view, with how often they stand there. least_whole: how often a word does that is a piece of its own.
    least_kept: how often a piece is used that is kept.
    """
    tensors = load_file(str(encoder))
    model = json.loads(tokenizer_file.read_text(encoding="utf-8"))["model"]
    tokenizer, embedding = Tokenizer.from_file(str(tokenizer_file)), tensors[_EMBEDDING].astype(np.float32)
    rows = _folded_rows(model["vocab"], embedding)
    runs: Counter[str] = Counter()
    for word, times in words.items():
        for run in accented_runs(word):
            runs[run] += times
    scores: dict[str, float] = dict(model["vocab"])
    for run, times in runs.items():
        if (
            times >= least_whole
            and run not in rows
            and (row := _composed(run, tokenizer, embedding, scores)) is not None
        ):
            rows[run] = row
    kept = _used(rows, runs, least_kept)
    numbers = {piece: number for number, (piece, _) in enumerate(model["vocab"])}
    special = [embedding[numbers[theirs]] for theirs in _SPECIAL.values()]
    tensors[_EMBEDDING] = np.stack([*special, *(rows[piece] for piece in kept)])
    for path in (weights, vocabulary):
        path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, str(weights), metadata={"format": "pt"})
    pieces = [*_SPECIAL, *kept]
    vocabulary.write_text("\n".join(pieces) + "\n", encoding="utf-8")
    return len(pieces)


def _folded_rows(vocabulary: list[tuple[str, float]], embedding: EmbeddingRows) -> dict[str, EmbeddingRows]:
    """Return a row for each folded piece: a word's beginning as it is, an inner piece with ``##``."""
    forms: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for number, (piece, score) in enumerate(vocabulary):
        bare = piece.removeprefix(_BEGINS)
        folded = model_view(bare) if len(bare) > 1 else bare.casefold()
        if folded and piece not in _SPECIAL.values() and _is_piece(folded):
            forms[folded if piece.startswith(_BEGINS) else f"##{folded}"].append((number, score))
    rows = {folded: _mean(found, embedding) for folded, found in forms.items()}
    for piece in [piece for piece in rows if len(piece.removeprefix("##")) == 1]:  # any word can be spelled
        letter = piece.removeprefix("##")
        rows.setdefault(letter, rows[piece])
        rows.setdefault(f"##{letter}", rows[piece])
    return rows


def _is_piece(folded: str) -> bool:
    return len(folded) == 1 or all(char.isalnum() and _is_latin(char) for char in folded)


def _is_latin(char: str) -> bool:
    return char.isdecimal() or "LATIN" in unicodedata.name(char, "")


def _mean(found: list[tuple[int, float]], embedding: EmbeddingRows) -> EmbeddingRows:
    numbers = [number for number, _ in found]
    weights = np.exp(np.array([score for _, score in found]) - max(score for _, score in found))
    return np.asarray((embedding[numbers] * (weights / weights.sum())[:, None]).sum(axis=0), dtype=np.float32)


def _composed(
    run: str, tokenizer: Tokenizer, embedding: EmbeddingRows, scores: Mapping[str, float]
) -> EmbeddingRows | None:
    """Return the mean row of the pieces of a run, in the likelier of its two forms; None where one is unknown."""
    found = []
    for form in (run, run[:1].upper() + run[1:]):
        cut = tokenizer.encode(form, add_special_tokens=False)
        if "<unk>" not in cut.tokens:
            numbers = [number for number, piece in zip(cut.ids, cut.tokens, strict=True) if piece != _BEGINS]
            found.append((sum(scores[piece] for piece in cut.tokens), numbers))
    if not found or not found[0][1]:
        return None
    return np.asarray(embedding[max(found)[1]].mean(axis=0), dtype=np.float32)


def _used(rows: Mapping[str, EmbeddingRows], runs: Mapping[str, int], least: int) -> list[str]:
    """Return the pieces that the text's runs are cut into often enough, and all single characters."""
    names = [UNKNOWN_PIECE, ACCENTED, *rows]
    cutter, used = WordPiece(names, max_pieces=_MOST_PIECES, unknown=UNKNOWN_PIECE), Counter[str]()
    for run, times in runs.items():
        for number in cutter.pieces(run):
            used[names[number]] += times
    kept = [piece for piece in rows if used[piece] >= least or len(piece.removeprefix("##")) == 1]
    return sorted(kept, key=lambda piece: -used[piece])
