"""Test texts packed once, with every way that they are cut: as running text, and each sentence by itself.

A test that is packed can be labelled where the training text is packed too, in large batches and without the serving
side, which is what many small networks want. Labels are the gold ones; a word whose label nobody knows has ``UNKNOWN``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.data.dev_talks import dev_half
from caesura.models.data.iwslt import BenchmarkText, read_iwslt
from caesura.models.data.packing import PackedText, pack
from caesura.models.data.swda import Role, SpeakerSide, read_swda_test
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.core.language.normalisation import model_view
from caesura.worker.inference.model.wordpiece import WordPiece

CUTS = ("running", "sentences")

_ENDS = (int(Punctuation.PERIOD), int(Punctuation.QUESTION))
_INTERREGNA = (Role.FILLED_PAUSE, Role.EDITING_TERM, Role.DISCOURSE_MARKER)


@dataclass(frozen=True, slots=True)
class PackedTest:
    """A text and its cuts. running, sentences: (parts, 2), the first word of each part and the one after its last."""

    text: PackedText
    running: NDArray[np.int64]
    sentences: NDArray[np.int64]

    def cut(self, name: str) -> NDArray[np.int64]:
        """Return the parts of a cut, one of ``CUTS``."""
        if name not in CUTS:
            raise ValueError(f"there is no cut {name!r}; there are {', '.join(CUTS)}")
        parts: NDArray[np.int64] = getattr(self, name)
        return parts

    def words(self, vocabulary: Sequence[str]) -> list[str]:
        """Return the words, put together from their pieces. vocabulary: of the pieces that the test was packed with."""
        return [self.text.word(place, vocabulary) for place in range(self.text.words)]

    def save(self, path: Path) -> None:
        """Write the text beside the cuts: ``path`` and its ``.cuts.npz``."""
        self.text.save(path)
        np.savez(path.with_suffix(".cuts.npz"), running=self.running, sentences=self.sentences)

    @classmethod
    def load(cls, path: Path) -> PackedTest:
        """Read what ``save`` wrote."""
        with np.load(path.with_suffix(".cuts.npz")) as cuts:
            return cls(PackedText.load(path), cuts["running"], cuts["sentences"])


def packed_test(
    documents: Sequence[AlignedDocument], sentences: Iterable[Sequence[int]], tokenizer: WordPiece
) -> PackedTest:
    """Pack documents. sentences: for each, the count of words up to the end of each of its sentences."""
    running: list[tuple[int, int]] = []
    cut: list[tuple[int, int]] = []
    words = 0
    for document, ends in zip(documents, sentences, strict=True):
        running.append((words, words + len(document.words)))
        bounds = [*dict.fromkeys([0, *ends, len(document.words)])]
        cut.extend((words + begin, words + end) for begin, end in pairwise(bounds))
        words += len(document.words)
    return PackedTest(pack(documents, tokenizer), np.array(running), np.array(cut))


def iwslt_test(corpora: Path, name: str, tokenizer: WordPiece) -> PackedTest:
    """Pack ``test2011`` (REF) or ``test2011asr`` (ASR); a sentence ends at a gold period or question mark."""
    return _marked([read_iwslt(corpora, name)], tokenizer)


def talks_test(corpora: Path, *, tunes: bool, max_words: int, tokenizer: WordPiece) -> PackedTest:
    """Pack whole talks of a half of ``dev2012`` until there are ``max_words``."""
    talks = dev_half(corpora, tunes=tunes)
    before = accumulate((len(talk.words) for talk in talks), initial=0)
    return _marked([talk for talk, words in zip(talks, before, strict=False) if words < max_words], tokenizer)


def _marked(texts: Sequence[BenchmarkText], tokenizer: WordPiece) -> PackedTest:
    documents: list[AlignedDocument] = []
    for number, text in enumerate(texts):
        document = AlignedDocument("iwslt", str(number))
        for word, last in zip(text.words, text.last_tokens, strict=True):
            document.add(model_view(word), text.marks[last], UNKNOWN)
        documents.append(document)
    ends = ([k + 1 for k, mark in enumerate(document.punctuation) if mark in _ENDS] for document in documents)
    return packed_test(documents, ends, tokenizer)


def switchboard_test(corpora: Path, tokenizer: WordPiece) -> PackedTest:
    """Pack Switchboard's test part with the transcript's marks: a side is running text, a slash unit a sentence."""
    sides = list(read_swda_test(corpora))
    return packed_test(
        [_side(side, number) for number, side in enumerate(sides)], (side.unit_ends for side in sides), tokenizer
    )


def _side(side: SpeakerSide, number: int) -> AlignedDocument:
    document = AlignedDocument("swda", str(number))
    for word, mark, role, covered in zip(side.words, side.marks, side.roles, side.covered, strict=True):
        tag = Disfluency.B_RM if covered else Disfluency.O
        document.add(word, mark, int(Disfluency.B_IM if role in _INTERREGNA else tag))
    return document
