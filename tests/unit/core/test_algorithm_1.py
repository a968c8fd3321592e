"""The paper's fast decoding, written down literally, against the session (CT-Transformer, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.events import SessionOptions
from caesura.schemas.labels import Punctuation
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import Bounds, DecodingRules, OptionBounds
from tests.harness.partition_driver import Driver, event

END_OF_SENTENCE = (Punctuation.PERIOD, Punctuation.QUESTION)
LONG = OptionBounds(max_buffer_words=Bounds(least=12, most=1_000))


def _infer(engine: ScriptedEngine, buffer: list[str]) -> list[Punctuation]:
    request = LabelRequest(session="s", model_id="scripted-en@1", buffer_start=0, words=tuple(buffer))
    (labels,) = engine.label([request])
    return [Punctuation(mark) for mark in labels.punctuation]


def _first(marks: list[Punctuation]) -> int | None:
    return next((place for place, mark in enumerate(marks) if mark in END_OF_SENTENCE), None)


def algorithm_1(
    engine: ScriptedEngine, stream: list[str], frame_words: int, look_ahead: int, *, cuts_a_step: int
) -> list[list[tuple[str, Punctuation]]]:
    """Return the sentences that Algorithm 1 removes from its buffer, with their marks; what is left over is not.

    cuts_a_step: the paper makes one; the session goes on until none is left.
    """
    sentences = []
    buffer: list[str] = []
    stream = list(stream)
    while len(stream) >= frame_words:
        popped, stream = stream[:frame_words], stream[frame_words:]
        buffer += popped
        marks = _infer(engine, buffer)
        for _ in range(cuts_a_step):
            first = _first(marks)
            if first is not None and len(buffer) - (first + 1) >= look_ahead:
                sentences.append(list(zip(buffer[: first + 1], marks[: first + 1], strict=True)))
                del buffer[: first + 1], marks[: first + 1]
    return sentences


def _session(engine: ScriptedEngine, stream: list[str], rules: DecodingRules) -> list[list[tuple[str, Punctuation]]]:
    driver = Driver(rules=rules, engine=engine)
    driver.give(event(0, " ".join(stream), options=SessionOptions(max_buffer_words=1_000)))
    return [
        [(word.text, Punctuation[word.punctuation.upper()]) for word in segment.words] for segment in driver.segments
    ]


streams = st.lists(st.sampled_from([f"w{number}" for number in range(20)]), min_size=1, max_size=150)


@given(stream=streams, frame_words=st.integers(1, 6), look_ahead=st.integers(0, 9), sees=st.integers(0, 10))
def test_sentences_are_those_of_algorithm_1_with_cuts_until_none_is_left(
    stream: list[str], frame_words: int, look_ahead: int, sees: int
) -> None:
    engine = ScriptedEngine(look_ahead_words=sees)
    rules = DecodingRules(
        step_words=frame_words, look_ahead_words=look_ahead, max_context_words=0, context_words=0, bounds=LONG
    )

    assert _session(engine, stream, rules) == algorithm_1(engine, stream, frame_words, look_ahead, cuts_a_step=200)


@given(stream=streams, look_ahead=st.integers(0, 9), sees=st.integers(0, 10))
def test_a_single_cut_equals_the_papers_with_one_sentence_a_step(stream: list[str], look_ahead: int, sees: int) -> None:
    def never_two(model: str, words: Sequence[str], position: int, look_ahead_words: int) -> tuple[int, int]:
        assert (model, look_ahead_words) == ("scripted-en@1", sees)
        return (Punctuation.PERIOD if words[position] == "w7" and position % 3 == 2 else Punctuation.NONE), 0

    engine = ScriptedEngine(look_ahead_words=sees, script=never_two)
    rules = DecodingRules(step_words=3, look_ahead_words=look_ahead, max_context_words=0, context_words=0, bounds=LONG)

    assert _session(engine, stream, rules) == algorithm_1(engine, stream, 3, look_ahead, cuts_a_step=1)
