"""Decoding as a library: words in, frozen segments out."""

from __future__ import annotations

import inspect
import random
import textwrap

import pytest

from caesura.schemas.events import SessionOptions, Word
from caesura.schemas.segments import Cause, Segment
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.session import stream
from caesura.worker.core.session.stream import StreamingLabeller
from tests.harness.partition_driver import MARKED
from tests.harness.speech import said


def test_the_documented_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    paragraphs = (inspect.getdoc(stream) or "").split("\n\n")
    example = textwrap.dedent("\n".join(one for one in paragraphs if one.startswith("    ")))
    spoken = ["so", "uh", "this", "is", "the", "first-stop", "and", "here", "comes", "a", "second", "one"]

    exec(compile(example, "example", "exec"), {"engine": MARKED, "microphone_words": lambda: spoken})  # noqa: S102

    assert capsys.readouterr().out == "so uh this is the first-stop\nand here comes a second one\n"
    assert len(example.strip().splitlines()) <= 10


def test_words_may_come_with_their_times_and_in_any_number() -> None:
    words = [Word(text=f"n{number}", start_ms=number, confidence=0.5) for number in range(30)]
    at_once, one_by_one = StreamingLabeller(ScriptedEngine(), "en"), StreamingLabeller(ScriptedEngine(), "en")

    whole = [*at_once.add(words), *at_once.end()]
    single = [segment for word in words for segment in one_by_one.add([word])] + one_by_one.end()

    assert [one.words for one in whole] == [one.words for one in single]
    assert [(word.text, word.start_ms, word.confidence) for one in whole for word in one.words] == [
        (word.text, word.start_ms, word.confidence) for word in words
    ]


def test_a_pause_freezes_what_is_there_and_the_stream_goes_on() -> None:
    labeller = StreamingLabeller(MARKED, "en", options=SessionOptions(punctuation=False))
    labeller.add(["one", "two"])

    assert [(one.cause, said([one])) for one in labeller.pause()] == [(Cause.UTTERANCE, ["one", "two"])]
    assert labeller.add(["three"]) == []
    assert [(one.cause, said([one])) for one in labeller.end()] == [(Cause.END, ["three"])]


def test_nothing_can_be_added_after_the_end() -> None:
    labeller = StreamingLabeller(MARKED, "en")
    labeller.end()

    with pytest.raises(ValueError, match="ended"):
        labeller.add(["one"])


@pytest.mark.parametrize("seed", range(12))
def test_looking_ahead_changes_no_frozen_label(seed: int) -> None:
    rules = DecodingRules(max_context_words=0, context_words=2, look_ahead_words=12, max_buffer_words=60)

    def heard(*, looks_ahead: bool) -> list[Segment]:
        drawn, found = random.Random(seed), []
        labeller = StreamingLabeller(ScriptedEngine(), "en", rules, looks_ahead=looks_ahead)
        for _ in range(12):
            found += labeller.add([f"w{drawn.randrange(50)}" for _ in range(drawn.randrange(1, 9))])
            found += labeller.pause() if drawn.random() < 0.5 else []
        return found + labeller.end()

    assert heard(looks_ahead=True) == heard(looks_ahead=False)
