"""What a teacher says of packed text: class probabilities, one row a word, in one file a corpus beside the text's.

A file is an array (words, classes) of half precision, so that it can be filled and read in place: a row holds the
probabilities of the P marks, then of the Q tags, then of the C ways of casing if the teacher has that head. A head
that the teacher was not asked for has zeros. Rows are written in order, and a row of zeros is still to come; only
a file that is full has its final name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from caesura.models.data.aligned_words import UNKNOWN
from caesura.models.data.packing import PackedText
from caesura.schemas.labels import Casing, Punctuation

Taught = NDArray[np.float16]
"""(words, P + Q) or (words, P + Q + C): see the head of the file."""

_ENDS = [int(mark) for mark in Punctuation if mark.ends_sentence]


class TaughtFile:
    """The rows of one corpus while they are written; an interrupted writing goes on after the last row."""

    def __init__(self, path: Path, words: int, classes: int) -> None:
        """Open the rows of ``path`` to write; ValueError where what is there is of another text or teacher."""
        self._path = path
        self._partial = path if path.exists() else path.with_suffix(".partial.npy")
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = "r+" if self._partial.exists() else "w+"
        self.rows: np.memmap[tuple[int, int], np.dtype[np.float16]] = np.lib.format.open_memmap(
            self._partial, mode=mode, dtype=np.float16, shape=(words, classes)
        )
        _check(self.rows, self._partial, words, classes)

    @property
    def done(self) -> int:
        """Return how many rows are written."""
        missing = np.flatnonzero(~np.any(self.rows, axis=1))
        return int(missing[0]) if len(missing) else len(self.rows)

    def close(self) -> None:
        """Write what is in memory to the disk, and give a full file its name."""
        self.rows.flush()
        if self.done == len(self.rows):
            self._partial.replace(self._path)


def load_taught(folder: Path, sizes: Iterable[tuple[str, int]], classes: int) -> Taught:
    """Return the rows of the corpora one after the other, zeros for one without a file.

    sizes: each corpus and its number of words. A teacher without a third head said nothing of capitals: zeros there.
    ValueError where a file does not fit its corpus.
    """
    parts: list[Taught] = []
    for corpus, words in sizes:
        path = folder / f"{corpus}.npy"
        if not path.exists():
            parts.append(np.zeros((words, classes), dtype=np.float16))
            continue
        rows = np.load(path, mmap_mode="r")
        if rows.ndim == 2 and classes - rows.shape[1] == len(Casing):
            rows = np.pad(rows, ((0, 0), (0, len(Casing))))
        _check(rows, path, words, classes)
        parts.append(rows)
    return np.concatenate(parts)


def _check(rows: Taught, path: Path, words: int, classes: int) -> None:
    if rows.shape != (words, classes):
        raise ValueError(f"{path} holds {rows.shape}, not ({words}, {classes}): it is of another text or teacher")


def forget_labels(text: PackedText) -> PackedText:
    """Return the text as if nobody had labelled it: for words that are to be learnt from the teacher alone."""
    unknown = np.full(text.words, UNKNOWN, dtype=np.int8)
    starts = np.zeros(text.words, dtype=np.bool_)
    starts[:1] = True
    return replace(text, punctuation=unknown, disfluency=unknown, starts_sentence=starts)


def with_pseudo_sentences(text: PackedText, taught: Taught, marks: int) -> PackedText:
    """Return the text with a sentence start after each word of unknown mark that the teacher ends a sentence at.

    marks: P, how many of the columns of ``taught`` are of marks.
    """
    told = taught[:, :marks]
    ends = (text.punctuation == UNKNOWN) & told.any(axis=1) & np.isin(told.argmax(axis=1), _ENDS)
    starts = text.starts_sentence.copy()
    starts[1:] |= ends[:-1]
    return replace(text, starts_sentence=starts)
