"""Chinese."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.data.chinese_corpora import (
    CHINESE_CORPORA,
    CHINESE_SPEECH,
    CHINESE_TEST,
    read_chinese_corpus,
    read_cs2w,
    read_everything,
)
from caesura.models.data.chinese_frames import CHINESE_FRAMES
from caesura.models.data.chinese_marks import add_turn, cut_again, read_chinese_marks
from caesura.models.data.chinese_substitutions import chinese_kinds, with_other_words
from caesura.models.data.disfluencies import insert_disfluencies
from caesura.models.data.recipes import DISFLUENT_SHARE, Recipe, is_held_out
from caesura.models.data.spoken_patterns import add_chinese, pattern_documents
from caesura.models.evaluation.chinese import (
    CHINESE_HELD_OUT,
    CHINESE_TESTS,
    CS2W_PARTS,
    by_character,
    evaluate_chinese,
)
from caesura.models.evaluation.figures import MARK_CLASSES, GoldSession
from caesura.models.languages.language import Language, LanguageModel, OwnText
from caesura.schemas.labels import Punctuation

_CS2W_TIMES = 12
_CS2W_AS_SAID = 2
_OTHER_WORDS = 0.2, 0.9
"""Between which shares of a sentence's words are others in a copy that is not as it was said."""
_MIX = {
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
    "cs2w": 1_000_000,
    "patterns": 200_000,
}
"""It leans towards speech; two CPU cores read a part of it (``prepare --scale``)."""


def _documents(corpora: Path, corpus: str, *, training: bool) -> Iterator[AlignedDocument]:
    if corpus in _OWN_SOURCES:
        return _OWN_SOURCES[corpus](corpora, training=training)
    return read_chinese_corpus(corpora, corpus, lambda name: is_held_out(corpus, name) != training)


def _patterns(corpora: Path, *, training: bool) -> Iterator[AlignedDocument]:  # noqa: ARG001 - it is of no corpus
    for document in pattern_documents(CHINESE_FRAMES, add_chinese):
        if is_held_out("patterns", document.name) != training:
            yield document


def _cs2w(corpora: Path, *, training: bool) -> Iterator[AlignedDocument]:
    """Yield a document a sentence; in training again and again, for there is little that real people labelled.

    A few times as it was said, and with other words after that: the labelled sentences are few enough to be learnt by
    heart.
    """
    sentences = list(read_cs2w(corpora, "train" if training else "test"))
    for time in range(_CS2W_TIMES if training else 1):
        for name, units in sentences:
            document = AlignedDocument("cs2w", f"{name}-{time}")
            add_turn(document, units)
            if time >= _CS2W_AS_SAID:
                rng = random.Random(document.name)
                document = with_other_words(document, rng, share=rng.uniform(*_OTHER_WORDS), kinds=chinese_kinds())
            yield document


_OWN_SOURCES = {"cs2w": _cs2w, "patterns": _patterns}
"""What is read in a way of its own: of the corpora, for training or else held out."""


def _disfluent(document: AlignedDocument, rng: random.Random) -> AlignedDocument:
    return cut_again(insert_disfluencies(document, rng, share=DISFLUENT_SHARE, habits=CHINESE_SPEECH))


def _tests(corpora: Path) -> Iterator[Sequence[str]]:
    for document in read_everything(corpora, CHINESE_TEST):
        yield document.words
    yield from (document.words for document in _cs2w(corpora, training=False))


def _own_document(name: str, paragraphs: Sequence[str], *, fluent: bool) -> AlignedDocument:  # noqa: ARG001 - tags are O
    document = AlignedDocument("own", name)
    for paragraph in paragraphs:
        add_turn(document, read_chinese_marks(paragraph))
    return document


def _session(paragraphs: Sequence[str]) -> GoldSession:
    """Come in single characters, so that a figure does not depend on how words are cut."""
    return by_character(unit for paragraph in paragraphs for unit in read_chinese_marks(paragraph))


CHINESE = Language(
    code="zh",
    model=LanguageModel(
        id="zh-ct-6x768",
        width=768,
        heads=12,
        inner_width=3072,
        look_ahead=(2, 2, 2, 2, 1, 0),
        positions="learned",
        punctuation_classes=5,
        dictionary=True,
    ),
    recipe=Recipe(
        mix=_MIX,
        documents=_documents,
        fluent=frozenset(name for name, rules in CHINESE_CORPORA.items() if not rules.verbatim),
        disfluent=_disfluent,
        tests=_tests,
    ),
    own_text=OwnText(
        joiner="",
        han_share=(0.3, 1.0),
        unit="characters",
        marks=lambda paragraph: [unit.mark for unit in read_chinese_marks(paragraph)],
        document=_own_document,
        session=_session,
    ),
    marks=(Punctuation.COMMA, Punctuation.PERIOD, Punctuation.QUESTION, Punctuation.ENUMERATION_COMMA),
    mark_classes=MARK_CLASSES | {"enumeration comma": frozenset((int(Punctuation.ENUMERATION_COMMA),))},
    parity_corpora=("audreyt_train", "kdconv", "cs2w"),
    scored={
        "benchmark": dict.fromkeys(CHINESE_TESTS, evaluate_chinese),
        "open_text": dict.fromkeys(CHINESE_HELD_OUT, evaluate_chinese),
    },
    scored_by_name=dict.fromkeys(CS2W_PARTS, evaluate_chinese),
)
