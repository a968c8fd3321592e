"""What each language's model is trained on: its corpora, how many words of each, how they are read and held out.

A document is held out by its name alone (one in forty of each corpus; two of rev16's; Disfl-QA's and CS2W's own test
parts), so the split is the same in every run.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from models.data.aligned import UNKNOWN, AlignedDocument
from models.data.benchmark_corpora import BENCHMARK_MIX, read_benchmark_corpus
from models.data.calls import call_documents
from models.data.chinese_corpora import (
    CHINESE_CORPORA,
    CHINESE_SPEECH,
    CHINESE_TEST,
    read_chinese_corpus,
    read_cs2w,
    read_everything,
)
from models.data.chinese_marks import add_turn, cut_again
from models.data.corpora import place
from models.data.dev_talks import dev_half
from models.data.disfluencies import insert_disfluencies
from models.data.disfluent_pairs import read_disfl_qa, read_rev16
from models.data.english_corpora import ENGLISH_CORPORA, read_corpus
from models.data.iwslt import read_iwslt
from models.data.spoken_patterns import pattern_documents
from worker.core.normalisation import model_view

__all__ = ["DEV_TALKS", "RECIPES", "Recipe", "is_held_out"]

DEV_TALKS = "dev2012"
"""The benchmark's development talks under the name of a corpus: they choose, and nothing learns from them."""

_DISFLUENT_SHARE = 0.45
_OF_OUR_OWN: dict[str, Callable[[], Iterator[AlignedDocument]]] = {
    "patterns": pattern_documents,
    "calls": call_documents,
}
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
    the test sets, which no training text may share.
    """

    mix: Mapping[str, int]
    documents: DocumentReader
    fluent: frozenset[str]
    disfluent: Callable[[AlignedDocument, random.Random], AlignedDocument]
    tests: Callable[[Path], Iterator[Sequence[str]]]


def is_held_out(corpus: str, document_name: str) -> bool:
    """Tell whether a document is kept from training."""
    if corpus == "rev16":
        return document_name.endswith(_REV16_HELD_OUT)
    whole = document_name.partition("#")[0]  # the parts of one meeting bear a number each: they stay together
    return place(whole) % _ONE_IN.get(corpus, 40) == 0


def _english(corpora: Path, corpus: str, *, training: bool) -> Iterator[AlignedDocument]:
    def keep(document_name: str) -> bool:
        return is_held_out(corpus, document_name) != training

    if corpus == "rev16":
        return read_rev16(corpora, keep)
    if corpus == "disfl_qa":
        return read_disfl_qa(corpora, "train" if training else "test")
    if corpus in _OF_OUR_OWN:
        return (document for document in _OF_OUR_OWN[corpus]() if keep(document.name))
    if corpus == DEV_TALKS:
        return iter(()) if training else _dev_talks(corpora)
    if corpus in BENCHMARK_MIX:
        return read_benchmark_corpus(corpora, corpus, keep)
    return read_corpus(corpora, corpus, keep)


def _dev_talks(corpora: Path) -> Iterator[AlignedDocument]:
    """Yield the talks of dev2012's tuning half, word by word: a joined word has the mark of its last token."""
    for number, talk in enumerate(dev_half(corpora, tunes=True)):
        document = AlignedDocument(DEV_TALKS, f"{DEV_TALKS}-{number}")
        for word, token in zip(talk.words, talk.last_tokens, strict=True):
            document.add(model_view(word), talk.marks[token], UNKNOWN)
        yield document


def _english_disfluent(document: AlignedDocument, rng: random.Random) -> AlignedDocument:
    return insert_disfluencies(document, rng, share=_DISFLUENT_SHARE)


def _english_tests(corpora: Path) -> Iterator[Sequence[str]]:
    for name in ("test2011", "test2011asr", "dev2012"):
        yield [model_view(word) for word in read_iwslt(corpora, name).words]


def _chinese(corpora: Path, corpus: str, *, training: bool) -> Iterator[AlignedDocument]:
    if corpus == "cs2w":
        return _cs2w(corpora, training=training)
    return read_chinese_corpus(corpora, corpus, lambda name: is_held_out(corpus, name) != training)


def _cs2w(corpora: Path, *, training: bool) -> Iterator[AlignedDocument]:
    """Yield a document a sentence; in training again and again, for there is little that real people labelled."""
    for time in range(_CS2W_TIMES if training else 1):
        for name, units in read_cs2w(corpora, "train" if training else "test"):
            document = AlignedDocument("cs2w", f"{name}-{time}")
            add_turn(document, units)
            yield document


def _chinese_disfluent(document: AlignedDocument, rng: random.Random) -> AlignedDocument:
    return cut_again(insert_disfluencies(document, rng, share=_DISFLUENT_SHARE, habits=CHINESE_SPEECH))


def _chinese_tests(corpora: Path) -> Iterator[Sequence[str]]:
    for document in read_everything(corpora, CHINESE_TEST):
        yield document.words
    yield from (document.words for document in _cs2w(corpora, training=False))


_CS2W_TIMES = 5
_ENGLISH_MIX = {
    "changelog": 8_000_000,
    "crd3": 2_500_000,
    "cabnc": 1_900_000,
    "earnings21": 350_000,
    "earnings22": 1_100_000,
    "ami": 950_000,
    "bitcointranscripts": 3_000_000,
    "eltec_novels_fifth": 400_000,
    "rev16": 200_000,
    "disfl_qa": 150_000,
    "patterns": 280_000,
    "calls": 400_000,
    "us_congress_hearings": 5_000_000,
    "whitehouse_briefings": 5_000_000,
    "audreyt_english": 3_600_000,
    "inquiry_covid": 2_500_000,
    "inquiry_pohi": 2_500_000,
    "inquiry_lampard": 600_000,
    "president_news_conferences": 2_500_000,
    "president_speeches_miller": 1_900_000,
    "europarl_debates": 1_200_000,
    "un_general_debate": 500_000,
    "gutenberg_lectures": 800_000,
    "uk_commons_hansard": 600_000,
}
_CHINESE_MIX = {
    "audreyt_train": 12_000_000,
    "ly_gazette_8": 10_000_000,
    "tw1999_conference": 300_000,
    "crosswoz": 400_000,
    "kdconv": 400_000,
    "smilechat": 1_500_000,
    "tatoeba": 250_000,
    "lctt": 1_500_000,
    "cmrc2018": 250_000,
    "vcsum": 300_000,
    "cs2w": 400_000,
}
RECIPES = {
    "en": Recipe(
        mix=_ENGLISH_MIX,
        documents=_english,
        fluent=frozenset(name for name, rules in ENGLISH_CORPORA.items() if not rules.verbatim),
        disfluent=_english_disfluent,
        tests=_english_tests,
    ),
    "zh": Recipe(
        mix=_CHINESE_MIX,
        documents=_chinese,
        fluent=frozenset(name for name, rules in CHINESE_CORPORA.items() if not rules.verbatim),
        disfluent=_chinese_disfluent,
        tests=_chinese_tests,
    ),
}
"""By language. The mixes lean towards speech; two CPU cores read a part of them (``prepare --scale``)."""
