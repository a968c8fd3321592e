"""What a language's model is trained on: how its corpora are read, how many words of each, and what is held out.

A document is held out by its name alone (one in forty of each corpus; two of rev16's; Disfl-QA's and CS2W's own test
parts), so the split is the same in every run.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.data.corpora import place
from caesura.models.data.recogniser_errors import MisheardWords
from caesura.worker.errors import FatalError

DISFLUENT_SHARE = 0.45
"""Of the sentences of a fluent corpus, those that disfluencies are inserted into."""

_ONE_IN = {"uk_commons_hansard": 4}  # of eleven days
_REV16_HELD_OUT = ("17.nlp", "21.nlp")


class DocumentReader(Protocol):
    """Yields the training documents of a corpus, or its held-out ones."""

    def __call__(self, corpora: Path, corpus: str, *, training: bool) -> Iterator[AlignedDocument]:
        """Read from the folder of the corpora."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one language's text is made.

    mix: how many words of each corpus are trained on at most. documents: the training documents, or the held-out ones,
    of a corpus. fluent: the corpora that disfluencies are inserted into. disfluent: inserts them. tests: the words of
    the test sets, which no training text may share. chooses: corpora beside the mix that are held out whole: weights
    and constants are chosen by them, and nothing learns from them. misheard: what sounds alike, by the corpora's folder
    and the network's vocabulary; None where no rule tells.
    """

    mix: Mapping[str, int]
    documents: DocumentReader
    fluent: frozenset[str]
    disfluent: Callable[[AlignedDocument, random.Random], AlignedDocument]
    tests: Callable[[Path], Iterator[Sequence[str]]]
    chooses: tuple[str, ...] = ()
    misheard: Callable[[Path, Sequence[str]], MisheardWords] | None = None

    def sounds_alike(self, corpora: Path, vocabulary: Sequence[str]) -> MisheardWords:
        """Return what sounds alike, as ``misheard`` tells. FatalError where no rule tells."""
        if self.misheard is None:
            raise FatalError("there are no rules of what sounds alike in this language")
        return self.misheard(corpora, vocabulary)


def is_held_out(corpus: str, document_name: str) -> bool:
    """Tell whether a document is kept from training."""
    if corpus == "rev16":
        return document_name.endswith(_REV16_HELD_OUT)
    whole = document_name.partition("#")[0]  # the parts of one meeting bear a number each: they stay together
    return place(whole) % _ONE_IN.get(corpus, 40) == 0
