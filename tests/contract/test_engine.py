"""What every engine promises, whether a script or the shipped network answers."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

import pytest
from msgspec.structs import replace

from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.adapters.onnx.child_engine import ChildEngine
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.labelling import LabelRequest, ScoreOffsets
from caesura.worker.core.language.rules import ModelTable
from caesura.worker.errors import FatalError
from caesura.worker.ports.engine import Engine
from tests.harness.shipped_models import ENGLISH, one_model

_WORDS = "so i went there on monday i mean tuesday and uh nobody was in what do you think we should do".split()  # noqa: SIM905


@pytest.fixture(scope="module", params=["scripted", "shipped", "whole buffers", "child"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made: Engine = ScriptedEngine(languages=("en",))
    if request.param == "child":
        made = ChildEngine(one_model(ENGLISH), max_kept_bytes=2**29, deadline_s=30.0)
    elif request.param != "scripted":
        made = OnnxEngine(one_model(ENGLISH), threads=1, streams=request.param == "shipped")
    yield made
    if isinstance(made, ChildEngine):
        made.close()


def a_request(engine: Engine, words: Sequence[str], *, session: str = "one", start: int = 0) -> LabelRequest:
    return LabelRequest(session=session, model_id=engine.models[0].name, buffer_start=start, words=tuple(words))


def buffers(count: int) -> list[list[str]]:
    rng = random.Random(7)
    return [[rng.choice(_WORDS) for _ in range(rng.randint(1, 60))] for _ in range(count)]


def test_each_request_has_its_answer_in_order_with_one_label_pair_a_word(engine: Engine) -> None:
    requests = [a_request(engine, words) for words in buffers(20)]
    answers = engine.label(requests)
    sizes = [len(one.words) for one in requests]
    assert [len(one.punctuation) for one in answers] == sizes
    assert [len(one.disfluency) for one in answers] == sizes
    assert engine.label(requests[::-1]) == answers[::-1]


def test_an_answer_depends_on_words_and_model_alone(engine: Engine) -> None:
    requests = [a_request(engine, words) for words in buffers(24)]
    together = engine.label(requests)
    alone = [engine.label([a_request(engine, one.words, session="other", start=30)])[0] for one in requests]
    assert alone == together


def test_a_label_with_look_ahead_words_after_it_stays_whatever_follows(engine: Engine) -> None:
    look_ahead = engine.models[0].look_ahead_words
    for words in buffers(8):
        settled = max(0, len(words) - look_ahead)
        (before,) = engine.label([a_request(engine, words)])
        (after,) = engine.label([a_request(engine, [*words, *_WORDS])])
        assert after.punctuation[:settled] == before.punctuation[:settled]
        assert after.disfluency[:settled] == before.disfluency[:settled]


@pytest.mark.parametrize("words", ["hello", "so i went there on monday i mean", "what do you think we", "and uh"])
def test_an_infinite_offset_ends_the_last_sentence_and_changes_no_other_label(engine: Engine, words: str) -> None:
    asked = a_request(engine, words.split())
    (own,) = engine.label([asked])
    (ended,) = engine.label([replace(asked, offsets=ScoreOffsets(sentence_end=math.inf))])

    assert Punctuation(ended.punctuation[-1]).ends_sentence
    assert Punctuation(own.punctuation[-1]).ends_sentence <= (own.punctuation[-1] == ended.punctuation[-1])
    assert ended.punctuation[:-1] == own.punctuation[:-1]
    assert (ended.disfluency, ended.casing) == (own.disfluency, own.casing)


@pytest.mark.parametrize("wanted", [(0, None), (0, 3), (2, 4)])
def test_an_offset_for_sentence_ends_counts_for_a_buffers_last_word_alone(
    engine: Engine, wanted: tuple[int, int | None]
) -> None:
    first, end = wanted
    asked = replace(a_request(engine, ["so", "it", "ended", "well", "i", "mean"]), first=first, end=end)
    (own,) = engine.label([asked])
    (ended,) = engine.label([replace(asked, offsets=ScoreOffsets(sentence_end=math.inf))])

    assert (ended == own) is not asked.closes


def test_a_forgotten_session_is_labelled_as_before(engine: Engine) -> None:
    before = engine.label([a_request(engine, _WORDS)])
    engine.forget("one")
    engine.forget("a session that there never was")
    assert engine.label([a_request(engine, _WORDS)]) == before


def test_an_empty_batch_returns_no_labels(engine: Engine) -> None:
    assert engine.label([]) == []


def test_warming_up_twice_is_harmless_and_changes_no_answer(engine: Engine) -> None:
    before = engine.label([a_request(engine, _WORDS)])
    engine.warm_up()
    engine.warm_up()
    assert engine.label([a_request(engine, _WORDS)]) == before


def test_offsets_move_how_readily_words_are_left_out() -> None:
    engine = OnnxEngine(one_model(ENGLISH), threads=1)
    asked = a_request(engine, ["we", "uh", "went", "to", "the", "to", "the", "lake", "i", "mean", "the", "sea"])

    def kinds(**offsets: float) -> set[str]:
        (labels,) = engine.label([replace(asked, offsets=ScoreOffsets(**offsets))])
        return {Disfluency(tag).kind for tag in labels.disfluency}

    assert kinds() == {"", "RM", "IM"}
    assert kinds(reparandum=-20) == {"", "IM"}
    assert kinds(filler=-20) == {"", "RM"}
    assert kinds(reparandum=40) == {"RM"}


def test_an_engines_models_form_a_model_table(engine: Engine) -> None:
    table = ModelTable.of(engine.models)
    assert table.active["en"].name == engine.models[0].name
    assert table.look_ahead_of(engine.models[0].name) == (9 if isinstance(engine, ScriptedEngine) else 6)


def test_a_model_that_is_not_loaded_is_fatal_and_no_word_is_named(engine: Engine) -> None:
    asked = LabelRequest(session="one", model_id="other@9", buffer_start=0, words=("zwieselhausen",))
    with pytest.raises(FatalError, match="no model other@9 is loaded") as caught:
        engine.label([asked])
    assert "zwieselhausen" not in str(caught.value)
