"""English."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.data.benchmark_corpora import BENCHMARK_MIX, read_benchmark_corpus
from caesura.models.data.calls import call_documents, kind_documents
from caesura.models.data.dev_talks import dev_half
from caesura.models.data.disfluencies import insert_disfluencies
from caesura.models.data.disfluent_pairs import read_disfl_qa, read_rev16
from caesura.models.data.english_corpora import ENGLISH_CORPORA, ENGLISH_TEXT
from caesura.models.data.iwslt import read_iwslt
from caesura.models.data.marks import read_marks
from caesura.models.data.recipes import DISFLUENT_SHARE, Recipe, is_held_out
from caesura.models.data.recogniser_errors import MisheardWords
from caesura.models.data.spoken_frames import ENGLISH_FRAMES
from caesura.models.data.spoken_patterns import add_spaced, pattern_documents
from caesura.models.evaluation.english import (
    BENCHMARKS,
    DEV_HALVES,
    HELD_OUT,
    evaluate_benchmark,
    evaluate_held_out,
)
from caesura.models.evaluation.figures import MARK_CLASSES
from caesura.models.evaluation.switchboard import SWDA_TESTS, evaluate_swda
from caesura.models.languages.language import Language, LanguageModel, OwnText
from caesura.models.languages.own_sentences import own_document, own_session
from caesura.schemas.labels import Punctuation
from caesura.worker.core.language.normalisation import model_view

_OF_OUR_OWN: dict[str, Callable[[], Iterator[AlignedDocument]]] = {
    "patterns": partial(pattern_documents, ENGLISH_FRAMES, add_spaced),
    "calls": call_documents,
    "kinds": kind_documents,
}
_DEV_TALKS = "dev2012"
"""The benchmark's development talks under the name of a corpus."""

_MIX = {
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
    "kinds": 400_000,
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
"""It leans towards speech; two CPU cores read a part of it (``prepare --scale``)."""


def _documents(corpora: Path, corpus: str, *, training: bool) -> Iterator[AlignedDocument]:
    def keep(document_name: str) -> bool:
        return is_held_out(corpus, document_name) != training

    if corpus == "rev16":
        return read_rev16(corpora, keep)
    if corpus == "disfl_qa":
        return read_disfl_qa(corpora, "train" if training else "test")
    if corpus in _OF_OUR_OWN:
        return (document for document in _OF_OUR_OWN[corpus]() if keep(document.name))
    if corpus == _DEV_TALKS:
        return iter(()) if training else _dev_talks(corpora)
    if corpus in BENCHMARK_MIX:
        return read_benchmark_corpus(corpora, corpus, keep)
    return ENGLISH_TEXT.read(corpora, corpus, keep)


def _dev_talks(corpora: Path) -> Iterator[AlignedDocument]:
    """Yield the talks of dev2012's tuning half, word by word: a joined word has the mark of its last token."""
    for number, talk in enumerate(dev_half(corpora, tunes=True)):
        document = AlignedDocument(_DEV_TALKS, f"{_DEV_TALKS}-{number}")
        for word, token in zip(talk.words, talk.last_tokens, strict=True):
            document.add(model_view(word), talk.marks[token], UNKNOWN)
        yield document


def _disfluent(document: AlignedDocument, rng: random.Random) -> AlignedDocument:
    return insert_disfluencies(document, rng, share=DISFLUENT_SHARE)


def _tests(corpora: Path) -> Iterator[Sequence[str]]:
    for name in ("test2011", "test2011asr", "dev2012"):
        yield [model_view(word) for word in read_iwslt(corpora, name).words]


_RECIPE = Recipe(
    mix=_MIX,
    documents=_documents,
    fluent=frozenset(name for name, rules in ENGLISH_CORPORA.items() if not rules.verbatim),
    disfluent=_disfluent,
    tests=_tests,
    chooses=(_DEV_TALKS,),
    misheard=lambda _, vocabulary: MisheardWords(vocabulary),
)
ENGLISH = Language(
    code="en",
    model=LanguageModel(
        id="en-ct-12x384",
        width=384,
        heads=12,
        inner_width=1536,
        look_ahead=(1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0),
        positions="learned",
        punctuation_classes=4,
    ),
    recipe=_RECIPE,
    own_text=OwnText(
        joiner=" ",
        han_share=(0.0, 0.2),
        unit="words",
        marks=lambda paragraph: [word.mark for word in read_marks(paragraph)],
        document=partial(own_document, ENGLISH_TEXT),
        session=partial(own_session, ENGLISH_TEXT),
    ),
    marks=(Punctuation.COMMA, Punctuation.PERIOD, Punctuation.QUESTION),
    mark_classes=MARK_CLASSES,
    parity_corpora=("changelog", "earnings22", "ami"),
    scored={
        "benchmark": dict.fromkeys(BENCHMARKS, evaluate_benchmark),
        "switchboard": dict.fromkeys(SWDA_TESTS, evaluate_swda),
        "open_text": dict.fromkeys(HELD_OUT, evaluate_held_out),
    },
    scored_by_name=dict.fromkeys(DEV_HALVES, evaluate_benchmark),
)
