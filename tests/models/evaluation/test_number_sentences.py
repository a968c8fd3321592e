"""Sums, dates and numbers read out: the shipped models leave no word of them out and cut none in two."""

from __future__ import annotations

import pytest

from caesura.models.decoding.labelling_runs import published_words
from caesura.models.evaluation.harm import SaidSession
from caesura.models.evaluation.number_sentences import number_faults, number_sessions
from caesura.schemas.labels import Disfluency
from caesura.schemas.segments import SegmentWord
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.numbers.european_numbers import EUROPEAN, european_numbers
from caesura.worker.core.numbers.number_span import NumberKind
from tests.harness.shipped_models import one_model

MODELS = [
    ("en", "en-ct-12x384"),
    ("en", "en-ct-3x384"),
    ("zh", "zh-ct-6x768"),
    ("zh", "zh-ct-4x512"),
    *((language, "eu-ct-12x384") for language in sorted(EUROPEAN)),
]


@pytest.mark.parametrize(("language", "model"), MODELS)
def test_every_number_goes_out_whole(language: str, model: str) -> None:
    engine = OnnxEngine(one_model(model), active=(model,), threads=1)
    said = list(number_sessions(language, each=3, seed=5))
    published = published_words(engine, [one.words for one in said], language=language)
    found = number_faults(said, published)
    assert found.sentences >= 50
    assert not found.lost
    assert not found.cut or language in EUROPEAN


def test_a_word_left_out_and_a_stop_inside_are_found() -> None:
    words = ("two", "hundred", "and", "six")
    said = [SaidSession(language="en", words=words, tags=(int(Disfluency.O),) * 4, finished=True)] * 3
    published = [
        [
            SegmentWord(text=text, punctuation=mark, disfluency=tag)  # type: ignore[arg-type]
            for text, mark, tag in zip(words, marks, tags, strict=True)
        ]
        for marks, tags in (
            (("none", "none", "none", "period"), ("O",) * 4),
            (("none", "period", "none", "none"), ("O",) * 4),
            (("comma", "none", "none", "none"), ("O", "B-RM", "O", "O")),
        )
    ]
    found = number_faults(said, published)
    assert (found.sentences, len(found.lost), len(found.cut)) == (3, 1, 1)


@pytest.mark.parametrize("language", sorted(EUROPEAN))
def test_every_european_sentence_holds_a_number_that_is_read_as_one(language: str) -> None:
    for said in number_sessions(language, each=5, seed=5):
        spans = european_numbers(said.words, language)
        assert spans, said.words
        assert not any(span.kind is NumberKind.DIGITS and len(span.value) < 3 for span in spans), said.words
