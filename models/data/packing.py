"""Aligned documents as flat arrays of sub-word numbers and labels: what training reads, quick to load and to cut.

One row a word in ``punctuation``, ``disfluency``, ``casing``, ``starts_sentence`` and ``first_piece``; word k has the
pieces ``pieces[first_piece[k]:first_piece[k + 1]]``. Documents lie one after the other, each beginning with a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.worker.inference.model.wordpiece import WordPiece


@dataclass(frozen=True, slots=True)
class PackedText:
    """The arrays; see the head of the file."""

    pieces: NDArray[np.uint16]
    first_piece: NDArray[np.int64]
    punctuation: NDArray[np.int8]
    disfluency: NDArray[np.int8]
    starts_sentence: NDArray[np.bool_]
    casing: NDArray[np.int8]

    @property
    def words(self) -> int:
        """How many words there are."""
        return len(self.punctuation)

    def word(self, place: int, vocabulary: Sequence[str]) -> str:
        """Return a word, put together from its pieces. vocabulary: of the pieces that the text was packed with."""
        numbers = self.pieces[self.first_piece[place] : self.first_piece[place + 1]]
        return "".join(vocabulary[number].removeprefix("##") for number in numbers)

    def save(self, path: Path) -> None:
        """Write the arrays to one ``.npz`` file, in place of an older one."""
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial.npz")
        np.savez(partial, **{name: getattr(self, name) for name in self.__slots__})
        partial.replace(path)

    @classmethod
    def load(cls, path: Path) -> PackedText:
        """Read what ``save`` wrote; text that was packed before there were capitals has none."""
        with np.load(path) as arrays:
            known = [arrays[name] for name in cls.__slots__ if name in arrays]
        if len(known) < len(cls.__slots__):
            known.append(np.full(len(known[-1]), UNKNOWN, dtype=np.int8))
        return cls(*known)

    @classmethod
    def joined(cls, parts: list[PackedText]) -> PackedText:
        """Return the texts one after the other."""
        offsets = np.cumsum([0] + [len(part.pieces) for part in parts])
        firsts = [part.first_piece[:-1] + offset for part, offset in zip(parts, offsets, strict=False)]
        return cls(
            np.concatenate([part.pieces for part in parts]),
            np.concatenate([*firsts, offsets[-1:]]),
            np.concatenate([part.punctuation for part in parts]),
            np.concatenate([part.disfluency for part in parts]),
            np.concatenate([part.starts_sentence for part in parts]),
            np.concatenate([part.casing for part in parts]),
        )


def pack(documents: Iterable[AlignedDocument], tokenizer: WordPiece) -> PackedText:
    """Pack the documents in the order given."""
    pieces: list[int] = []
    first_piece = [0]
    punctuation: list[int] = []
    disfluency: list[int] = []
    casing: list[int] = []
    starts: list[int] = []
    for document in documents:
        starts.extend(start + len(punctuation) for start in document.sentence_starts())
        for word in document.words:
            pieces.extend(tokenizer.pieces(word))
            first_piece.append(len(pieces))
        punctuation.extend(document.punctuation)
        disfluency.extend(document.disfluency)
        casing.extend(document.casing)
    starts_sentence = np.zeros(len(punctuation), dtype=np.bool_)
    starts_sentence[starts] = True
    return PackedText(
        np.array(pieces, dtype=np.uint16),
        np.array(first_piece, dtype=np.int64),
        np.array(punctuation, dtype=np.int8),
        np.array(disfluency, dtype=np.int8),
        starts_sentence,
        np.array(casing, dtype=np.int8),
    )
